"""The outcome of a look-up for one DOI: its cause if there is no answer, its metadata."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri._doi import Handle, parse_name
from doiuri._errors import BadRecord, DOINotFound, DOISyntaxError, NoValues, ResolverUnavailable
from doiuri._text import html_link, html_table, html_text, with_windows_characters

if TYPE_CHECKING:
    from doiuri._errors import ResolutionError
    from doiuri.records._record import Record
    from doiuri.works._work import Work

    Status = Literal["found", "not-found", "no-values", "unknown", "invalid"]


# Beside UTF-8; any other name may be that of a codec which is no character set, or none at all
_CHARSETS = frozenset(
    [
        "iso-8859-1",
        "iso-8859-2",
        "iso-8859-9",
        "iso-8859-15",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1254",
        "koi8-r",
        "utf-16",
        "utf-16le",
        "utf-16be",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "euc-kr",
    ]
)


class Cause(NamedTuple):
    """Why a DOI was not found, or nothing is known about it; its text is a sentence.

    >>> str(Cause("connection", "doi.org", detail="Connection refused"))
    'doi.org: Connection refused'
    """

    kind: str
    """What it is, for programs.

    If the DOI is unknown: ``"offline"``, ``"budget"`` (there was no time left), ``"timeout"``,
    ``"connection"``, ``"status"`` (the server refused or failed), ``"unusable"`` (the answer is not what the
    API promises), ``"too-long"`` (the name), ``"lock"`` (not in the lock file) or ``"error"`` (an unforeseen
    error, whose type is the detail). Otherwise the outcome's status.
    """

    host: str = ""
    """The host, with its port, that did not answer or whose answer it is."""

    status: int | None = None
    """The HTTP status, if it is the cause."""

    detail: str = ""
    """What happened."""

    retry_after: float | None = None
    """Seconds for which the server asked not to be asked again, or is not asked after failures."""

    def __str__(self) -> str:
        if self.host == "" or self.kind == "timeout":  # whose detail names the host
            return self.detail
        if self.detail == "":
            return self.host
        return f"{self.host}: {self.detail}"

    @classmethod
    def of(cls, error: ResolutionError, host: str = "") -> Cause:
        """Return the cause that an error states.

        :param host: the host that answered.
        """
        if isinstance(error, Unanswered):
            return error.cause
        reason = error.reason or error._default
        if isinstance(error, ResolverUnavailable):
            return cls("status", host, error.status, reason, error.retry_after)
        if isinstance(error, DOINotFound):
            return cls("not-found", detail=reason)
        if isinstance(error, NoValues):
            return cls("no-values", detail=reason)
        return cls("unusable", detail=reason)


BUDGET = Cause("budget", detail="budget exhausted")


class Unanswered(ResolverUnavailable):
    """A ResolverUnavailable that knows its cause."""

    def __init__(self, doi: Handle | None, cause: Cause) -> None:
        super().__init__(doi, str(cause), cause.status, cause.retry_after)
        self.args = (doi, cause)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Metadata:
    """The answer of a registration agency.

    >>> Metadata(b"@article{...}", "application/x-bibtex").text
    '@article{...}'
    """

    content: bytes
    """The body of the answer."""

    content_type: str
    """Its Content-Type."""

    @property
    def text(self) -> str:
        """The content as text.

        UTF-8 that is declared as something else is read as UTF-8, and Latin-1 as Windows-1252.
        """
        return with_windows_characters(self._decoded())

    def _decoded(self) -> str:
        """Return the content as UTF-8, or else in the declared character set, or else as Latin-1."""
        from email.message import Message  # slow to import, and rarely needed

        with suppress(UnicodeDecodeError):
            return self.content.decode("utf-8-sig")

        message = Message()
        message["Content-Type"] = self.content_type
        declared = message.get_content_charset("")
        if declared in _CHARSETS:
            with suppress(UnicodeDecodeError):
                return self.content.decode(declared)
        return self.content.decode("latin-1")


class Outcome(NamedTuple):
    """The outcome for one DOI of a batch.

    >>> from doiuri import DOI
    >>> from doiuri_proxy import resolver_for
    >>> resolver = resolver_for([{"handle": "10.1000/182", "values": []}])
    >>> found, invalid = resolver.check(["10.1000/182", "10"])
    >>> found.status, found.doi
    ('found', DOI('10.1000/182'))
    >>> invalid.status, invalid.text, invalid.reason
    ('invalid', '10', 'a DOI begins with "10."')
    """

    doi: Handle | None
    """The DOI, as it was given. None if the item cannot be parsed."""

    status: Status
    """What is known about the DOI.

    ``"found"``, ``"not-found"`` (a definite answer), ``"no-values"`` (it exists, but has no values, or no
    metadata if you asked for that), ``"unknown"`` (no answer: rate limit, offline, timeout, …) or
    ``"invalid"`` (the item is not a DOI).
    """

    record: Record | None = None
    """The record, at the end of the chain of aliases. None from ``check`` and ``agencies``."""

    agency: str | None = None
    """The name of the registration agency, from ``agencies`` and, if it is known, from ``check``."""

    cause: Cause | None = None
    """Why the DOI was not found or is unknown, or else why a stale answer could not be renewed."""

    stale: bool = False
    """Whether the answer comes from a store, has expired, and could not be renewed."""

    text: str = ""
    """The item as text, if the status is ``"invalid"``."""

    work: Work | None = None
    """The metadata, from ``works``."""

    metadata: Metadata | None = None
    """The metadata, from ``metadata_many`` and ``bibtex_many``.

    With the status ``"unknown"``, it is an answer of another media type than ``metadata_many`` asked for.
    """

    @property
    def reason(self) -> str:
        """The cause as text; "" if there is none."""
        return "" if self.cause is None else str(self.cause)

    @property
    def found(self) -> bool:
        """Whether the status is ``"found"``."""
        return self.status == "found"

    def to_dict(self) -> dict[str, str | int | bool | None]:
        """Return the outcome as a row of a table, whose values JSON can hold.

        >>> from doiuri import DOI
        >>> row = Outcome(DOI("10.1000/182"), "found", agency="Crossref").to_dict()
        >>> row["doi"], row["status"], row["agency"], row["url"]
        ('10.1000/182', 'found', 'Crossref', None)
        >>> ", ".join(row)
        'doi, text, status, agency, reason, stale, url, title, year'

        :return: the attributes of these names, with ``doi`` as the name; ``url`` of the record; ``title`` and
            ``year`` of the work. None for a DOI, an agency, a record or a work that the outcome does not have.
        """
        name = None if self.doi is None else self.doi.name
        url = None if self.record is None else self.record.url
        title = None if self.work is None else self.work.title
        year = None if self.work is None else self.work.year
        return {
            "doi": name,
            "text": self.text,
            "status": self.status,
            "agency": self.agency,
            "reason": self.reason,
            "stale": self.stale,
            "url": url,
            "title": title,
            "year": year,
        }

    def raise_for_status(self) -> None:
        """Raise the error for the status; do nothing if the DOI was found.

        >>> Outcome(None, "invalid", text="10", cause=Cause("invalid", detail="no slash")).raise_for_status()
        Traceback (most recent call last):
          ...
        doiuri.DOISyntaxError: '10' is not a DOI: no slash (position 0)

        :raises DOINotFound: if the status is ``"not-found"``.
        :raises NoValues: if it is ``"no-values"``.
        :raises BadRecord: if it is ``"unknown"`` because the answer is unusable.
        :raises ResolverUnavailable: if it is ``"unknown"`` for any other reason.
        :raises DOISyntaxError: if it is ``"invalid"``.
        """
        cause = self.cause or Cause(self.status)
        if self.status == "not-found":
            raise DOINotFound(self.doi, cause.detail)
        if self.status == "no-values":
            raise NoValues(self.doi, cause.detail)
        if self.status == "unknown" and cause.kind == "unusable":
            raise BadRecord(self.doi, cause.detail)
        if self.status == "unknown":
            raise ResolverUnavailable(self.doi, str(cause), cause.status, cause.retry_after)
        if self.status == "invalid":
            raise _syntax_error(self.text, cause.detail)

    def _repr_html_(self) -> str:
        """Return a table for notebooks: everything in it is escaped, only http and https URLs are links."""
        name = html_text(self.text) if self.doi is None else html_link(self.doi.url, self.doi.uri)
        status = f"{self.status} (stale)" if self.stale else self.status
        title = "" if self.work is None else self.work.title
        url = None if self.record is None else self.record.url
        rows = {
            "status": html_text(status),
            "agency": html_text(self.agency or ""),
            "title": html_text(title),
            "reason": html_text(self.reason),
            "URL": html_link(url, url) if url else "",
        }
        return html_table(name, rows)

    @classmethod
    def from_error(cls, doi: Handle, error: ResolutionError) -> Outcome:
        """Return the outcome that an error means for ``doi``."""
        status: Status = "unknown"
        if isinstance(error, DOINotFound):
            status = "not-found"
        elif isinstance(error, NoValues):
            status = "no-values"
        return cls(doi, status, cause=Cause.of(error))


def _syntax_error(text: str, reason: str) -> DOISyntaxError:
    """Return the error of parsing ``text``, with its position and suggestion if it has that reason."""
    try:
        parse_name(text)
    except DOISyntaxError as error:
        if error.reason == reason:
            return error
    return DOISyntaxError(text, 0, reason)


for _public in (Cause, Metadata, Outcome):
    _public.__module__ = "doiuri.resolver"  # for tracebacks and pickles
