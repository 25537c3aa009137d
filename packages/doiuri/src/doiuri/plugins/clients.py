"""For plugins of HTTP clients: their options, and where the requests for a DOI may lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict
from urllib.parse import quote, urlsplit

from doiuri._hosts import addresses_of, decoded_host, is_private
from doiuri._settings import Settings
from doiuri._urls import origin, query_string, server_of
from doiuri.records._negotiation import wants_record
from doiuri.rest import record_url

if TYPE_CHECKING:
    from doiuri._doi import Handle

    Params = Mapping[str, object] | Mapping[bytes, object] | Iterable[tuple[str, object]] | str | bytes | None

__all__ = ["ClientArguments", "ClientOptions", "TargetCheck", "TargetError"]

_NOT_IN_NETLOC = frozenset("\\ ")  # clients disagree about where the host ends


class ClientArguments(TypedDict, total=False):
    """The keyword arguments of :meth:`ClientOptions.read`, for the signatures of plugins."""

    offline: bool | str | None
    mailto: str | None
    follow: Literal["record", "target"] | None
    private: bool | None


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options of a plugin for an HTTP client, and the URL that it requests for a DOI.

    >>> options = ClientOptions.read(resolver="https://doi.org")
    >>> options.request_url(DOI("10.1000/182"), query="type=URL")
    'https://doi.org/api/handles/10.1000/182?type=URL'
    >>> options.request_url(DOI("10.1000/182"), accept="application/x-bibtex")
    'https://doi.org/10.1000/182'
    """

    settings: Settings
    """The resolver to request (``settings.base``), whether it may be (``offline``), and the ``mailto``."""
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
        private: bool | None = None,
    ) -> ClientOptions:
        """Return the options, checked.

        :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
        :param offline: send no requests; default ``DOIURI_OFFLINE``, else false.
        :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
        :param follow: ``"record"``, the default, or ``"target"``.
        :param private: whether redirects may lead into a private network; default false.
        :raises ValueError: if an option or a variable is invalid; the message begins with its name.
        """
        follow = "record" if follow is None else follow
        if follow not in ("record", "target"):
            raise ValueError(f'follow: {follow!r} is not "record" or "target"')
        if private is not None and not isinstance(private, bool):
            raise ValueError(f"private: {private!r} is not True, False or None")
        settings = Settings.from_environ(resolver=resolver, offline=offline, mailto=mailto)
        return cls(settings, "record" if follow == "record" else "target", bool(private))

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
        base = self.settings.base
        url = record_url(doi, base=base) if self.wants_record(accept) else doi.link(base)
        url = f"{url[:-1]}%3B" if url.endswith(";") else url
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
        return query_string(params.items() if hasattr(params, "items") else params)

    def is_at_resolver(self, url: str) -> bool:
        """Return whether a URL has the resolver's origin, so that credentials may be sent there."""
        try:
            return origin(url) == origin(self.settings.base)
        except ValueError:  # it has no valid port
            return False

    def target_check(self) -> TargetCheck:
        """Return the check of where the requests for DOIs may lead."""
        return TargetCheck(self.settings.base, self.private)


class TargetError(ValueError):
    """A redirect is refused. ``str()`` says where it leads, and what to do."""


@dataclass(frozen=True, slots=True)
class TargetCheck:
    """Checks where the requests for DOIs lead: each URL by its name, and each new connection by its address.

    A private network is this machine, an address that is not globally reachable, or a name of one label or
    below ``.local``, ``.internal``, ``.home.arpa`` or ``.localhost``. The resolver itself may be in one; what
    its records point to may not, for strangers write them.

    >>> check = TargetCheck("http://127.0.0.1:8000")
    >>> check.check_url("http://127.0.0.1:8000/10.1000/182")
    >>> check.check_url("http://127%2e0.0.1/")
    Traceback (most recent call last):
        ...
    doiuri.plugins.clients.TargetError: redirected to 127.0.0.1, in a private network; private=True allows it
    """

    base: str
    """Base URL of the resolver."""
    private: bool = False
    """Whether redirects may lead into a private network."""

    def check_url(self, url: str) -> None:
        """Check the URL of a request before it is sent, by the name or address of its host alone.

        :raises TargetError: if it is in a private network and must not be, or is not an http or https URL.
        """
        try:
            parts, server = urlsplit(url), server_of(url)
            host = decoded_host(parts.hostname)
            if host.isascii():
                host.encode("idna")  # checks the lengths of the labels
        except ValueError:
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}") from None
        if parts.scheme not in {"http", "https"}:
            raise TargetError(f"redirected to {url[:80]!r}, which is not an http or https URL")
        if self.private:
            return
        if host == "%" or not parts.netloc.isprintable() or not _NOT_IN_NETLOC.isdisjoint(parts.netloc):
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}")
        if is_private(host) and server != server_of(self.base):
            raise _refusal(host)

    def check_addresses(self, url: str) -> None:
        """Look up the host of a URL before it is requested, and check its addresses.

        Do not call it for a request that goes through a proxy, which looks the host up itself.

        :raises TargetError: if one is in a private network, and must not be.
        """
        parts = urlsplit(url)
        for address in [] if self.private else addresses_of(decoded_host(parts.hostname), parts.port):
            self.check_peer(url, address)

    def check_peer(self, url: str, address: str) -> None:
        """Check the address of a new connection: a name may resolve to any.

        Do not call it for a connection to a proxy.

        :param url: the URL of the request that the connection is made for.
        :param address: the IP address, as ``socket.getpeername`` returns it.
        :raises TargetError: if it is in a private network, and must not be.
        """
        if is_private(address) and not self.private and server_of(url) != server_of(self.base):
            host = decoded_host(urlsplit(url).hostname)
            raise _refusal(host if host == address else f"{host} ({address})")


def _refusal(place: str) -> TargetError:
    return TargetError(f"redirected to {place:.300}, in a private network; private=True allows it")
