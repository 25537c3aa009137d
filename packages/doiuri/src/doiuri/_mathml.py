"""MathML as text: scripts, fractions and roots stay what they are."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from doiuri._notation import FUNCTIONS, lowered, needs_brackets, raised

_APART = "\0"  # stands where a formula and what is beside it do not run together

_SEPARATED = re.compile(r"(</\w+>|[^\W_])\0+(?=[^\W_]|<[ib]>)")
_TAG = re.compile(r"<[^<>]*>")
_ANNOTATIONS = frozenset({"annotation", "annotation-xml"})  # repeat a formula in TeX
_DEEPEST = 100  # elements in each other; those of a hostile formula are dropped
_PRESCRIPTS = "\1"  # stands for <mprescripts/>
# What MathML puts above a letter, and the combining characters for it
_ACCENTS = {
    **dict.fromkeys("¯‾_―", "\u0304"),
    **dict.fromkeys("^ˆ", "\u0302"),
    **dict.fromkeys("~˜", "\u0303"),
    **dict.fromkeys("→⃗⇀", "\u20d7"),
    **dict.fromkeys(".˙", "\u0307"),
    **dict.fromkeys("¨", "\u0308"),
    **dict.fromkeys("ˇ", "\u030c"),
    **dict.fromkeys("˘", "\u0306"),
    **dict.fromkeys("´", "\u0301"),
    **dict.fromkeys("`", "\u0300"),
}


def separated(text: str) -> str:
    """Return text with spaces in place of the marks between formulas and words or numbers, and without others."""
    return _SEPARATED.sub(r"\1 ", text).replace(_APART, "")


class _Element(NamedTuple):
    """An element of MathML, with the texts of its children."""

    name: str
    children: list[str]


class Formula:
    """Reads the tags and texts in an element ``math``, one after another.

    An element that ends becomes a text, which is a child of the element around it: so <msup><mi>x</mi><mn>2</mn>
    </msup> becomes "x", "2" and then "x²".

    :param rich: return scripts in tags of CSL's rich text, not in raised and lowered characters.
    """

    def __init__(self, *, rich: bool) -> None:
        self._rich = rich
        self._open = [_Element("math", [])]

    def read(self, name: str, *, is_closing: bool, is_empty: bool) -> None:
        """Read a tag; one that closes nothing is dropped, and so is a formula in another one."""
        if name == "math":
            return
        if not is_closing and len(self._open) < _DEEPEST:
            self._open.append(_Element(name, []))
        if is_closing or is_empty:
            self._close(name)

    def add(self, text: str) -> None:
        """Read the text between two tags, without the white space around it."""
        stripped = text.strip()
        if stripped:
            self._open[-1].children.append(stripped)

    def text(self) -> str:
        """Return the text of the formula."""
        while len(self._open) > 1:
            self._close(self._open[-1].name)
        return "".join(self._open[0].children).replace(_PRESCRIPTS, "")

    def _close(self, name: str) -> None:
        """End the innermost element of this name, and those that are open in it; without any, nothing happens."""
        if all(element.name != name for element in self._open[1:]):
            return
        closed = None
        while closed is None or closed.name != name:
            closed = self._open.pop()
            self._open[-1].children.append(self._text_of(closed))

    def _text_of(self, element: _Element) -> str:
        """Return the text of an element (MathML 3, chapter 3); one with too few or many children is a row."""
        row = "".join(element.children)
        match element.name, element.children:
            case "msup" | "mover", [base, over]:
                return self._over(element.name, base, over)
            case "msub" | "munder", [base, low]:
                return f"{base.strip(_APART)}{self._lowered(low)}"
            case "msubsup" | "munderover", [base, low, high]:
                return f"{base.strip(_APART)}{self._lowered(low)}{self._raised(high)}"
            case "mmultiscripts", [base, *scripts]:
                return self._multiple_scripts(base, scripts)
            case "mfrac", [upper, lower]:
                return f"{_APART}{_in_brackets(upper)}/{_in_brackets(lower)}{_APART}"
            case "mroot", [base, degree]:
                return f"{self._raised(degree)}√{_in_brackets(base)}{_APART}"
            case "msqrt", _:
                return f"√{_in_brackets(row)}{_APART}"
            case "mfenced", children:
                return f"({', '.join(children)})"
            case "mprescripts", _:
                return _PRESCRIPTS
            case "mi", _ if row in FUNCTIONS:
                return f"{_APART}{row}{_APART}"
            case name, _ if name in _ANNOTATIONS:
                return ""
        return row

    def _over(self, name: str, base: str, over: str) -> str:
        """Return a base with what is above it: a superscript ("x²"), or an accent on a letter ("x̄")."""
        base = base.strip(_APART)
        mark = _ACCENTS.get(over)
        if name == "msup" or mark is None:
            return f"{base}{self._raised(over)}"
        if len(base) != 1:
            return f"{base}{over}"
        return unicodedata.normalize("NFC", f"{base}{mark}")

    def _multiple_scripts(self, base: str, scripts: list[str]) -> str:
        """Return a base with pairs of a subscript and a superscript; those after <mprescripts/> stand before it.

        U, <none/>, +, <mprescripts/>, 92, 238 is "₉₂²³⁸U⁺".
        """
        marker = len(scripts)
        if _PRESCRIPTS in scripts:
            marker = scripts.index(_PRESCRIPTS)
        before = self._pairs(scripts[marker + 1 :])
        after = self._pairs(scripts[:marker])
        return f"{_APART}{before}{base.strip(_APART)}{after}"

    def _pairs(self, scripts: list[str]) -> str:
        """Return subscripts and superscripts, which take turns."""
        low = "".join(scripts[::2])
        high = "".join(scripts[1::2])
        return f"{self._lowered(low)}{self._raised(high)}"

    def _raised(self, text: str) -> str:
        return self._shifted("sup", text)

    def _lowered(self, text: str) -> str:
        return self._shifted("sub", text)

    def _shifted(self, tag: str, text: str) -> str:
        """Return a script in its tag, or as raised or lowered characters; "°" and primes are high anyway."""
        plain = text.strip(_APART)
        if plain in {"", "°", "′", "″"}:
            return plain
        if self._rich:
            return f"<{tag}>{plain}</{tag}>"
        shift = raised if tag == "sup" else lowered
        return shift(separated(plain))


def _in_brackets(text: str) -> str:
    """Return a part of a fraction or of a root, in brackets if it is more than one term: "(a+b)"."""
    part = text.strip(_APART)
    plain = _TAG.sub("", part).replace(_APART, "")
    if needs_brackets(plain):
        return f"({part})"
    return part
