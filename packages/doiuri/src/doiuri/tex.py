r"""TeX: its accents and symbols, and the text that it shows."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ACCENTS", "SYMBOLS", "plain_text", "rich_text"]


def _pairs(words: str) -> dict[str, str]:
    listed = words.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


ACCENTS = _pairs(
    "` \u0300 ' \u0301 ^ \u0302 \" \u0308 ~ \u0303 = \u0304 . \u0307"
    " u \u0306 v \u030c H \u030b c \u0327 k \u0328 r \u030a d \u0323 b \u0331"
)
"""Accent commands, without the backslash, and the combining characters that they stand for."""

SYMBOLS = _pairs(
    "textless < textgreater > textunderscore _ textpercent % textdollar $ textasciitilde ~ textasciicircum ^"
    " textbar | textbackslash \\ slash / textquotesingle ' textquotedbl \" textquoteleft \u2018"
    " textquoteright \u2019 textendash \u2013 textemdash \u2014 textbraceleft { textbraceright }"
    " lbrace { rbrace } ss ß o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å dh ð DH Ð dj đ DJ Đ"
    " th þ TH Þ i ı j ȷ alpha α beta β gamma γ delta δ epsilon ε lambda λ mu μ pi π sigma σ"
    " omega ω infty ∞ times × LaTeX LaTeX TeX TeX"
)
"""Commands, without the backslash, and the characters that they stand for."""

# Commands that are frequent in titles; none of them is part of a DOI's name
_IN_TITLES = SYMBOLS | _pairs(
    "zeta ζ eta η theta θ iota ι kappa κ nu ν xi ξ rho ρ tau τ phi φ chi χ psi ψ varepsilon ε vartheta ϑ"
    " varphi ϕ Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω"
    " pm ± mp ∓ cdot · le ≤ leq ≤ ge ≥ geq ≥ approx ≈ sim ∼ to → rightarrow → odot ⊙ sun ☉ circ ° degree °"
    " textdegree ° dots … ldots … textellipsis … textregistered ® texttrademark ™ copyright ©"
    " textcopyright © S § pounds £ texteuro € euro € textquotedblleft “ textquotedblright ”"
    " glqq „ grqq “ quotedblbase „ guillemotleft « guillemotright » flqq « frqq »"
    " BibTeX BibTeX ng ŋ NG Ŋ"
)
_SMALL_CAPITALS = 'span style="font-variant:small-caps;"'
_FORMATS = {
    **dict.fromkeys(("emph", "textit", "textsl", "em", "it", "itshape", "sl", "mkbibemph"), "i"),
    **dict.fromkeys(("textbf", "bf", "bfseries", "mkbibbold"), "b"),
    **dict.fromkeys(("textsc", "sc", "scshape"), _SMALL_CAPITALS),
    **dict.fromkeys(("textsuperscript", "^"), "sup"),
    **dict.fromkeys(("textsubscript", "_"), "sub"),
}
_QUOTING = frozenset({"enquote", "mkbibquote", "textquote"})
# BibTeX's own example, xampl.bib, defines \noopsort, whose argument only sorts; others have their own name for it
_NOT_SHOWN = frozenset({"noopsort", "sortnoop", "noop"})
_TOKEN = lazy(
    r"""
    # an accent and its letter: \'e, \'{e}, \v{s}, \'{\i}
    \\ (?P<accent> [`'^"~=.] | [uvHckrdb](?![A-Za-z]) ) \s*
        (?: \{ \s* \\? (?P<braced> [A-Za-z] ) \s* \} | \\? (?P<bare> [A-Za-z] ) )
    # the address of a link, whose text follows
    | \\href \s* \{ [^{}]* \}
    # a command by its name
    | \\ (?P<name> [A-Za-z]+ ) \*? (?: \{\} | [ \t]* )
    # an escaped character, and kinds of space
    | \\ (?P<sign> [%&\#$_{}] )
    | \\ (?P<space> [ ,;:!/\\-] )
    | (?P<open> \{ )
    | (?P<close> \} )
    | (?P<math> \$ | \\[()] )
    # what raises or lowers the next character or group of math
    | (?P<script> [\^_] ) (?P<character> [^\s{}$\\] )?
    | (?P<tie> ~ )
    | (?P<dash> ---? )
    | (?P<quote> ``? | '' )
    # text, or a single character of another kind
    | (?P<text> [^\\{}$^_~`'-]+ | . )
    """,
    re.DOTALL | re.VERBOSE,
)
_OUTER_QUOTES = "“”"
_INNER_QUOTES = "‘’"
_MARKS = lazy(r"[\\{}$^_~`']|--")
_QUOTES = {"``": "“", "`": "‘", "''": "”"}
_WORD = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# The words without capitals in title case, by the Chicago Manual of Style: articles, conjunctions, prepositions
_SMALL_WORDS = frozenset(
    "a about above across after against along among an and around as at before behind below between beyond"  # noqa: SIM905
    " but by concerning down during et for from if in inside into like near nor of off on onto or out over per"
    " past so than that the through throughout to toward towards under until up upon v versus via vs with within"
    " without yet".split()
)
_LONGEST_ABBREVIATION = 4  # letters of "Conf.", in which a full stop ends no sentence
_SINGLE_QUOTED = lazy(r"(‘[^‘’']*)'(?!\w)")
_SENTENCE_START = lazy(
    r"""
    (?: ^ | [:?!.] )
    (?: [\s“‘"'(] | </?\w+[^<>]*> )*    # spaces, opening quotation marks, tags
    \Z
    """,
    re.VERBOSE,
)


def plain_text(tex: str) -> str:
    r"""Return the text that TeX shows, without markup: commands that are not known show their arguments.

    >>> plain_text(r"{\"U}ber {\emph{Drosophila}} -- \'etude")
    'Über Drosophila – étude'
    """
    return _finished("".join(piece.text for piece in _shown(tex) if not piece.is_tag))


def rich_text(tex: str, *, sentence_case: bool = False) -> str:
    r"""Return the text that TeX shows, with the tags of CSL's rich text.

    :param sentence_case: lower the capitals of words in English title case, as BibTeX does; braces protect
        them. Text with other words without capitals than "of" and "with" is in sentence case already, or not in
        English, and stays

    >>> rich_text(r"The \emph{Use} of H$_2$O in {France}", sentence_case=True)
    'The <i>use</i> of H<sub>2</sub>O in France'
    >>> rich_text("Lehrbuch der Softwaretechnik", sentence_case=True)
    'Lehrbuch der Softwaretechnik'
    """
    pieces = _shown(tex)
    text = "".join(piece.text for piece in pieces)
    if sentence_case:
        text = _in_sentence_case(text, pieces)
    return _finished(text)


def _finished(text: str) -> str:
    return _SINGLE_QUOTED.sub(r"\1’", " ".join(text.split()))


class _Piece(NamedTuple):
    """A piece of the text that TeX shows."""

    text: str
    is_tag: bool = False
    keeps_case: bool = False


def _in_sentence_case(text: str, pieces: Iterable[_Piece]) -> str:
    """Return a text whose words in title case have no capitals, but for protected ones and beginnings."""
    words = _words_to_lower(text, pieces)
    if any(_is_in_sentence_case(text, word) for word in words):
        return text
    characters = list(text)
    for word in words:
        if _is_capitalized(word[0]) and not _keeps_capital(text, word):
            characters[word.start()] = word[0][0].lower()
    return "".join(characters)


def _words_to_lower(text: str, pieces: Iterable[_Piece]) -> list[re.Match[str]]:
    """Return the words that are neither part of a tag nor protected by braces."""
    kept = bytearray()
    for piece in pieces:
        mark = b"x" if piece.is_tag or piece.keeps_case else b" "
        kept += mark * len(piece.text)
    return [word for word in _WORD.finditer(text) if b"x" not in kept[slice(*word.span())]]


def _is_in_sentence_case(text: str, word: re.Match[str]) -> bool:
    """Return whether a word lacks the capital that it would have in English title case."""
    if not word[0].islower() or len(word[0]) == 1 or word[0] in _SMALL_WORDS:
        return False
    previous = text[word.start() - 1 : word.start()]
    # as in "Pre-training", "E.coli" and "3rd"
    is_part_of_word = previous in {"-", "."} or previous.isdigit()
    return not is_part_of_word


def _is_capitalized(word: str) -> bool:
    """Return whether a word has one capital, its first letter, as "A" but unlike "I" and "DNA"."""
    return word == "A" or (word[0].isupper() and word[1:].islower())


def _keeps_capital(text: str, word: re.Match[str]) -> bool:
    """Return whether a word is an abbreviation, such as "Conf." or that of "E.coli", or begins a sentence."""
    rest = text[word.end() :]
    if rest[:1] == "." and rest[1:].strip():
        is_short = len(word[0]) <= _LONGEST_ABBREVIATION
        if is_short or not rest[1].isspace():
            return True
    return _SENTENCE_START.search(text, max(0, word.start() - 99), word.start()) is not None


class _Group(NamedTuple):
    """What a brace opens: what is shown where it opens and closes, and how the text in it is."""

    opening: tuple[_Piece, ...] = ()
    closing: tuple[_Piece, ...] = ()
    keeps_case: bool = False
    is_shown: bool = True
    is_quoted: bool = False


def _shown(tex: str) -> list[_Piece]:
    """Return the pieces of the text that TeX shows."""
    if not _MARKS.search(tex):  # most fields; twice as fast
        return [_Piece(tex)]
    reader = _Reader()
    for token in _TOKEN.finditer(tex):
        reader.read(token)
    return reader.pieces


class _Reader:
    """Reads TeX token by token.

    :ivar pieces: the pieces of the text so far.
    """

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []
        self._groups: list[_Group] = []  # those that are open
        self._next_group: _Group | None = None  # that of the argument of the last command
        self._is_math = False

    def read(self, token: re.Match[str]) -> None:
        """Read the next token."""
        if token["open"]:
            self._open()
        elif token["close"]:
            self._close()
        elif token["math"]:
            self._is_math = not self._is_math
        elif token["script"] and self._is_math:
            self._read_script(token)
        elif token["name"]:
            self._read_command(token)
        else:
            self._show(_meaning(token))
            self._next_group = None

    def _open(self) -> None:
        group = self._next_group
        if group is None:
            group = _Group(keeps_case=True)
        if self._is_shown():
            self.pieces += group.opening
        self._next_group = None
        self._groups.append(group)

    def _close(self) -> None:
        self._next_group = None
        if self._groups:
            is_shown = self._is_shown()
            closing = self._groups.pop().closing
            if is_shown:
                self.pieces += closing

    def _read_script(self, token: re.Match[str]) -> None:
        """Read what raises or lowers a character or a group."""
        tag = _FORMATS[token["script"]]
        if token["character"] is None:
            self._next_group = _formatted(tag)
            return
        if self._is_shown():
            self.pieces.append(_opening_tag(tag))
            self._show(token["character"])
            self.pieces.append(_closing_tag(tag))
        self._next_group = None

    def _read_command(self, token: re.Match[str]) -> None:
        name = token["name"]
        has_argument = token.string.startswith("{", token.end())
        self._next_group = _Group()
        if name in _FORMATS and has_argument:
            self._next_group = _formatted(_FORMATS[name])
        elif name in _FORMATS:
            self._switch(_FORMATS[name])
        elif name in _QUOTING and has_argument:
            is_inner = any(group.is_quoted for group in self._groups)
            marks = _INNER_QUOTES if is_inner else _OUTER_QUOTES
            self._next_group = _quoted(marks)
        elif name.lower() in _NOT_SHOWN:
            self._next_group = _Group(is_shown=False)
        else:
            self._show(_IN_TITLES.get(name, ""))

    def _switch(self, tag: str) -> None:
        r"""Change the format up to the end of the group, as the command in ``{\em …}`` does."""
        if self._groups and self._is_shown():
            self.pieces.append(_opening_tag(tag))
            group = self._groups[-1]
            self._groups[-1] = group._replace(closing=(_closing_tag(tag), *group.closing))

    def _show(self, text: str) -> None:
        if text and self._is_shown():
            keeps_case = self._is_math or any(group.keeps_case for group in self._groups)
            self.pieces.append(_Piece(text, keeps_case=keeps_case))

    def _is_shown(self) -> bool:
        return all(group.is_shown for group in self._groups)


def _formatted(tag: str) -> _Group:
    return _Group(opening=(_opening_tag(tag),), closing=(_closing_tag(tag),))


def _quoted(marks: str) -> _Group:
    """Return the group of a quotation between two marks."""
    opening = _Piece(marks[0])
    closing = _Piece(marks[1])
    return _Group(opening=(opening,), closing=(closing,), is_quoted=True)


def _opening_tag(tag: str) -> _Piece:
    return _Piece(f"<{tag}>", is_tag=True)


def _closing_tag(tag: str) -> _Piece:
    name = tag.partition(" ")[0]
    return _Piece(f"</{name}>", is_tag=True)


def _meaning(token: re.Match[str]) -> str:
    """Return what a token shows that is neither a command nor a brace."""
    if token["accent"]:
        letter = token["braced"] or token["bare"]
        return unicodedata.normalize("NFC", letter + ACCENTS[token["accent"]])
    if token["dash"]:
        return "–" if token["dash"] == "--" else "—"
    if token["quote"]:
        return _QUOTES[token["quote"]]
    if token["space"]:
        return "" if token["space"] in "/-!" else " "
    if token["tie"]:
        return " "
    if token["script"]:
        return token[0]
    return token["sign"] or token["text"]
