"""For plugins of HTTP clients: their options, where requests for a DOI may lead, and what is a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict
from urllib.parse import quote

from doiuri._errors import BadRecord, DOINotFound, NoValues, ResolutionError
from doiuri._options import option, read_options
from doiuri._targets import TargetCheck, TargetError
from doiuri._urls import host_of, origin, query_string
from doiuri.records._negotiation import wants_record
from doiuri.rest import MAX_RECORD, read_record, record_url

if TYPE_CHECKING:
    from doiuri._doi import Handle

    Params = (
        Mapping[str, object]
        | Mapping[bytes, object]
        | Iterable[tuple[str, object]]
        | str
        | bytes
        | None
    )

__all__ = [
    "MAX_RECORD",
    "ClientArguments",
    "ClientOptions",
    "TargetCheck",
    "TargetError",
    "carries_record",
    "check_record",
    "host_of",
]


class ClientArguments(TypedDict, total=False):
    """The keyword arguments of :meth:`ClientOptions.read`, for the signatures of plugins."""

    offline: bool | str | None
    mailto: str | None
    follow: Literal["record", "target"] | None
    private: bool | str | None


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options of a plugin for an HTTP client, and the URL that it requests for a DOI.

    >>> options = ClientOptions.read(resolver="https://doi.org")
    >>> options.request_url(DOI("10.1000/182"), query="type=URL")
    'https://doi.org/api/handles/10.1000/182?type=URL'
    >>> options.request_url(DOI("10.1000/182"), accept="application/x-bibtex")
    'https://doi.org/10.1000/182'
    """

    resolver: str
    """The base URL of the resolver to request."""
    offline: bool = False
    """Send no requests."""
    mailto: str | None = None
    """The mail address for the User-Agent header, or None."""
    follow: Literal["record", "target"] = "record"
    """What a request returns: the ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3) or the ``"target"``."""
    private: bool = False
    """Whether redirects may lead into a private network."""

    @classmethod
    def read(
        cls,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: str | None = None,
        private: bool | str | None = None,
    ) -> ClientOptions:
        """Return the options, checked.

        :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
        :param offline: send no requests; default ``DOIURI_OFFLINE``, else false.
        :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
        :param follow: ``"record"``, the default, or ``"target"``.
        :param private: whether redirects may lead into a private network; default false.
        :raises ValueError: if an option or a variable is invalid; the message begins with its name.
        """
        given = {
            "resolver": resolver,
            "offline": offline,
            "mailto": mailto,
            "follow": follow,
            "private": private,
        }
        return cls(**read_options([option(name) for name in given], given))

    def wants_record(self, accept: str | bytes | None = None) -> bool:
        """Return whether a request with this Accept header gets the DOI's record."""
        return self.follow == "record" and wants_record(accept)

    def request_url(self, doi: Handle, accept: str | bytes | None = None, query: str = "") -> str:
        """Return the URL to request for ``doi``.

        That is the record's at the REST API, or else the link to ``doi``, from which the resolver redirects
        to the target or to the agency that negotiates the content. A final semicolon is escaped: requests and
        urllib drop it when they follow a redirect, which would lead to another DOI.

        :param accept: the value of the request's Accept header, if it has one.
        :param query: what :meth:`query` returned.
        """
        if self.wants_record(accept):
            url = record_url(doi, base=self.resolver)
        else:
            url = doi.link(self.resolver)
        if url.endswith(";"):
            url = f"{url[:-1]}%3B"
        return f"{url}?{query}" if query else url

    @staticmethod
    def query(params: Params) -> str:
        """Return the ``params=`` of a request as the query for the DOI proxy.

        Unlike HTTP clients, it encodes True as a name without a value, leaves out False as well as None, and
        writes a space as "%20", because the proxy reads "+" as a plus.

        >>> ClientOptions.query({"type": ["URL", "EMAIL"], "auth": True, "cert": False})
        'type=URL&type=EMAIL&auth'

        :param params: a mapping or pairs, where a sequence repeats its parameter; or an encoded query.
        """
        if not params:
            return ""
        if isinstance(params, str | bytes):
            text = params.decode() if isinstance(params, bytes) else params
            return quote(text.lstrip("?"), safe="%/:?@!$&'()*+,;=-._~")
        if hasattr(params, "items"):
            return query_string(params.items())
        return query_string(params)

    def is_at_resolver(self, url: str) -> bool:
        """Return whether a URL has the resolver's origin, so that credentials may be sent there."""
        try:
            return origin(url) == origin(self.resolver)
        except ValueError:  # it has no valid port
            return False

    def target_check(self) -> TargetCheck:
        """Return the check of where the requests for DOIs may lead."""
        return TargetCheck(self.resolver, self.private)


def carries_record(status: int) -> bool:
    """Return whether an answer with this HTTP status should say what is known about a DOI: 2xx or 404.

    Other statuses say themselves that there is no answer.
    """
    return status == 404 or 200 <= status < 300


def check_record(
    doi: Handle, *, url: str, method: str, status: int, content_type: str, body: bytes
) -> None:
    """Check the answer to the request for a record if its HTTP status is 2xx or 404.

    Its JSON has to be the record of the DOI, or the statement that there is no such DOI (``responseCode``
    100), or that it has no such values (200). Login pages and filters answer with anything else. An answer to
    HEAD has no body; it must not be a web page.

    >>> page = {"status": 200, "content_type": "text/html", "body": b"<p>Please log in"}
    >>> check_record(DOI("10.1000/182"), url="http://portal.example/", method="GET", **page)
    Traceback (most recent call last):
        ...
    doiuri.BadRecord: 10.1000/182: portal.example sent a web page instead of a DOI record (HTTP status 200)

    :param doi: the DOI asked for.
    :param url: the URL that answered, after redirects.
    :param status: the HTTP status.
    :param content_type: the value of the header ``Content-Type``, or "".
    :param body: the body, decoded as its ``Content-Encoding`` says.
    :raises BadRecord: if it is neither; the message names the host that answered.
    """
    if not carries_record(status):
        return
    no_record = f"{host_of(url)} sent no DOI record (HTTP status {status})"
    web_page = f"{host_of(url)} sent a web page instead of a DOI record (HTTP status {status})"
    is_page = "html" in content_type.lower()
    if method == "HEAD":
        if is_page:
            raise BadRecord(doi, web_page)
        return
    if len(body) > MAX_RECORD:
        raise BadRecord(doi, f"{no_record}: it is longer than {MAX_RECORD:,} bytes")
    try:
        read_record(doi, status, body)
    except (DOINotFound, NoValues):
        return
    except ResolutionError as error:
        if is_page:
            raise BadRecord(doi, web_page) from error
        raise BadRecord(doi, f"{no_record}: {error.reason}") from error
