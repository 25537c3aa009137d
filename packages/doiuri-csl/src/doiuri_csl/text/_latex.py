"""Runs as LaTeX.

Their text is untrusted, and TeX can read and write files, so only the commands below are written.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from doiuri_csl.text._runs import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_csl.text._runs import Format, Run

# The outermost first. LaTeX's own fonts have no light weight
_COMMANDS: dict[Format, str] = {
    "underline": "underline",
    "bold": "textbf",
    "italic": "textit",
    "oblique": "textsl",
    "small-caps": "textsc",
    "superscript": "textsuperscript",
    "subscript": "textsubscript",
}
_ESCAPES = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    # Fonts in LaTeX's old encoding, the default of pdfLaTeX, have other characters in these places
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Typographic quotation marks otherwise, or an umlaut, as babel has it for German
    "'": r"\textquotesingle{}",
    "`": r"\`{}",
    '"': '"{}',
    # They would begin an option after \item or a line break
    "[": "{[}",
    "]": "{]}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2009": r"\,",
}
_SPECIAL = re.compile(
    rf"""
    [{re.escape("".join(_ESCAPES))}]
    # ligatures: an en dash, a low quotation mark
    | -(?=-) | ,(?=,)
    """,
    re.VERBOSE,
)
# Without % and #, which \url misprints inside other commands
_ADDRESS = re.compile(r"https?://[A-Za-z0-9./:;,?!=+*()@&$_~'-]+")
_LINE_BREAK = "\\\\{}\n"


def to_latex(runs: Iterable[Run]) -> str:
    r"""Return runs as LaTeX.

    A link whose text is its address is a ``\url``, which needs the package ``hyperref`` or ``url``; any other link
    is only its text. Letters beyond Latin ones need LuaLaTeX or XeLaTeX, as everywhere in LaTeX.

    >>> from doiuri_csl import Run
    >>> print(to_latex([Run("50 % of "), Run("Bees & Ants", frozenset({"italic"}))]))
    50 \% of \textit{Bees \& Ants}
    """
    return _LINE_BREAK.join("".join(map(_written, line)) for line in lines_of(runs))


def _written(run: Run) -> str:
    r"""Return a run as LaTeX, in the commands of its formats: ``\textbf{\textit{Bees}}``."""
    if run.text == run.link and _ADDRESS.fullmatch(run.text):
        latex = rf"\url{{{run.text}}}"
    else:
        # pdfLaTeX knows "é" as a character, and not as a letter with an accent after it
        text = unicodedata.normalize("NFC", run.text)
        latex = _SPECIAL.sub(_escaped, text)
    for name, command in reversed(_COMMANDS.items()):
        if name in run.formats:
            latex = rf"\{command}{{{latex}}}"
    return latex


def _escaped(special: re.Match[str]) -> str:
    character = special[0]
    return _ESCAPES.get(character, f"{character}{{}}")
