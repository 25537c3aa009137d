"""DOIHandler: how urllib opens a ``doi:`` URI."""

from __future__ import annotations

import io
from http.client import HTTPException
from typing import TYPE_CHECKING, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import BaseHandler, Request

import doiuri
from doiuri.plugins import Settings, user_agent, wants_record
from doiuri.rest import read_record, record_url

from urllib_doiuri._redirects import CREDENTIALS, Chain, chain_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message
    from http.client import HTTPResponse
    from typing import IO
    from urllib.request import OpenerDirector

    from doiuri import DOI, Handle, ResolutionError

Follow = Literal["record", "target"]

_MAX_ERROR = 65_536  # octets of an error's body that are read to learn what it means
_MAX_SHOWN = 1000  # characters of a server's words that an error repeats


class DOIHandler(BaseHandler):
    """Opens ``doi:`` URIs in a urllib opener: ``build_opener(DOIHandler())``.

    ``resolver`` is the base URL to ask (``https://doi.org``), ``offline`` forbids asking, ``mailto`` is the
    contact named to servers; left out, they come from ``DOIURI_RESOLVER``, ``DOIURI_OFFLINE`` and
    ``DOIURI_MAILTO`` at this moment. ``follow`` says what to open: the DOI's ``"record"``
    (draft-lemieux-doi-uri-scheme-00 §3), or the ``"target"`` it points to.
    Raises ValueError for a setting that is not right.
    """

    # Before ProxyHandler (100): a doi_proxy in the environment gives that one a doi_open too.
    handler_order = 90

    def __init__(
        self,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Follow = "record",
    ) -> None:
        if follow not in ("record", "target"):
            raise ValueError(f'follow: {follow!r} is neither "record" nor "target"')
        self.settings = Settings.from_environ(resolver=resolver, offline=offline, mailto=mailto)
        self.follow: Follow = follow
        # What each request repeats: who asks, and urllib's word for whose cookies are a third party's.
        self._agent = user_agent("urllib-doiuri", self.settings.mailto)
        self._host = Request(self.settings.base).origin_req_host  # noqa: S310 - Settings took http or https

    def doi_open(self, req: Request) -> HTTPResponse:
        """Open what a ``doi:`` request asks for, through the opener's own http and https handlers.

        Raises ValueError, before any traffic, for a URI that is not right and for methods other than GET
        and HEAD; HTTPError for an HTTP error; URLError if nothing could be learnt.
        """
        doi = doiuri.DOI.from_uri(written(req))
        if req.get_method() not in {"GET", "HEAD"} or req.data is not None:
            raise ValueError(
                f"{doi.name}: a DOI is read (GET or HEAD, no body), not written ({req.get_method()})"
            )
        new = self._request(doi, req)
        try:
            response: HTTPResponse = self.parent.open(new, timeout=req.timeout)
        except URLError:
            raise
        except (OSError, HTTPException, UnicodeError) as error:  # urllib lets these through
            raise URLError(error) from error
        if self.follow == "target" and wants_record(self._accept(req)):
            self._check_left(doi, response)
        return response

    def record_request(
        self,
        doi: Handle,
        *,
        type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
        index: int | Sequence[int] = (),
        auth: bool = False,
        cert: bool = False,
    ) -> Request:
        """Return the request for the record of ``doi``, or for its values of a ``type`` or at an ``index``.

        ``auth`` asks the authoritative server, ``cert`` for a certified answer.
        """
        types = (type,) if isinstance(type, str) else type
        indices = (index,) if isinstance(index, int) else index
        url = record_url(doi, base=self.settings.base, type=types, index=indices, auth=auth, cert=cert)
        return self._begin(doi, url, record=True)[0]

    def _request(self, doi: DOI, req: Request) -> Request:
        """Return the https request that stands for the ``doi:`` request ``req``."""
        if self.follow == "record" and wants_record(self._accept(req)):
            new, chain = self._begin(doi, record_url(doi, base=self.settings.base), record=True)
        else:
            new, chain = self._begin(doi, doi.link(self.settings.base), record=False)
        new.method = req.get_method()
        new.unverifiable = req.unverifiable
        if not _is_plain(self.parent):
            new.remove_header("User-agent")
        for headers, add in (
            (req.unredirected_hdrs, new.add_unredirected_header),
            (req.headers, new.add_header),
        ):
            for name, value in headers.items():
                if name in CREDENTIALS:
                    chain.credentials[name] = value
                elif name != "Host":
                    add(name, value)
        req.redirect_dict = chain  # type: ignore[attr-defined]
        return new

    def _accept(self, req: Request) -> str | bytes | None:
        """Return the request's Accept header, or else the one that the opener adds to every request."""
        added = (value for name, value in self.parent.addheaders if name.lower() == "accept")
        accept: str | bytes | None = req.get_header("Accept", next(added, None))
        return accept

    def _begin(self, doi: Handle, url: str, *, record: bool) -> tuple[Request, Chain]:
        request = Request(url, headers={"User-agent": self._agent}, origin_req_host=self._host)  # noqa: S310
        chain = request.redirect_dict = Chain(doi, url, record=record)  # type: ignore[attr-defined]
        return request, chain

    def _check_left(self, doi: DOI, response: HTTPResponse) -> None:
        """Refuse the proxy's own page about a DOI where the caller wants the target: there is none."""
        base, url = self.settings.base + "/", response.geturl()
        if not url.startswith(base) or response.status >= 300:  # an opener may show redirects and errors
            return
        try:
            doiuri.DOI.from_url("https://doi.org/" + url.removeprefix(base))
        except ValueError:
            return
        response.close()
        raise URLError(f"{doi.name}: has no URL to open")

    def http_request(self, req: Request) -> Request:
        """Stop an offline request; add the credentials where the resolver is asked."""
        chain = chain_of(req)
        if chain is not None:
            if self.settings.offline:
                raise URLError(f"{chain.doi.name}: not asked, for this is offline")
            chain.add_credentials(req)
        return req

    https_request = http_request

    def http_open(self, req: Request) -> None:
        """Leave the request to the opener's own handler, without credentials for another host."""
        chain = chain_of(req)
        if chain is not None:
            chain.drop_credentials(req, self.parent.addheaders)

    https_open = http_open

    def http_response(self, req: Request, response: HTTPResponse) -> HTTPResponse:
        """Refuse a page where a record is due (a captive portal's), and ways that leave the web."""
        chain = chain_of(req)
        flaw = chain and _flaw(chain, response)
        if chain and flaw:
            response.close()
            raise URLError(f"{chain.doi.name}: {req.full_url} {flaw}")
        return response

    https_response = http_response

    def http_error_default(self, req: Request, fp: IO[bytes], code: int, msg: str, hdrs: Message) -> None:
        """Name the DOI in the error, and what the resolver says of it."""
        chain = chain_of(req)
        if chain is None:
            return
        if not chain.record or not chain.is_resolver(req):
            raise HTTPError(req.full_url, code, f"{msg} (for {chain.doi})", hdrs, fp)
        with fp:
            body = fp.read(_MAX_ERROR)
        meaning = _meaning(chain, code, body, hdrs)
        text = f"{msg} (for {chain.doi})" if meaning is None else str(meaning)
        raise HTTPError(req.full_url, code, text, hdrs, io.BytesIO(body)) from meaning


def written(request: Request) -> str:
    """Return the URI as the caller wrote it: urllib splits it at the last ``#`` and drops an empty rest."""
    return request.full_url + ("#" if vars(request)["fragment"] == "" else "")


def _is_plain(opener: OpenerDirector) -> bool:
    """Whether nobody has given the opener a User-Agent of its own."""
    return all(
        name.lower() != "user-agent" or value.startswith("Python-urllib/")
        for name, value in opener.addheaders
    )


def _flaw(chain: Chain, response: HTTPResponse) -> str:
    """Return what is wrong with an answer; urllib would follow it to ftp, or stumble over a broken URL."""
    if response.status == 200:
        kind = response.headers.get("Content-Type", "").partition(";")[0].lower()
        return "answered with a page, not with a DOI record" if chain.record and "html" in kind else ""
    if not 300 <= response.status < 400:
        return ""
    location = response.headers.get("Location") or response.headers.get("URI") or ""
    try:
        parts = urlsplit(location)
        is_web = not parts.scheme or (parts.scheme in {"http", "https"} and bool(parts.hostname))
        _ = parts.port  # raises for one that is none
    except ValueError:
        is_web = False
    return "" if is_web else f"leads to {location[:_MAX_SHOWN]!r}, which is no http or https URL"


def _meaning(chain: Chain, status: int, body: bytes, headers: Message) -> ResolutionError | None:
    """Return what the resolver's error says about the DOI; None if it has no body, as an answer to HEAD."""
    if not body:
        return None
    try:
        read_record(chain.doi, status, body, dict(headers.items()))
    except doiuri.ResolutionError as error:
        return error
    return None
