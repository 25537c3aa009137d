"""Teach a session ``doi:`` URIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from requests import Session
from requests.exceptions import InvalidURL
from requests.sessions import merge_setting

from requests_doiuri._adapter import DOIAdapter
from requests_doiuri._caches import distinguish_dois
from requests_doiuri._cookies import rebind_cookies
from requests_doiuri._targets import TargetHook
from requests_doiuri._url import DOIURL

if TYPE_CHECKING:
    from doiuri.plugins import Follow
    from requests import PreparedRequest, Request, Response

AnySession = TypeVar("AnySession", bound=Session)

_doi_session_classes: dict[type[Session], type[Session]] = {}


def mount(
    session: AnySession,
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow = "record",
    private: bool | None = None,
) -> AnySession:
    """Make ``session`` get ``doi:`` URIs, and return it. A second call replaces the options.

    Beyond ``session.mount("doi:", DOIAdapter())`` this passes ``params=`` on to the resolver, which requests
    drops for such URIs, and keeps the cache of a requests-cache session from taking one DOI for another.

    >>> import requests
    >>> session = mount(requests.Session(), resolver="https://doi.org")
    >>> response = session.get("doi:10.1000/182", params={"type": "URL"}, allow_redirects=False)
    >>> response.next.url
    'https://doi.org/api/handles/10.1000/182?type=URL'

    :param session: a ``requests.Session``, or one of a subclass, as those of requests-cache and CacheControl.
    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"``, or the ``"target"`` that it points to.
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """
    session.mount("doi:", DOIAdapter(resolver, offline, mailto, follow, private))
    if not isinstance(session, _DOISession):
        # A method set on the session itself would be lost: requests pickles and copies known attributes only.
        session.__class__ = _doi_session_class(type(session))  # type: ignore[assignment]
    distinguish_dois(session)
    return session


class _DOISession(Session):
    """Mixed into a session's class: checks ``doi:`` URIs, adds parameters, and keeps cookies."""

    unmounted: ClassVar[type[Session]]
    """The session's class before :func:`mount`."""

    def prepare_request(self, request: Request) -> PreparedRequest:
        prepared = super().prepare_request(request)
        url = prepared.url or ""
        if url[:4].lower() == "doi:":
            params = merge_setting(request.params, self.params)  # type: ignore[no-untyped-call]
            try:
                DOIURL.prepare(url, params).set_on(prepared)
            except ValueError as error:
                raise InvalidURL(str(error), request=request) from error
        return prepared

    def rebuild_auth(self, prepared_request: PreparedRequest, response: Response) -> None:
        super().rebuild_auth(prepared_request, response)  # type: ignore[no-untyped-call]
        hook = TargetHook.of(prepared_request)
        if hook is not None:
            rebind_cookies(prepared_request, hook.cookie_host)

    def __reduce__(self) -> tuple[object, ...]:
        # Its class has no importable name, so pickle and copy name the one before mount().
        return _new_session, (self.unmounted,), self.__getstate__()


def _doi_session_class(session_class: type[Session]) -> type[Session]:
    """Return the subclass of ``session_class`` for ``doi:`` URIs, under the same name."""
    if session_class not in _doi_session_classes:
        members = {"__module__": session_class.__module__, "unmounted": session_class}
        subclass = type(session_class.__name__, (_DOISession, session_class), members)
        _doi_session_classes[session_class] = subclass
    return _doi_session_classes[session_class]


def _new_session(session_class: type[Session]) -> Session:
    """Return a session without state, which pickle and copy then set."""
    session: Session = object.__new__(_doi_session_class(session_class))
    return session
