"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# A property is true or not, however busy the machine is
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
