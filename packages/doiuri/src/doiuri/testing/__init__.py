"""For your own tests: a Resolver with given records, in process and without sockets (``doiuri[testing]``)."""

from doiuri.testing._resolver import resolver_for

__all__ = ["resolver_for"]
