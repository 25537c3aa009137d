"""Arguments are checked where they are passed, so that nonsense does not fail later."""

from __future__ import annotations

from doiuri.resolver._arguments import DEFAULT


def numbers(**given: object) -> None:
    """Refuse what is no number, and numbers that make no sense; raises ValueError."""
    for name, number in given.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0:
            raise ValueError(f"{name} must be a number of more than 0, not {number!r}")


def optional(**given: object) -> None:
    """The same where there need not be one."""
    numbers(**{name: n for name, n in given.items() if n is not None and n is not DEFAULT})


def count(name: str, number: object) -> None:
    """Refuse what is no whole number from 1; raises ValueError."""
    numbers(**{name: number})
    if not isinstance(number, int):
        raise ValueError(f"{name} must be a whole number, not {number!r}")  # noqa: TRY004 - as for other numbers


def able(name: str, thing: object, method: str) -> None:
    """Refuse what lacks a method; raises TypeError."""
    if thing is not None and not callable(getattr(thing, method, None)):
        raise TypeError(f"{name} cannot be {thing!r:.80}: it has no {method}()")


def texts(**given: object) -> None:
    """Refuse what is given and is no text; raises TypeError."""
    for name, text in given.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be text, not {text!r:.80}")


def header(name: str, text: str | None) -> None:
    """Refuse what cannot stand in an HTTP header (RFC 9110 section 5.5); raises ValueError."""
    texts(**{name: text})
    if text is not None and not (text.isascii() and text.isprintable()):
        raise ValueError(f"{name} must be printable ASCII text, not {text!r:.80}")
