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
    return _finished(_without_tags(_shown(tex)))


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
    pieces = _shown(tex)
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
    reader = _Reader(tex)
    reader.read(_Context())
    return [*dict.fromkeys(reader.unknown)]


def _finished(text: str) -> str:
    return _SINGLE_QUOTED.sub(r"\1’", " ".join(text.split()))


class _Piece(NamedTuple):
    """A piece of the text that TeX shows."""

    text: str
    is_tag: bool = False
    keeps_case: bool = False


_APART = _Piece("\0")  # where a word and what is beside it do not run together


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


class _Context(NamedTuple):
    """How the text at a place is shown."""

    keeps_case: bool = False
    is_math: bool = False
    is_quoted: bool = False
    is_in_group: bool = False
    depth: int = 0

    def deeper(self, **changes: bool) -> _Context:
        """Return the context of what is in this one."""
        return self._replace(depth=self.depth + 1, **changes)


def _shown(tex: str) -> list[_Piece]:
    """Return the pieces of the text that TeX shows."""
    if not _MARKS.search(tex):  # most fields; twice as fast
        return [_Piece(tex)]
    return _separated(_Reader(tex).read(_Context()))


class _Reader:
    """Reads TeX token by token.

    :ivar unknown: the commands so far that are not known, with their backslashes.
    """

    def __init__(self, tex: str) -> None:
        self.unknown: list[str] = []
        self._tex = tex
        self._place = 0  # of the next token

    def read(self, context: _Context, ends: tuple[str, ...] = ()) -> list[_Piece]:
        """Read up to the brace that closes the group, up to a command in ``ends``, or up to the end."""
        if context.depth > _DEEPEST:
            return self._as_text(self._place, len(self._tex))
        pieces: list[_Piece] = []
        while (token := self._next()) is not None:
            if token["name"] in ends or (token["close"] and context.is_in_group):
                break
            self._place = token.end()
            if token["close"]:  # which closes nothing
                continue
            if token["math"]:
                context = context._replace(is_math=not context.is_math)
            elif token["name"] in _FORMATS and not self._has_argument():
                # up to the end of the group, as in {\em …}
                rest = self.read(context.deeper(), ends)
                if context.is_in_group:  # else all of the text has the format
                    rest = _formatted(_FORMATS[token["name"]], rest)
                pieces += rest
            else:
                pieces += self._read(token, context)
        return pieces

    def _next(self) -> re.Match[str] | None:
        return _TOKEN.match(self._tex, self._place)

    def _has_argument(self) -> bool:
        return self._tex.startswith("{", self._place)

    def _read(self, token: re.Match[str], context: _Context) -> list[_Piece]:
        """Return what a token shows, with its arguments."""
        if token["open"]:
            return self._group(context._replace(keeps_case=True))
        if token["script"] and context.is_math:
            argument = self._argument(context)
            is_high = [piece.text for piece in argument] in (["°"], ["′"])
            return argument if is_high else _formatted(_FORMATS[token["script"]], argument)
        if token["accent"]:
            base = self._argument(context)
            is_character = not base and token["accent"] in "~^"  # on nothing, as in a URL
            if is_character:
                return _text(token["accent"], context)
            return self._accented(token, _ACCENT_MARKS[token["accent"]], base)
        if token["name"]:
            return self._command(token, context)
        if token["other"]:
            self.unknown.append(token[0])
        return _text(_meaning(token), context)

    def _group(self, context: _Context) -> list[_Piece]:
        """Read a group after its brace."""
        pieces = self.read(context.deeper(is_in_group=True))
        self._place += 1  # the closing brace
        return pieces

    def _argument(self, context: _Context) -> list[_Piece]:
        """Read an argument: a group, a command, or a character; nothing where a group or a formula ends."""
        while self._tex[self._place : self._place + 1].isspace():
            self._place += 1
        token = self._next()
        if token is None or token["close"] or token["math"]:
            return []
        if token["text"]:
            character = _first_character(token["text"])
            self._place += len(character)
            return _text(character, context)
        if context.depth > _DEEPEST:
            return self._as_text(self._place, len(self._tex))
        self._place = token.end()
        if token["open"]:
            return self._group(context)
        return self._read(token, context.deeper())

    def _command(self, token: re.Match[str], context: _Context) -> list[_Piece]:
        name = token["name"]
        if name in _IN_TITLES:
            return _text(_IN_TITLES[name], context)
        if name in _FORMATS:
            return _formatted(_FORMATS[name], self._argument(context))
        if name in _QUOTING and self._has_argument():
            marks = _INNER_QUOTES if context.is_quoted else _OUTER_QUOTES
            quoted = self._argument(context._replace(is_quoted=True))
            return [_Piece(marks[0]), *quoted, _Piece(marks[1])]
        if name in _FORMULA_ACCENTS:
            base = self._argument(context)
            letters = "".join(piece.text for piece in base if not piece.is_tag)
            if letters and letters == _first_character(letters):
                return self._accented(token, _FORMULA_ACCENTS[name], base)
            # over several letters
            return self._unknown(token)
        if name in _WRAPPERS:
            return self._argument(context) if self._has_argument() else []
        if name in _LAST_ARGUMENTS:
            self._place = self._end_of_options(self._place)
            self._argument(context)
            return self._argument(context)
        if name.lower() in _NOT_SHOWN:
            self._argument(context)
            return []
        if name in _INVISIBLE:
            return []
        return self._formula(token, context)

    def _formula(self, token: re.Match[str], context: _Context) -> list[_Piece]:
        """Return what a command of formulas shows; one that is not known stays as it is written."""
        name = token["name"]
        if name in _SPACES:
            return [_Piece(" ")]
        if name in FUNCTIONS:
            return [_APART, *_text(name, context), _APART]
        if name == "sqrt":
            return self._root(context)
        if name == "ifmmode":
            return self._by_mode(token, context)
        if name in _FRACTIONS:
            upper = _in_brackets(self._argument(context))
            lower = _in_brackets(self._argument(context))
            if upper and lower:
                return [_APART, *upper, *_text("/", context), *lower, _APART]
        return self._unknown(token)

    def _unknown(self, token: re.Match[str]) -> list[_Piece]:
        """Return a command that is not known as it is written, with its arguments."""
        self.unknown.append(f"\\{token['name']}")
        end = max(self._place, self._end_of_arguments(token.end()))
        return self._as_text(token.start(), end)

    def _root(self, context: _Context) -> list[_Piece]:
        option = _OPTION.match(self._tex, self._place)
        degree: list[_Piece] = []
        if option is not None:
            self._place = option.end()
            degree = _formatted("sup", _text(option[1], context))
        return [*degree, *_text("√", context), *_in_brackets(self._argument(context)), _APART]

    def _by_mode(self, token: re.Match[str], context: _Context) -> list[_Piece]:
        r"""Read ``\ifmmode … \else … \fi``, with which the American Physical Society exports accents."""
        in_math = self.read(context.deeper(), ("else", "fi"))
        in_text: list[_Piece] = []
        if self._skip("else"):
            in_text = self.read(context.deeper(), ("fi",))
        if not self._skip("fi"):
            return self._unknown(token)
        return in_math if context.is_math else in_text

    def _skip(self, name: str) -> bool:
        """Go on behind a command if it is next, and return whether it is."""
        token = self._next()
        if token is None or token["name"] != name:
            return False
        self._place = token.end()
        return True

    def _accented(self, token: re.Match[str], mark: str, base: list[_Piece]) -> list[_Piece]:
        """Return the argument of an accent with the accent on its first character."""
        for index, piece in enumerate(base):
            text = piece.text.lstrip()
            if text[:1].isalnum():
                accented = piece._replace(text=_with_mark(text, mark))
                tags = [before for before in base[:index] if before.is_tag]
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
        end = start
        while (option := _OPTION.match(self._tex, end)) is not None:
            end = option.end()
        return end

    def _end_of_group(self, start: int) -> int:
        depth = 0
        for brace in _BRACE.finditer(self._tex, start):
            if brace[0] == "{":
                depth += 1
            elif brace[0] == "}":
                depth -= 1
            if depth == 0:
                return brace.end()
        return len(self._tex)

    def _as_text(self, start: int, end: int) -> list[_Piece]:
        """Return TeX as it is written, which no style changes to title case, and go on behind it."""
        self._place = end
        return _formatted(_NO_CASE, [_Piece(self._tex[start:end], keeps_case=True)])


def _text(text: str, context: _Context) -> list[_Piece]:
    keeps_case = context.keeps_case or context.is_math
    return [_Piece(text, keeps_case=keeps_case)] if text else []


def _formatted(tag: str, pieces: list[_Piece]) -> list[_Piece]:
    """Return pieces in a format; nothing if they are empty."""
    if not pieces:
        return []
    name = tag.partition(" ")[0]
    return [_Piece(f"<{tag}>", is_tag=True), *pieces, _Piece(f"</{name}>", is_tag=True)]


def _in_brackets(pieces: list[_Piece]) -> list[_Piece]:
    """Return a part of a fraction or of a root, in brackets if it is more than one term."""
    terms = [piece.text for piece in pieces if not piece.is_tag and piece != _APART]
    if not needs_brackets("".join(terms)):
        return pieces
    return [_Piece("("), *pieces, _Piece(")")]


def _with_mark(text: str, mark: str) -> str:
    """Return text with an accent on its first character, above or below those that it has already."""
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


def _separated(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Return pieces with spaces where fractions and functions would run together with words and numbers."""
    separated: list[_Piece] = []
    is_apart = False
    for piece in pieces:
        if piece == _APART:
            is_apart = True
            continue
        if is_apart and separated and _ends_word(separated[-1]) and _begins_word(piece):
            separated.append(_Piece(" "))
        is_apart = False
        separated.append(piece)
    return separated


def _ends_word(piece: _Piece) -> bool:
    return piece.text.startswith("</") if piece.is_tag else piece.text[-1].isalnum()


def _begins_word(piece: _Piece) -> bool:
    return piece.text in {"<i>", "<b>"} if piece.is_tag else piece.text[0].isalnum()


def _without_tags(pieces: Iterable[_Piece]) -> str:
    """Return the text of pieces, with characters that are raised and lowered."""
    texts: list[str] = []
    starts: list[int] = []  # of the scripts that are open
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
    """Return what a token shows that is neither a command nor a brace."""
    if token["dash"]:
        return "–" if token["dash"] == "--" else "—"
    if token["quote"]:
        return _QUOTES[token["quote"]]
    if token["space"]:
        return "" if token["space"] in "/-!@" else " "
    if token["tie"]:
        return " "
    return token["sign"] or token[0]
