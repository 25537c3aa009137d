"""The base of all errors, and the error for text that is not a DOI."""

_SHOWN = 120  # characters of a text that a message repeats


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
        self, text: str, position: int, reason: str, suggestion: str | None = None, kind: str = "DOI"
    ) -> None:
        super().__init__(text, position, reason, suggestion, kind)
        self.text = text
        self.position = position
        self.reason = reason
        self.suggestion = suggestion
        self.kind = kind

    def __str__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "…"
        message = f"{text!r} is not a {self.kind}: {self.reason} (position {self.position})"
        if self.suggestion is None or len(self.suggestion) > 3 * _SHOWN:
            return message
        better = self.suggestion if self.suggestion.isprintable() else repr(self.suggestion)
        return f"{message}; write {better}"
