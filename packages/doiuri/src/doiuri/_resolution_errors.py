"""The errors of resolving: a definite no, no values, an unusable answer, no answer."""

from doiuri._errors import DOIError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri._doi import Handle


class ResolutionError(DOIError):
    """A DOI that could not be resolved; ``doi`` is which (None if unknown), ``reason`` why."""

    def __init__(self, doi: "Handle | None", reason: str = "") -> None:
        super().__init__(doi, reason)
        self.doi = doi
        self.reason = reason

    def __str__(self) -> str:
        reason = self.reason or self._default
        return reason if self.doi is None else f"{self.doi.name}: {reason}"

    _default = "cannot be resolved"


class DOINotFound(ResolutionError, LookupError):  # noqa: N818
    """The DOI system's definite no: the name is not registered (response code 100)."""

    _default = "no such DOI"


class NoValues(ResolutionError):  # noqa: N818
    """The DOI exists, but has no values, or none of those asked for (response code 200)."""

    _default = "the DOI has no such values"


class BadRecord(ResolutionError):  # noqa: N818
    """The answer is not what the REST API promises, so nothing is known about the DOI."""

    _default = "the answer is not a DOI record"


class ResolverUnavailable(ResolutionError):  # noqa: N818
    """Nothing is known about the DOI: throttled, refused, failed, timed out, or offline.

    ``status`` is the HTTP status if there was an answer, ``retry_after`` the seconds to wait if it said so.
    """

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
