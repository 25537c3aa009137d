"""Runs as HTML, Markdown, LaTeX and plain text: each read again by a parser of its host."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import product
from typing import get_args
from urllib.parse import unquote

import markdown
import pytest
from csl.styles import processor_of, style_of
from doiuri.tex import HARMLESS, SYMBOLS
from doiuri_csl import Cite, Format, Run, to_html, to_latex, to_markdown
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.checks import assert_same

Look = frozenset[Format]
Character = tuple[str, Look, str]
"""A character, how it looks, and where it leads to."""

# What hosts read as markup
HOSTILE = [
    *"\\`*_{}[]()<>#+-.!|~^$&%@:=\"',;/?",
    *(
        "**",
        "__",
        "``",
        "![",
        "](",
        "<b>",
        "</i>",
        "<!--",
        "&amp;",
        "&copy",
        "&#42;",
        "{{x}}",
        "1. ",
        "2) ",
    ),
    *(
        "- ",
        "# ",
        "> ",
        "---",
        "===",
        "!!! note",
        "    ",
        "\t",
        ":smile:",
        "++x++",
        "==x==",
        "$x$",
        "[^1]: ",
    ),
    *(
        r"\input{x}",
        r"\end{document}",
        "^^5c",
        "--",
        ",,",
        "?`",
        "!`",
        "<<",
        "''",
        "```",
        "\\\\",
        "\\[1]",
    ),
    *(
        "\n",
        "\r",
        "\0",
        "\x02",
        "\x0c",
        "\u2028",
        "\u00a0",
        "\u202f",
        "e\u0301",
        "é",
        "ß",
        "ﬁ",
        "文",
        "𝛼",
        "¿",
        "×",
        "«",
        "—",
    ),
    *("a", "B", "12", " ", "word", "javascript:alert(1)", "www.example.org", "https://example.org"),
]
LINKS = [
    *(
        "",
        "",
        "",
        "https://doi.org/10.1000/1",
        "https://doi.org/10.1/(SICI)1<1::A>3.0.CO;2-#",
        "http://a.b/x_y_z*w*",
    ),
    *(
        "https://a.b/?x=1&copy;=2",
        "https://a.b/a b\"'`$x$\\",
        "https://é.de/ü",
        "https://a.b/%3Cx%3E",
        "javascript:alert(1)",
    ),
]
FORMATS: tuple[Format, ...] = get_args(Format)


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=6).map("".join)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    link = draw(st.sampled_from(LINKS))
    text = draw(texts())
    if link and draw(st.booleans()):
        text = link
    return Run(text, frozenset(draw(st.lists(st.sampled_from(FORMATS), max_size=2))), link)


ITALIC: Look = frozenset({"italic"})
BOLD: Look = frozenset({"bold"})

# What a text turns into where it stands, or beside its neighbours
TRAPS = {
    **{
        start: [Run(f"{start} Doe"), Run("\n"), Run(f"{start} Doe")]
        for start in (
            "1.",
            "2)",
            "#",
            "-",
            "+",
            "*",
            ">",
            "|",
            "===",
            "---",
            "```",
            "~~~",
            "!!!",
            "???",
            ":",
            "    ",
        )
    },
    "italics, then bold": [Run("a", ITALIC), Run("b", BOLD)],
    "italics, then oblique": [Run("a", ITALIC), Run("b", frozenset({"oblique"}))],
    "bold, then italics": [Run("a", BOLD), Run("b", ITALIC)],
    "bold italics, then italics": [Run("a", BOLD | ITALIC), Run("b", ITALIC), Run("c", BOLD)],
    "punctuation at the start": [Run("a"), Run("(b", ITALIC), Run(" c")],
    "punctuation at the end": [Run("a "), Run("b)", BOLD), Run("c")],
    "ends of lines": [Run("a\r# b\x0c# c\u2028# d")],
    "an image": [Run("Wow!"), Run("x", link="https://example.org")],
    "an entity from two runs": [
        Run("R&"),
        Run("amp;", frozenset({"bold"})),
        Run(" &"),
        Run("lt; &copy;"),
    ],
    "ligatures": [Run("a--b---c ,,d'' ``e'' <<f>> ?`g !`h -- \"i\"")],
    "options": [Run("[1]"), Run("\n"), Run("[2]*")],
    "a letter with an accent": [Run("Cafe\u0301")],
    "a tag": [Run("\n", frozenset({"underline"})), Run("a", frozenset({"underline"}))],
    "an address with a fragment": [
        Run("https://a.b/%23#c", frozenset({"italic"}), "https://a.b/%23#c")
    ],
}
LINES = st.lists(st.one_of(runs(), st.just(Run("\n"))), max_size=5)
TAGS: dict[str, Format] = {
    "i": "italic",
    "em": "italic",
    "b": "bold",
    "strong": "bold",
    "u": "underline",
    "sup": "superscript",
    "sub": "subscript",
}
STYLES: dict[str, Format] = {
    "font-variant: small-caps": "small-caps",
    "font-weight: lighter": "light",
}


class Reader(HTMLParser):
    """Reads the characters of HTML with what they look like; its paragraphs and breaks are spaces."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.characters: list[Character] = []
        self.unexpected: list[str] = []
        self._formats: list[Format | None] = []
        self._link = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"p", "br"}:
            return
        attributes = dict(attrs)
        if tag == "a":
            self._link = attributes.get("href") or ""
        elif tag in TAGS or attributes.get("style") in STYLES:
            self._formats.append(TAGS.get(tag) or STYLES[attributes["style"] or ""])
        else:
            self.unexpected.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._link = ""
        elif tag not in {"p", "br"}:
            self._formats.pop()

    def handle_data(self, data: str) -> None:
        look = frozenset(name for name in self._formats if name)
        self.characters += ((character, look, self._link) for character in data)


def shown(characters: Iterable[Character]) -> list[Character]:
    """Return what readers see: no spaces, of which a browser decides."""
    return [character for character in characters if is_visible(character[0])]


def is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) != "Cc"


def meant(written: Iterable[Run]) -> list[Character]:
    """Return what runs mean, as the writers promise to show it."""
    characters: list[Character] = []
    for run in written:
        look = frozenset(map(as_read, run.formats))
        link = run.link if run.link.startswith("http") else ""
        characters += ((character, look, link) for character in run.text)
    return shown(characters)


def as_read(name: Format) -> Format:
    return "italic" if name == "oblique" else name


def words(text: str) -> str:
    """Return a text in which each space, visible or not, and each control character is one blank."""
    return " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in text).split())


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it-py": MarkdownIt("commonmark").render,
    "markdown-it-py, all extensions": MarkdownIt("js-default", {"html": True}).render,
    "Python-Markdown": markdown.markdown,
    "Python-Markdown with extensions": lambda source: markdown.markdown(
        source, extensions=["extra", "admonition", "attr_list", "def_list", "sane_lists", "toc"]
    ),
}


def check_markdown(name: str, written: list[Run]) -> None:
    source = to_markdown(written)

    page = Reader(RENDERERS[name](source))

    read = shown(page.characters)
    expected = meant(written)
    assert page.unexpected == [], source
    assert (text(read), looks(read)) == (text(expected), looks(expected)), source


@pytest.mark.parametrize("name", RENDERERS)
@given(LINES)
def test_markdown_shows_what_the_runs_say(name: str, written: list[Run]) -> None:
    check_markdown(name, written)


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.parametrize("trap", TRAPS)
def test_markdown_shows_what_is_easily_misread(name: str, trap: str) -> None:
    check_markdown(name, TRAPS[trap])


def text(characters: list[Character]) -> str:
    return "".join(character for character, _, _ in characters)


def looks(characters: list[Character]) -> list[list[str]]:
    return [sorted(look) for _, look, _ in characters]


def test_markdown_is_what_people_write() -> None:
    written = [
        Run("Bak, P. & Tang, C. (1987). "),
        Run("Is it critical?", ITALIC),
        Run(" ("),
        Run("Phys. Rev.", ITALIC),
        Run(" "),
        Run("59", BOLD),
        Run("). "),
        Run("https://doi.org/10.1000/1", link="https://doi.org/10.1000/1"),
    ]

    assert to_markdown(written) == (
        "Bak, P. & Tang, C. (1987). *Is it critical?* (*Phys. Rev.* **59**). <https://doi.org/10.1000/1>"
    )


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.parametrize("link", [link for link in LINKS if link.startswith("http")])
@pytest.mark.parametrize("text", ["", "10.1000/1 [x](y)"], ids=["its address", "a text"])
def test_links_in_markdown_lead_to_their_addresses(name: str, link: str, text: str) -> None:
    page = Reader(RENDERERS[name](to_markdown([Run(text or link, link=link)])))

    targets = {unquote(target) for _, _, target in page.characters if target}
    assert targets == {unquote(link)}


# TeX as LaTeX reads it, with the T1 encoding: The TeXbook, chapters 7 and 8
TOKEN = re.compile(
    r"""
    \\url\{ (?P<address> [^{}\\%\#]* ) \}
  | \\ (?P<command> [A-Za-z]+ | . )
  | \{ (?P<bracket> [][] ) \}
  | (?P<ligature> -- | ,, | '' | `` | << | >> | [?!]` )
  | (?P<character> . )
    """,
    re.VERBOSE | re.DOTALL,
)
LOOKS: dict[str, Format] = {
    "underline": "underline",
    "textbf": "bold",
    "textit": "italic",
    "textsl": "italic",
    "textsc": "small-caps",
    "textsuperscript": "superscript",
    "textsubscript": "subscript",
}
OTHERS = {"`": "`", ",": " ", "\\": " "}


@dataclass
class TeX:
    """What LaTeX shows of a source."""

    source: str
    characters: list[Character] = field(default_factory=list)
    commands: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    """What TeX would read as something other than text."""

    def __post_init__(self) -> None:
        groups: list[Look] = [frozenset()]
        look: Look = frozenset()
        for token in TOKEN.finditer(self.source):
            command = token["command"]
            character = token["character"]
            if token["address"] is not None:
                self.commands.add("url")
                self._show(token["address"], groups[-1], token["address"])
            elif token["bracket"]:
                self._show(token["bracket"], groups[-1])
            elif command in LOOKS:
                self.commands.add(command)
                look = frozenset({LOOKS[command]})
            elif command is not None and command in "#$%&_{}":
                self._show(command, groups[-1])
            elif command is not None:
                self.commands.add(command)
                self._show(OTHERS.get(command) or SYMBOLS[command], groups[-1])
            elif character == "{":
                groups.append(groups[-1] | look)
                look = frozenset()
            elif character == "}":
                groups.pop()
            elif token["ligature"] or character in "#$%&_^[]'`<>|":
                self.refused.append(token[0])
            else:
                self._show(" " if character == "~" else character, groups[-1])
        # TeX reads a form feed as the end of a paragraph, which no argument may contain
        self.refused += re.findall(r"[\x00-\x09\x0b-\x1f]", self.source)
        if len(groups) != 1:
            self.refused.append("a group that is not closed")

    def _show(self, text: str, look: Look, link: str = "") -> None:
        self.characters += ((character, look, link) for character in text)


def check_latex(written: list[Run]) -> None:
    source = to_latex(written)

    page = TeX(source)

    expected = meant(map(as_in_latex, written))
    read = shown(page.characters)
    assert (page.refused, text(read), looks(read)) == ([], text(expected), looks(expected)), source


@given(LINES)
def test_latex_shows_what_the_runs_say(written: list[Run]) -> None:
    check_latex(written)


@pytest.mark.parametrize("trap", TRAPS)
def test_latex_shows_what_is_easily_misread(trap: str) -> None:
    check_latex(TRAPS[trap])


def as_in_latex(run: Run) -> Run:
    """Return a run without what LaTeX lacks: light fonts, and accents as characters of their own."""
    composed = unicodedata.normalize("NFC", run.text)
    return run._replace(text=composed, formats=run.formats - {"light"})


@given(LINES)
def test_latex_has_no_other_commands_than_the_entries_of_lock_bib(written: list[Run]) -> None:
    commands = set(re.findall(r"\\([A-Za-z]+)", to_latex(written)))

    assert commands <= HARMLESS


# The LaTeX2e Short Math and Text Guide, and babel on '"'
LATEX_ESCAPES = {
    "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_", "{": r"\{", "}": r"\}",
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "'": r"\textquotesingle{}",
    "`": r"\`{}", '"': '"{}', "[": "{[}", "]": "{]}", "--": "-{}-", ",,": ",{},",
    "\u00a0": "~", "\u202f": r"\,", "\u2009": r"\,",
}  # fmt: skip
# CommonMark, Backslash escapes and Entity references; Python-Markdown, Extensions
MARKDOWN_ESCAPES = {
    "\\": r"\\", "`": r"\`", "*": r"\*", "_": r"\_", "{": r"\{", "}": r"\}", "[": r"\[", "]": r"\]",
    "<": "&lt;", ">": "&gt;", "~": "&#126;", "^": "&#94;", "$": "&#36;", "|": "&#124;", "@": "&#64;",
    "++": r"\++", "==": "&#61;=", ":b:": "&#58;b:", "&b": "&amp;b", "&#": "&amp;#",
    "& ": "& ", "=": "=", "+": "+", ": ": ": ", "! ": "! ", "#": "#",
}  # fmt: skip
MARKDOWN_AT_START = {
    "#": r"\#", "+": r"\+", "-": r"\-", "!!": r"\!!", "!": "!", "=": "&#61;", ":": "&#58;", "?": "&#63;",
    "1.": r"1\.", "12)": r"12\)", "1": "1",
}  # fmt: skip


def test_each_special_character_is_escaped() -> None:
    for special, latex in LATEX_ESCAPES.items():
        assert_same(f"{special!a} in LaTeX", to_latex([Run(f"a{special}b")]), f"a{latex}b")
    for special, written in MARKDOWN_ESCAPES.items():
        assert_same(f"{special!r} in Markdown", to_markdown([Run(f"a{special}b")]), f"a{written}b")
    for special, written in MARKDOWN_AT_START.items():
        text = to_markdown([Run(f"{special} b")])
        assert_same(f"{special!r} begins a line of Markdown", text, f"{written} b")


IN_BOTH = "./:;,?!=+*()@_~'-A0"


def test_an_address_is_a_link_of_its_own_if_it_has_only_harmless_characters() -> None:
    for character in f'{IN_BOTH}&$#%^{{}}[]"<> é':
        address = f"https://a.b/x{character}y"
        run = Run(address, link=address)
        in_latex = to_latex([run]) == rf"\url{{{address}}}"
        in_markdown = to_markdown([run]) == f"<{address}>"
        assert in_latex is (character in f"{IN_BOTH}&$"), f"{character!r} in LaTeX"
        assert in_markdown is (character in f"{IN_BOTH}#"), f"{character!r} in Markdown"


def test_an_address_in_markdown_keeps_the_characters_of_addresses() -> None:
    """RFC 3986, 2.2 and 2.3; in Markdown, "&" is written as an entity, and "$" would be mathematics."""
    for character in "!#%'()*+,/:;=?@[]~":
        address = f"https://a.b/x{character}y"
        assert_same(f"{character!r}", to_markdown([Run("t", link=address)]), f"[t](<{address}>)")
    assert_same("&", to_markdown([Run("t", link="https://a.b/x&y")]), "[t](<https://a.b/x&amp;y>)")


# CSL 1.0.2, Formatting: an attribute, its value, and what stands for it in HTML
IN_HTML = {
    ("font-style", "italic"): "<i>{}</i>",
    ("font-style", "oblique"): "<em>{}</em>",
    ("font-style", "normal"): "{}",
    ("font-weight", "bold"): "<b>{}</b>",
    ("font-weight", "light"): '<span style="font-weight: lighter">{}</span>',
    ("font-variant", "small-caps"): '<span style="font-variant: small-caps">{}</span>',
    ("text-decoration", "underline"): "<u>{}</u>",
    ("vertical-align", "sup"): "<sup>{}</sup>",
    ("vertical-align", "sub"): "<sub>{}</sub>",
    ("vertical-align", "baseline"): "{}",
}
# The tags of a field (citeproc-js, HTML-like formatting tags)
OF_FIELDS = {
    "<i>x</i>": "<i>{}</i>",
    "<b>x</b>": "<b>{}</b>",
    "<sub>x</sub>": "<sub>{}</sub>",
    "<sup>x</sup>": "<sup>{}</sup>",
    "<sc>x</sc>": '<span style="font-variant: small-caps">{}</span>',
    '<span style="font-variant:small-caps;">x</span>': '<span style="font-variant: small-caps">{}</span>',
    '<span class="nocase">x</span>': "{}",
}
# Of ASCII, of Latin-1, and those of Unicode
CONTROLS = "\x00\x01\x0c\x1f\x7f\x80\x85\x9f\u2028\u2029"


def test_each_format_of_styles_and_fields_is_an_element_of_html() -> None:
    for (name, value), element in IN_HTML.items():
        html = _html_of("x", f'{name}="{value}"')
        assert_same(f'{name}="{value}"', html, element.format("x"))
    for field_, element in OF_FIELDS.items():
        assert_same(f"{field_} in a field", _html_of(field_, ""), element.format("x"))


def _html_of(title: str, attributes: str) -> str:
    xml = style_of(f'<text variable="title" {attributes}/>')
    return to_html(processor_of(xml, [{"id": "x", "title": title}], [[Cite("x")]]).citation(0))


def test_a_control_character_is_written_as_a_space() -> None:
    for character, write in product(CONTROLS, (to_latex, to_markdown)):
        assert_same(f"{character!a}", write([Run(f"a{character}b")]), "a b")


@pytest.mark.parametrize("scheme", ["https://", "http://", "HTTPS://", "ftp://", "javascript:", ""])
def test_only_addresses_of_the_web_are_links_in_markdown(scheme: str) -> None:
    written = to_markdown([Run("x", link=f"{scheme}a.b")])

    assert ("](" in written) is (scheme in {"https://", "http://"}), f"{scheme!r}: {written!r}"


# Each format in Markdown, with HTML for those that it lacks, and in LaTeX, which lacks a light weight
WRITTEN: dict[Format, tuple[str, str]] = {
    "italic": ("*x*", r"\textit{x}"),
    "oblique": ("*x*", r"\textsl{x}"),
    "bold": ("**x**", r"\textbf{x}"),
    "light": ('<span style="font-weight: lighter">x</span>', "x"),
    "small-caps": ('<span style="font-variant: small-caps">x</span>', r"\textsc{x}"),
    "underline": ("<u>x</u>", r"\underline{x}"),
    "superscript": ("<sup>x</sup>", r"\textsuperscript{x}"),
    "subscript": ("<sub>x</sub>", r"\textsubscript{x}"),
}


def test_each_format_is_a_mark_a_tag_or_a_command() -> None:
    for name, (in_markdown, in_latex) in WRITTEN.items():
        run = Run("x", frozenset({name}))
        assert_same(f"{name} in Markdown", to_markdown([run]), in_markdown)
        assert_same(f"{name} in LaTeX", to_latex([run]), in_latex)
