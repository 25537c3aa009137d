"""For your own tests: a Resolver fed with records, in process and without a socket (``doiuri[testing]``)."""

from doiuri.testing._resolver import resolver_for

__all__ = ["resolver_for"]
