"""The options of plugins for HTTP clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from doiuri._settings import Settings
from doiuri.plugins._targets import TargetCheck
from doiuri.records._accept import wants_record
from doiuri.rest import record_url

if TYPE_CHECKING:
    from doiuri._doi import Handle


Follow = Literal["record", "target"]
"""What a ``doi:`` request returns: the DOI's record, or the resource that the DOI points to."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options of a plugin for an HTTP client, and the URL that it requests for a DOI.

    >>> options = ClientOptions.read(resolver="https://doi.org")
    >>> options.request_url(DOI("10.1000/182"))
    'https://doi.org/api/handles/10.1000/182'
    >>> options.request_url(DOI("10.1000/182"), accept="application/x-bibtex")
    'https://doi.org/10.1000/182'
    """

    settings: Settings
    """The resolver to request (``settings.base``), whether it may be (``offline``), and the ``mailto``."""
    follow: Follow = "record"
    """What a request returns: the ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3) or the ``"target"``."""
    private: bool | None = None
    """Whether redirects may lead into a private network; None: if the resolver is in one."""

    @classmethod
    def read(
        cls,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: str = "record",
        private: bool | None = None,
    ) -> ClientOptions:
        """Return the options, checked.

        :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
        :param offline: send no requests; default ``DOIURI_OFFLINE``, else false.
        :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
        :param follow: ``"record"`` or ``"target"``.
        :param private: whether redirects may lead into a private network, as for :class:`TargetCheck`.
        :raises ValueError: if an option or a variable is invalid; the message begins with its name.
        """
        if follow not in ("record", "target"):
            raise ValueError(f'follow: {follow!r} is not "record" or "target"')
        if private is not None and not isinstance(private, bool):
            raise ValueError(f"private: {private!r} is not True, False or None")
        settings = Settings.from_environ(resolver=resolver, offline=offline, mailto=mailto)
        return cls(settings, "record" if follow == "record" else "target", private)

    def wants_record(self, accept: str | bytes | None = None) -> bool:
        """Return whether a request with this Accept header gets the DOI's record."""
        return self.follow == "record" and wants_record(accept)

    def request_url(self, doi: Handle, accept: str | bytes | None = None) -> str:
        """Return the URL to request for ``doi``.

        That is the record's at the REST API, or else the link to ``doi``, from which the resolver redirects
        to the target or to the agency that negotiates the content. A final semicolon is escaped: requests and
        urllib drop it when they follow a redirect, which would lead to another DOI.

        :param accept: the value of the request's Accept header, if it has one.
        """
        base = self.settings.base
        url = record_url(doi, base=base) if self.wants_record(accept) else doi.link(base)
        return f"{url[:-1]}%3B" if url.endswith(";") else url

    def target_check(self) -> TargetCheck:
        """Return the check of where the requests for one DOI may lead."""
        return TargetCheck(self.settings.base, self.private)
