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
    if not isinstance(session.prepare_request, _Prepare):
        session.prepare_request = _Prepare(session)  # type: ignore[method-assign]
    distinguish(session)
    return session


class _Prepare:
    """Prepares requests as the session does; for a ``doi:`` URI checks it and keeps the parameters."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.prepare = session.prepare_request

    def __call__(self, request: Request) -> PreparedRequest:
        prepared = self.prepare(request)
        url = prepared.url or ""
        if url[:4].lower() == "doi:":
            params = merge_setting(request.params, self.session.params)  # type: ignore[no-untyped-call]
            try:
                prepared.url = Address.of(url, params)
            except ValueError as error:
                raise InvalidURL(str(error), request=request) from error
        return prepared
