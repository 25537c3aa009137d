"""The outcome of a lookup for one DOI of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri._doi import Handle
from doiuri._errors import DOISyntaxError
from doiuri._resolution_errors import DOINotFound, NoValues, ResolverUnavailable
from doiuri.records._plain_text import shortened
from doiuri.records._web import html_link, html_text

if TYPE_CHECKING:
    from doiuri._resolution_errors import ResolutionError
    from doiuri.records._record import Record
    from doiuri.records._work import Work

    Status = Literal["found", "not-found", "no-values", "unknown", "invalid"]

_LONGEST_CELL = 200


class Outcome(NamedTuple):
    """The outcome for one DOI of a batch.

    >>> from doiuri import DOI
    >>> from doiuri.testing import resolver_for
    >>> resolver = resolver_for([{"handle": "10.1000/182", "values": []}])
    >>> found, invalid = resolver.verify(["10.1000/182", "10"])
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
    """The record, at the end of the chain of aliases. None from ``verify`` and ``agencies``."""

    agency: str | None = None
    """The name of the registration agency, from ``agencies`` and, if it is known, from ``verify``."""

    reason: str = ""
    """Why the DOI was not found."""

    stale: bool = False
    """Whether the answer comes from a store, has expired, and could not be renewed."""

    text: str = ""
    """The item as text, if the status is ``"invalid"``."""

    work: Work | None = None
    """The metadata, from ``works``."""

    reference: str = ""
    """The formatted reference, from ``references``."""

    @property
    def found(self) -> bool:
        """Whether the status is ``"found"``."""
        return self.status == "found"

    def raise_for_status(self) -> None:
        """Raise the error for the status; do nothing if the DOI was found.

        >>> Outcome(None, "invalid", text="10", reason="no slash").raise_for_status()
        Traceback (most recent call last):
          ...
        doiuri._errors.DOISyntaxError: '10' is not a DOI: no slash (position 0)

        :raises DOINotFound: if the status is ``"not-found"``.
        :raises NoValues: if it is ``"no-values"``.
        :raises ResolverUnavailable: if it is ``"unknown"``, even if the cause was a bad record.
        :raises DOISyntaxError: if it is ``"invalid"``.
        """
        if self.status == "not-found":
            raise DOINotFound(self.doi, self.reason)
        if self.status == "no-values":
            raise NoValues(self.doi, self.reason)
        if self.status == "unknown":
            raise ResolverUnavailable(self.doi, self.reason)
        if self.status == "invalid":
            raise _syntax_error(self.text, self.reason)

    def _repr_html_(self) -> str:
        """Return a table for notebooks: everything in it is escaped, only http and https URLs are links."""
        name = html_text(shortened(self.text, _LONGEST_CELL))
        if self.doi is not None:
            name = html_link(self.doi.url, self.doi.uri)
        url = None if self.record is None else self.record.url
        cells = {
            "status": self.status + (" (stale)" if self.stale else ""),
            "agency": self.agency or "",
            "title": "" if self.work is None else self.work.title,
            "reference": self.reference,
            "reason": self.reason,
        }
        rows = [
            _html_row(label, html_text(shortened(text, _LONGEST_CELL)))
            for label, text in cells.items()
            if text
        ]
        if url:
            rows.append(_html_row("URL", html_link(url, shortened(url, _LONGEST_CELL))))
        return f"<table><caption>{name}</caption><tbody>{''.join(rows)}</tbody></table>"

    @classmethod
    def from_error(cls, doi: Handle, error: ResolutionError) -> Outcome:
        """Return the outcome that an error means for ``doi``."""
        status: Status = "unknown"
        if isinstance(error, DOINotFound):
            status = "not-found"
        elif isinstance(error, NoValues):
            status = "no-values"
        return cls(doi, status, reason=error.reason or error._default)


def _html_row(label: str, cell: str) -> str:
    return f"<tr><th>{label}</th><td>{cell}</td></tr>"


def _syntax_error(text: str, reason: str) -> DOISyntaxError:
    """Return the error of parsing ``text``, with its position and suggestion if it has that reason."""
    try:
        Handle.parse(text)
    except DOISyntaxError as error:
        if error.reason == reason:
            return error
    return DOISyntaxError(text, 0, reason)
