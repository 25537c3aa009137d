"""The errors of resolution: not found, no values, a bad answer, no answer."""

from doiuri._errors import DOIError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri._doi import Handle


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
        return reason if self.doi is None else f"{self.doi.name}: {reason}"


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
