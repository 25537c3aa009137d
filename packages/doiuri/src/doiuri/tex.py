r"""TeX: its accents and symbols, and the text that it shows."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from doiuri._notation import FUNCTIONS, lowered, needs_brackets, raised
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ACCENTS", "HARMLESS", "SYMBOLS", "plain_text", "rich_text", "unknown_commands"]


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

HARMLESS = frozenset((*ACCENTS, *SYMBOLS)).union(
    """
    emph textit textsl textbf textsc textrm textsf texttt textup textnormal textsuperscript textsubscript
    em it itshape sl bf bfseries sc scshape rm sf tt mkbibemph mkbibbold mkbibquote enquote textquote url
    textregistered texttrademark textcopyright copyright textdegree textellipsis dots ldots cdots
    textquotedblleft textquotedblright glqq grqq flqq frqq quotedblbase quotesinglbase guillemotleft
    guillemotright guilsinglleft guilsinglright texteuro euro pounds S P ng NG BibTeX
    textonehalf textonequarter textthreequarters textmu textohm
    relax space ensuremath mbox text ifmmode else fi left right
    mathrm mathbf mathit mathsf mathtt mathcal mathfrak mathbb mathscr boldsymbol operatorname
    frac sqrt hbar ell Re Im nabla partial prime sum prod int bar hat tilde vec dot ddot check breve acute
    grave overline underline langle rangle lbrack rbrack lfloor rfloor lceil rceil vert Vert mid parallel perp
    zeta eta theta iota kappa nu xi rho tau upsilon phi chi psi varepsilon vartheta varphi varrho varsigma varpi
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega aleph
    pm mp cdot ast star circ bullet div le leq ge geq ne neq ll gg approx sim simeq cong equiv propto
    to rightarrow leftarrow leftrightarrow Rightarrow Leftarrow uparrow downarrow odot oplus otimes sun degree
    in subset subseteq cup cap wedge vee neg forall exists emptyset
    log ln exp sin cos tan min max lim
    """.split()  # noqa: SIM905
)
"""The commands that TeX may run in the text of strangers: each shows a character or changes how text looks."""

# Commands that are frequent in titles; none of them is part of a DOI's name
_IN_TITLES = SYMBOLS | _pairs(
    "zeta ζ eta η theta θ iota ι kappa κ nu ν xi ξ rho ρ tau τ upsilon υ phi φ chi χ psi ψ varepsilon ε"
    " vartheta ϑ varphi ϕ varrho ϱ varsigma ς Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ"
    " Phi Φ Psi Ψ Omega Ω textmu µ hbar ħ hslash ħ ell ℓ partial ∂ nabla ∇ aleph ℵ Re ℜ Im ℑ prime ′"
    " langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | mid | Vert ‖ parallel ∥ perp ⊥"
    " pm ± mp ∓ cdot · times × div ÷ ast ∗ star ⋆ bullet • le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ll ≪"
    " gg ≫ lesssim ≲ gtrsim ≳ ne ≠ neq ≠ approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ to → rightarrow →"
    " leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftrightarrow ⇔ mapsto ↦ uparrow ↑ downarrow ↓"
    " in ∈ subset ⊂ subseteq ⊆ cup ∪ cap ∩ setminus ∖ emptyset ∅ varnothing ∅ forall ∀ exists ∃ neg ¬"
    " wedge ∧ vee ∨ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙ sum ∑ prod ∏ int ∫ sun ☉ circ ° degree °"
    " textdegree ° dots … ldots … cdots ⋯ textellipsis … textregistered ® texttrademark ™ copyright ©"
    " textcopyright © S § textsection § P ¶ textparagraph ¶ dag † dagger † textdagger † ddag ‡ textbullet •"
    " textperiodcentered · pounds £ textsterling £ texteuro € euro € textyen ¥ textcent ¢"
    " textonehalf ½ textonequarter ¼ textthreequarters ¾ textonesuperior ¹ texttwosuperior ² textthreesuperior ³"
    " textordmasculine º textordfeminine ª textexclamdown ¡ textquestiondown ¿ texttimes × textpm ±"
    " textquotedblleft “ textquotedblright ” glqq „ grqq “ quotedblbase „ quotesinglbase ‚ guillemotleft «"
    " guillemotright » guilsinglleft ‹ guilsinglright › flqq « frqq » lq ‘ rq ’"
    " BibTeX BibTeX LaTeXe LaTeX2ε ng ŋ NG Ŋ ohorn ơ OHORN Ơ uhorn ư UHORN Ư"
)
# Accents that no DOI has: Vietnamese, Cyrillic and phonetic ones
_OTHER_ACCENTS = _pairs("h \u0309 G \u030f U \u030d f \u0311 t \u0361")
_FORMULA_ACCENTS = _pairs(
    "textcommabelow \u0326 acute \u0301 grave \u0300 hat \u0302 widehat \u0302 tilde \u0303 widetilde \u0303"
    " check \u030c bar \u0304 overline \u0304 breve \u0306 dot \u0307 ddot \u0308 vec \u20d7 mathring \u030a"
)
# Commands that change how their argument looks, and commands of which only the last argument is shown
_WRAPPERS = frozenset(
    "mbox hbox text textrm textnormal textup textsf texttt textmd textlf emphasis underline uline mathrm mathbf"  # noqa: SIM905
    " mathit mathsf mathtt mathcal mathbb mathfrak mathscr mathnormal boldsymbol bm operatorname ensuremath url"
    " nolinkurl path natexlab bibnamefont bibfnamefont".split()
)
_LAST_ARGUMENTS = frozenset(
    "href textcolor colorbox foreignlanguage texorpdfstring bibinfo bibfield".split()  # noqa: SIM905
)
# Commands that show nothing by themselves
_INVISIBLE = frozenset(
    "relax protect left right middle big Big bigg Bigg bigl Bigl bigr Bigr biggl biggr displaystyle textstyle"  # noqa: SIM905
    " scriptstyle limits nolimits rm tt sf cal mit normalfont rmfamily ttfamily sffamily upshape mdseries"
    " noindent nobreak allowbreak unskip ignorespaces xspace null".split()
)
_SPACES = frozenset("quad qquad space newline linebreak par thinspace enspace hfill".split())  # noqa: SIM905
_FRACTIONS = frozenset("frac dfrac tfrac cfrac nicefrac sfrac".split())  # noqa: SIM905
_ACCENT_MARKS = ACCENTS | _OTHER_ACCENTS
_NO_CASE = 'span class="nocase"'
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
_NOT_SHOWN = frozenset({"noopsort", "sortnoop", "noop", "phantom", "hspace", "vspace"})
_TOKEN = lazy(
    r"""
    # an accent, whose letter follows
    \\ (?P<accent> [`'^"~=.] | [uvHckrdbhGUft](?![A-Za-z]) )
    # a command by its name
    | \\ (?P<name> [A-Za-z]+ ) \*? (?: \{\} | [ \t]* )
    # an escaped character, and kinds of space
    | \\ (?P<sign> [%&\#$_{}] )
    | \\ (?P<space> [ ,;:!/\\@-] )
    | (?P<open> \{ )
    | (?P<close> \} )
    | (?P<math> \$ | \\[()\[\]] )
    # any other character after a backslash
    | \\ (?P<other> \S )
    # what raises or lowers the next character or group of math
    | (?P<script> [\^_] )
    | (?P<tie> ~ )
    | (?P<dash> ---? )
    | (?P<quote> ``? | '' )
    # text, or a single character of another kind
    | (?P<text> [^\\{}$^_~`'-]+ | . )
    """,
    re.DOTALL | re.VERBOSE,
)
_OPTION = lazy(r"\[([^][{}]*)\]")
_BRACE = lazy(r"\\.|[{}]", re.DOTALL)
_DOTLESS = {"ı": "i", "ȷ": "j"}
_DEEPEST = 50  # groups, accents and formats in each other; no title has as many
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
    r"""Return the text that TeX shows, without markup. A command that is not known stays as it is written.

    >>> plain_text(r"{\"U}ber {\emph{Drosophila}} -- \'etude, $10^5$ \unknown{cells}")
    'Über Drosophila – étude, 10⁵ \\unknown{cells}'
    """
    return _finished(_without_tags(_pieces_of(tex)))


def rich_text(tex: str, *, sentence_case: bool = False) -> str:
    r"""Return the text that TeX shows, with the tags of CSL's rich text; see also ``plain_text``.

    :param sentence_case: lower the capitals of words in English title case, as BibTeX does; braces protect
        them. Text with other words without capitals than "of" and "with" is in sentence case already, or not in
        English, and stays

    >>> rich_text(r"The \emph{Use} of H$_2$O in {France}", sentence_case=True)
    'The <i>use</i> of H<sub>2</sub>O in France'
    >>> rich_text("Lehrbuch der Softwaretechnik", sentence_case=True)
    'Lehrbuch der Softwaretechnik'
    """
    pieces = _pieces_of(tex)
    text = "".join(piece.text for piece in pieces)
    if sentence_case:
        text = _in_sentence_case(text, pieces)
    return _finished(text)


def unknown_commands(tex: str) -> list[str]:
    r"""Return the commands that are not known, which stay as they are written.

    >>> unknown_commands(r"On \emph{\foo{cold}} fusion\baz")
    ['\\foo', '\\baz']
    """
    if "\\" not in tex:
        return []
    interpreter = _Interpreter(tex)
    interpreter.read(_Mode())
    return list(dict.fromkeys(interpreter.unknown))


def _finished(text: str) -> str:
    """Return text with single spaces, and with a closing mark in place of the apostrophe in "‘so'"."""
    return _SINGLE_QUOTED.sub(r"\1’", " ".join(text.split()))


class _TextPiece(NamedTuple):
    """A piece of the text that TeX shows, or a tag of CSL's rich text around it."""

    text: str
    is_tag: bool = False
    keeps_case: bool = False


# Stands before and after a function or a fraction, where `_separated` puts a space if a word is beside it
_APART = _TextPiece("\0")


def _in_sentence_case(text: str, pieces: Iterable[_TextPiece]) -> str:
    """Return a text in title case with lower initials: "Ants of France: A Study" as "Ants of france: A study".

    Braces protect words, as "{France}"; text that is in sentence case already stays.
    """
    words = _words_to_lower(text, pieces)
    if any(_is_in_sentence_case(text, word) for word in words):
        return text
    characters = list(text)
    for word in words:
        if _is_capitalized(word[0]) and not _keeps_capital(text, word):
            characters[word.start()] = word[0][0].lower()
    return "".join(characters)


def _words_to_lower(text: str, pieces: Iterable[_TextPiece]) -> list[re.Match[str]]:
    """Return the words that are neither part of a tag nor protected by braces."""
    is_protected: list[bool] = []  # for each character of the text
    for piece in pieces:
        is_protected += [piece.is_tag or piece.keeps_case] * len(piece.text)
    words = _WORD.finditer(text)
    return [word for word in words if not any(is_protected[word.start() : word.end()])]


def _is_in_sentence_case(text: str, word: re.Match[str]) -> bool:
    """Return whether a word lacks the capital that it would have in English title case, as "ants" but not "of"."""
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
    has_stop_inside = rest[:1] == "." and rest[1:].strip() != ""
    if has_stop_inside:
        is_short = len(word[0]) <= _LONGEST_ABBREVIATION
        if is_short or not rest[1].isspace():
            return True
    return _SENTENCE_START.search(text, max(0, word.start() - 99), word.start()) is not None


class _Mode(NamedTuple):
    """How the text at a place is shown."""

    keeps_case: bool = False  # it stands in braces
    is_math: bool = False
    is_quoted: bool = False
    is_in_group: bool = False  # which a brace ends
    depth: int = 0  # of groups, arguments and formats in each other

    def deeper(self, **changes: bool) -> _Mode:
        """Return the mode of a group, an argument or a format in text of this mode."""
        return self._replace(depth=self.depth + 1, **changes)


def _pieces_of(tex: str) -> list[_TextPiece]:
    """Return the pieces of the text that TeX shows."""
    if not _MARKS.search(tex):  # most fields; twice as fast
        return [_TextPiece(tex)]
    return _separated(_Interpreter(tex).read(_Mode()))


class _Interpreter:
    """Reads TeX token by token.

    1. ``read`` reads a group, or all of the text, in a mode, such as that of formulas or of quotations.
    2. ``_token`` returns what a token shows. Accents and commands take their arguments from the text that follows.
    3. ``_command`` knows commands of text, ``_formula`` those of formulas. Any other stays as it is written, with
       its arguments, and is remembered.

    :ivar unknown: the commands so far that are not known, with their backslashes.
    """

    def __init__(self, tex: str) -> None:
        self.unknown: list[str] = []
        self._tex = tex
        self._place = 0  # of the next token

    def read(self, mode: _Mode, ends: tuple[str, ...] = ()) -> list[_TextPiece]:
        """Read up to the brace that closes the group, up to a command in ``ends``, or up to the end."""
        if mode.depth > _DEEPEST:
            return self._as_text(self._place, len(self._tex))
        pieces: list[_TextPiece] = []
        while (token := self._next()) is not None:
            if token["name"] in ends or (token["close"] and mode.is_in_group):
                break
            self._place = token.end()
            if token["close"]:  # it closes nothing, and is dropped
                continue
            if token["math"]:
                mode = mode._replace(is_math=not mode.is_math)
            elif token["name"] in _FORMATS and not self._has_argument():
                # up to the end of the group, as in {\em …}; outside of groups, it would be all of the text
                rest = self.read(mode.deeper(), ends)
                if mode.is_in_group:
                    rest = _formatted(_FORMATS[token["name"]], rest)
                pieces += rest
            else:
                pieces += self._token(token, mode)
        return pieces

    def _next(self) -> re.Match[str] | None:
        return _TOKEN.match(self._tex, self._place)

    def _has_argument(self) -> bool:
        return self._tex.startswith("{", self._place)

    def _token(self, token: re.Match[str], mode: _Mode) -> list[_TextPiece]:
        """Return what a token shows, with its arguments."""
        if token["open"]:
            return self._group(mode._replace(keeps_case=True))
        if token["script"] and mode.is_math:
            argument = self._argument(mode)
            # as in "90^\circ"
            is_high_already = [piece.text for piece in argument] in (["°"], ["′"])
            return argument if is_high_already else _formatted(_FORMATS[token["script"]], argument)
        if token["accent"]:
            base = self._argument(mode)
            is_character = not base and token["accent"] in "~^"  # on nothing, as in a URL: \~{}
            if is_character:
                return _text(token["accent"], mode)
            return self._accented(token, _ACCENT_MARKS[token["accent"]], base)
        if token["name"]:
            return self._command(token, mode)
        if token["other"]:
            self.unknown.append(token[0])
        return _text(_meaning(token), mode)

    def _group(self, mode: _Mode) -> list[_TextPiece]:
        """Read a group after its brace."""
        pieces = self.read(mode.deeper(is_in_group=True))
        self._place += 1  # the closing brace
        return pieces

    def _argument(self, mode: _Mode) -> list[_TextPiece]:
        """Read the next argument: a group, a token, or a character; nothing where a group or a formula ends."""
        while self._tex[self._place : self._place + 1].isspace():
            self._place += 1
        token = self._next()
        if token is None or token["close"] or token["math"]:
            return []
        if token["text"]:
            character = _first_character(token["text"])
            self._place += len(character)
            return _text(character, mode)
        if mode.depth > _DEEPEST:
            return self._as_text(self._place, len(self._tex))
        self._place = token.end()
        if token["open"]:
            return self._group(mode)
        return self._token(token, mode.deeper())

    def _command(self, token: re.Match[str], mode: _Mode) -> list[_TextPiece]:
        """Return what a command shows, with its arguments."""
        name = token["name"]
        if name in _IN_TITLES:
            return _text(_IN_TITLES[name], mode)
        if name in _FORMATS:
            return _formatted(_FORMATS[name], self._argument(mode))
        if name in _QUOTING and self._has_argument():
            marks = _INNER_QUOTES if mode.is_quoted else _OUTER_QUOTES
            quoted = self._argument(mode._replace(is_quoted=True))
            return [_TextPiece(marks[0]), *quoted, _TextPiece(marks[1])]
        if name in _FORMULA_ACCENTS:
            base = self._argument(mode)
            letters = "".join(piece.text for piece in base if not piece.is_tag)
            is_over_one_letter = letters != "" and letters == _first_character(letters)
            if not is_over_one_letter:
                return self._unknown(token)
            return self._accented(token, _FORMULA_ACCENTS[name], base)
        if name in _WRAPPERS:
            return self._argument(mode) if self._has_argument() else []
        if name in _LAST_ARGUMENTS:
            self._place = self._end_of_options(self._place)
            self._argument(mode)
            return self._argument(mode)
        if name.lower() in _NOT_SHOWN:
            self._argument(mode)
            return []
        if name in _INVISIBLE:
            return []
        return self._formula(token, mode)

    def _formula(self, token: re.Match[str], mode: _Mode) -> list[_TextPiece]:
        """Return what a command of formulas shows; one that is not known stays as it is written."""
        name = token["name"]
        if name in _SPACES:
            return [_TextPiece(" ")]
        if name in FUNCTIONS:
            return [_APART, *_text(name, mode), _APART]
        if name == "sqrt":
            return self._root(mode)
        if name == "ifmmode":
            return self._by_mode(token, mode)
        if name in _FRACTIONS:
            upper = _in_brackets(self._argument(mode))
            lower = _in_brackets(self._argument(mode))
            if upper and lower:
                return [_APART, *upper, *_text("/", mode), *lower, _APART]
        return self._unknown(token)

    def _unknown(self, token: re.Match[str]) -> list[_TextPiece]:
        """Return a command that is not known as it is written, with its arguments."""
        self.unknown.append(f"\\{token['name']}")
        end = max(self._place, self._end_of_arguments(token.end()))
        return self._as_text(token.start(), end)

    def _root(self, mode: _Mode) -> list[_TextPiece]:
        r"""Read the degree and the argument of ``\sqrt[3]{a+b}``, and return "³√(a+b)"."""
        option = _OPTION.match(self._tex, self._place)
        degree: list[_TextPiece] = []
        if option is not None:
            self._place = option.end()
            degree = _formatted("sup", _text(option[1], mode))
        return [*degree, *_text("√", mode), *_in_brackets(self._argument(mode)), _APART]

    def _by_mode(self, token: re.Match[str], mode: _Mode) -> list[_TextPiece]:
        r"""Read ``\ifmmode … \else … \fi``, with which the American Physical Society exports accents."""
        in_math = self.read(mode.deeper(), ("else", "fi"))
        in_text: list[_TextPiece] = []
        if self._skip("else"):
            in_text = self.read(mode.deeper(), ("fi",))
        if not self._skip("fi"):
            return self._unknown(token)
        return in_math if mode.is_math else in_text

    def _skip(self, name: str) -> bool:
        """Go on behind a command if it is next, and return whether it is."""
        token = self._next()
        if token is None or token["name"] != name:
            return False
        self._place = token.end()
        return True

    def _accented(
        self, token: re.Match[str], mark: str, base: list[_TextPiece]
    ) -> list[_TextPiece]:
        """Return the argument of an accent with the accent on its first character.

        That may stand in a format, between tags. If it is no letter, the accent stays as it is written.
        """
        for index, piece in enumerate(base):
            text = piece.text.lstrip()
            if text[:1].isalnum():
                accented = piece._replace(text=_with_mark(text, mark))
                tags = [tag for tag in base[:index] if tag.is_tag]
                return [*tags, accented, *base[index + 1 :]]
            if text and not piece.is_tag:
                break
        if not base:
            self.unknown.append(f"\\{token['accent']}")
        return self._as_text(token.start(), self._place)

    def _end_of_arguments(self, start: int) -> int:
        """Return where the options and groups end that begin at ``start``."""
        end = self._end_of_options(start)
        while self._tex.startswith("{", end):
            end = self._end_of_options(self._end_of_group(end))
        return end

    def _end_of_options(self, start: int) -> int:
        """Return where the options in square brackets end that begin at ``start``."""
        end = start
        while (option := _OPTION.match(self._tex, end)) is not None:
            end = option.end()
        return end

    def _end_of_group(self, start: int) -> int:
        """Return the end of the group whose brace is at ``start``: after its other brace, or that of the text."""
        depth = 0
        for brace in _BRACE.finditer(self._tex, start):
            if brace[0] == "{":
                depth += 1
            elif brace[0] == "}":
                depth -= 1
            if depth == 0:
                return brace.end()
        return len(self._tex)

    def _as_text(self, start: int, end: int) -> list[_TextPiece]:
        """Return TeX as it is written, and go on behind it; no style changes its case."""
        self._place = end
        return _formatted(_NO_CASE, [_TextPiece(self._tex[start:end], keeps_case=True)])


def _text(text: str, mode: _Mode) -> list[_TextPiece]:
    """Return a text as a piece; nothing if it is empty."""
    keeps_case = mode.keeps_case or mode.is_math
    return [_TextPiece(text, keeps_case=keeps_case)] if text else []


def _formatted(tag: str, pieces: list[_TextPiece]) -> list[_TextPiece]:
    """Return pieces between two tags, such as ``<i>`` and ``</i>``; nothing if there are none."""
    if not pieces:
        return []
    name = tag.partition(" ")[0]
    return [_TextPiece(f"<{tag}>", is_tag=True), *pieces, _TextPiece(f"</{name}>", is_tag=True)]


def _in_brackets(pieces: list[_TextPiece]) -> list[_TextPiece]:
    """Return a part of a fraction or of a root, in brackets if it is more than one term."""
    terms = [piece.text for piece in pieces if not piece.is_tag and piece != _APART]
    if not needs_brackets("".join(terms)):
        return pieces
    return [_TextPiece("("), *pieces, _TextPiece(")")]


def _with_mark(text: str, mark: str) -> str:
    """Return text with an accent on its first character, which may have others already: "ế" of "ê" and "́"."""
    character = _first_character(text)
    letter = _DOTLESS.get(character[0], character[0])
    accented = unicodedata.normalize("NFC", f"{letter}{character[1:]}{mark}")
    return f"{accented}{text[len(character) :]}"


def _first_character(text: str) -> str:
    """Return the first character of a text with the accents that follow it."""
    end = 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[:end]


def _separated(pieces: Iterable[_TextPiece]) -> list[_TextPiece]:
    r"""Return pieces with spaces where fractions and functions would run together with words and numbers.

    "2\sin x" is "2 sin x", but "(\sin x)" needs no space.
    """
    separated: list[_TextPiece] = []
    is_apart = False
    for piece in pieces:
        if piece == _APART:
            is_apart = True
            continue
        if is_apart and separated and _ends_word(separated[-1]) and _begins_word(piece):
            separated.append(_TextPiece(" "))
        is_apart = False
        separated.append(piece)
    return separated


def _ends_word(piece: _TextPiece) -> bool:
    return piece.text.startswith("</") if piece.is_tag else piece.text[-1].isalnum()


def _begins_word(piece: _TextPiece) -> bool:
    return piece.text in {"<i>", "<b>"} if piece.is_tag else piece.text[0].isalnum()


def _without_tags(pieces: Iterable[_TextPiece]) -> str:
    """Return the text of pieces, with raised and lowered characters in place of tags, such as "10⁵"."""
    texts: list[str] = []
    starts: list[int] = []  # where the texts of the scripts begin that are open
    for piece in pieces:
        if not piece.is_tag:
            texts.append(piece.text)
        elif piece.text in {"<sup>", "<sub>"}:
            starts.append(len(texts))
        elif piece.text in {"</sup>", "</sub>"}:
            shift = raised if piece.text == "</sup>" else lowered
            start = starts.pop()
            texts[start:] = [shift("".join(texts[start:]))]
    return "".join(texts)


def _meaning(token: re.Match[str]) -> str:
    """Return what a token shows that is neither a command nor a brace: "–" for "--", "" for a soft hyphen."""
    if token["dash"]:
        return "–" if token["dash"] == "--" else "—"
    if token["quote"]:
        return _QUOTES[token["quote"]]
    if token["space"]:
        return "" if token["space"] in "/-!@" else " "
    if token["tie"]:
        return " "
    return token["sign"] or token[0]
