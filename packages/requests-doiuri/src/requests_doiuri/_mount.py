"""mount: a session that knows ``doi:`` URIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from requests import Session
from requests.exceptions import InvalidURL
from requests.sessions import merge_setting

from requests_doiuri._adapter import DOIAdapter
from requests_doiuri._address import Address
from requests_doiuri._caches import distinguish

if TYPE_CHECKING:
    from requests import PreparedRequest, Request

    from requests_doiuri._adapter import Follow

AnySession = TypeVar("AnySession", bound=Session)
_kinds: dict[type[Session], type[Session]] = {}


def mount(
    session: AnySession,
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow = "record",
) -> AnySession:
    """Make ``session`` get ``doi:`` URIs, and return it. The settings are those of DOIAdapter, read now.

    Beyond ``session.mount("doi:", DOIAdapter())`` this hands ``params=`` on to the resolver, which requests
    drops for such URLs, and keeps a cache of requests-cache from taking one DOI for another.
    """
    session.mount("doi:", DOIAdapter(resolver, offline, mailto, follow))
    if not isinstance(session, _Mounted):
        # not an attribute of the session: requests forgets most of them when it pickles or copies one
        session.__class__ = _mounted(type(session))  # type: ignore[assignment]
    distinguish(session)
    return session


class _Mounted(Session):
    """A session that checks ``doi:`` URIs when it prepares a request, and keeps their parameters."""

    def prepare_request(self, request: Request) -> PreparedRequest:
        prepared = super().prepare_request(request)
        url = prepared.url or ""
        if url[:4].lower() == "doi:":
            params = merge_setting(request.params, self.params)  # type: ignore[no-untyped-call]
            try:
                prepared.url = Address.of(url, params)
            except ValueError as error:
                raise InvalidURL(str(error), request=request) from error
        return prepared

    def __reduce__(self) -> tuple[object, ...]:
        return _blank, (type(self).__bases__[1],), self.__getstate__()


def _mounted(kind: type[Session]) -> type[Session]:
    """Return the class that ``mount`` gives a session of the class ``kind``: the same name, and the above."""
    if kind not in _kinds:
        _kinds[kind] = type(kind.__name__, (_Mounted, kind), {"__module__": kind.__module__})
    return _kinds[kind]


def _blank(kind: type[Session]) -> Session:
    """Return a session as pickle and copy want it, before they fill it."""
    session: Session = object.__new__(_mounted(kind))
    return session
