"""The errors of this package: text that is not a DOI, and the errors of resolution."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from doiuri._doi import Handle

_LONGEST = 120  # characters of a text that a message repeats


class DOIError(Exception):
    """The base class of this package's errors."""


class DOISyntaxError(DOIError, ValueError):
    """The text is not a DOI, or not in the requested form.

    >>> from doiuri import DOI
    >>> try:
    ...     DOI.parse("doi:10.1000/456#789")
    ... except DOISyntaxError as error:
    ...     print(error.position, error.suggestion)
    15 doi:10.1000/456%23789
    """

    text: str
    """The text as given."""

    position: int
    """The position of the error in ``text``, in characters from 0."""

    reason: str
    """What is wrong there."""

    suggestion: str | None
    """The repaired text, or None if there is no obvious repair."""

    kind: str
    """What was expected, such as "DOI" or "doi: URI"."""

    def __init__(
        self,
        text: str,
        position: int,
        reason: str,
        suggestion: str | None = None,
        kind: str = "DOI",
    ) -> None:
        super().__init__(text, position, reason, suggestion, kind)
        self.text = text
        self.position = position
        self.reason = reason
        self.suggestion = suggestion
        self.kind = kind

    def __str__(self) -> str:
        """Return one line that shows at most the beginning of a long text."""
        text = self.text
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}…"
        message = f"{text!r} is not a {self.kind}: {self.reason} (position {self.position})"
        if self.suggestion is None or len(self.suggestion) > 3 * _LONGEST:
            return message
        suggestion = self.suggestion if self.suggestion.isprintable() else repr(self.suggestion)
        return f"{message}; write {suggestion}"


class ResolutionError(DOIError):
    """A DOI could not be resolved."""

    doi: "Handle | None"
    """The DOI, short DOI or prefix, or None if it is not known."""

    reason: str
    """What happened; "" stands for the class's default."""

    _default = "cannot be resolved"

    def __init__(self, doi: "Handle | None", reason: str = "") -> None:
        super().__init__(doi, reason)
        self.doi = doi
        self.reason = reason

    def __str__(self) -> str:
        reason = self.reason or self._default
        if self.doi is None:
            return reason
        return f"{self.doi.name}: {reason}"


class DOINotFound(ResolutionError, LookupError):
    """The DOI is not registered: a definite answer (response code 100)."""

    _default = "no such DOI"


class NoValues(ResolutionError):
    """The DOI is registered, but has no values of the requested types and indexes (response code 200)."""

    _default = "the DOI has no such values"


class BadRecord(ResolutionError):
    """The answer is not what the REST API specifies, so nothing is known about the DOI."""

    _default = "the answer is not a DOI record"


class ResolverUnavailable(ResolutionError):
    """No answer: throttled, refused, failed, timed out, or offline. Nothing is known about the DOI."""

    status: int | None
    """The HTTP status, or None if there was no response."""

    retry_after: float | None
    """The seconds to wait before the next request, if the response says so (``Retry-After``)."""

    _default = "the resolver is unavailable"

    def __init__(
        self,
        doi: "Handle | None",
        reason: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(doi, reason)
        self.args = (doi, reason, status, retry_after)
        self.status = status
        self.retry_after = retry_after
