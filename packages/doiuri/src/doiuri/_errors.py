"""The root of all errors, and the error for text that is not a DOI."""

_SHOWN = 120  # characters of a text that a message repeats


class DOIError(Exception):
    """Whatever this package raises on purpose."""


class DOISyntaxError(DOIError, ValueError):
    """A text that is not a DOI, or not one in the form asked for.

    ``text`` is what was given, ``position`` the place in it (characters, from 0), ``reason`` what is
    wrong there, ``suggestion`` the repaired text where there is an obvious one, ``kind`` what was expected.
    """

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
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "…"
        brief = self.suggestion is not None and len(self.suggestion) <= 3 * _SHOWN
        advice = f"; write {self.suggestion}" if brief else ""
        return f"{shown!r} is not a {self.kind}: {self.reason} (position {self.position}){advice}"
