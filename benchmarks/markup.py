r"""Text as rich in markup as real documents, for ``find.py``; `MIX` says what it consists of.

Each function returns one block of text, which may hold a mention of a DOI.
"""

import html
import random
import re
from collections.abc import Callable

from doiuri import DOI

MIX = (
    "a DOI every 500 to 1,000 characters; decimals, versions, years and https links in all; Markdown: "
    "paragraphs with links, emphasis, code, escapes, entities, lists, tables, fences, badges, definitions; "
    "reST: roles, literals, references, directives, tables, targets, comments; HTML: attributes, entities, "
    "tables, lists, comments, scripts; BibTeX: entries of eight fields, accents, braces, commands"
)

Block = Callable[[random.Random, str], str]
Name = Callable[[random.Random], str]

_WORDS = re.findall(
    r"\S+",
    "the of and for results study journal in we show that data method (see Fig. 3) with: an on is observed; "
    "rates between groups. However, 1990-2010 and/or large-scale e.g. temperature Smith's 10.5 v10.2 2010. "
    "0.05 model 10.4% figure parameters returns version",
)
_SITES = (
    "https://example.org/docs/v10.2/guide.html",
    "https://github.com/a-user/a_project/issues/1042",
    "https://www.example.com/2010/report?id=7&page=10",
)


def _words(chance: random.Random, count: int) -> list[str]:
    return chance.choices(_WORDS, k=count)


def _sentence(chance: random.Random, forms: tuple[str, ...], mention: str, count: int = 40) -> str:
    """Return ``count`` words, every fifth in one of the ``forms`` of markup, and the mention among them."""
    words = _words(chance, count)
    for place in range(2, count, 5):
        words[place] = _filled(chance, chance.choice(forms))
    words.insert(count // 2, mention)
    return " ".join(words)


def _filled(chance: random.Random, form: str) -> str:
    site = chance.choice(_SITES)
    word = chance.choice(("alpha", "a_name", "N10"))
    return form.replace("SITE", site).replace("W", word)


def _choice(*forms: str) -> Callable[[random.Random, str], str]:
    """Return a function that writes a name in one of the forms, for ``{N}``, or its link, for ``{U}``."""

    def written(chance: random.Random, name: str) -> str:
        form = chance.choice(forms)
        plain = html.escape(name) if "<" in form else name
        return form.replace("{U}", html.escape(DOI(name).url)).replace("{N}", plain)

    return written


_MARKDOWN = (
    "[W](SITE)", "*W*", "**W**", "`W = 10`", "`W`", "``W`W``", "a&nbsp;W", "W &amp; W", r"a\_W", "<em>W</em>",
    "SITE", "<SITE>", "![W](images/W.png)", "[W][10]", "a < b", "~~W~~", "_W_",
)  # fmt: skip
_MARKDOWN_DOI = _choice(
    "[W]({U})", "({U})", "doi:{N}", "<{U}>", "[{N}]({U})", "[DOI: {N}]({U}),", "`{N}`", "{U}."
)  # fmt: skip


def _markdown(chance: random.Random, name: str) -> str:
    mention = _MARKDOWN_DOI(chance, name) if name else ""
    kind = chance.randrange(8)
    if kind == 0:
        rows = ""
        for n in range(4):
            cell = _filled(chance, chance.choice(_MARKDOWN))
            rows += f"| {cell} | 10.{n} | `W` |\n"
        return f"| name | value | [W](SITE) |\n| --- | ---: | --- |\n{rows}| {mention} | 2010 | W |\n\n"
    if kind == 1:
        items = [_sentence(chance, _MARKDOWN, text, 10) for text in ("", mention, "", "")]
        return "".join(f"- {item}\n" for item in items) + "\n"
    if kind == 2 and not name:
        return f"```python\nx = [10.5, '{_filled(chance, 'SITE')}']  # {' '.join(_words(chance, 20))}\n```\n\n"
    if kind == 3:
        badge = "[![W](https://img.shields.io/badge/version-10.2-blue.svg)](SITE)"
        return _filled(chance, f"## W\n\n{badge}\n{mention}\n\n[W]: SITE\n\n")
    return _sentence(chance, _MARKDOWN, mention) + "\n\n"


_RST = (
    "`W <SITE>`_", "*W*", "**W**", "``W = 10``", "``W``", ":class:`~a.W`", ":ref:`W`", "`W`_", "W_",
    r"a\ *W*", "SITE", ":math:`W_{10}`", "[W]_", "|W|", "__init__", "a < b", r"a\_W",
)  # fmt: skip
_RST_DOI = _choice(
    ":doi:`{N}`", "`W <{U}>`_", "`{N} <{U}>`__", "{U}", "doi:{N}.", "({N})", "``{N}``"
)


def _rst(chance: random.Random, name: str) -> str:
    mention = _RST_DOI(chance, name) if name else ""
    kind = chance.randrange(8)
    if kind == 0:
        row = f"   * - {_sentence(chance, _RST, '', 5)}\n     - 10.5\n"
        return f".. list-table::\n   :header-rows: 1\n\n{row * 3}   * - {mention}\n     - 2010\n\n"
    if kind == 1:
        note = f".. [{chance.randrange(99)}] {_sentence(chance, _RST, mention, 20)}\n\n"
        return _filled(chance, f".. _W: SITE\n\n.. comment on W in 10.2\n\n{note}")
    if kind == 2:
        words = " ".join(_words(chance, 9))
        return _filled(chance, f".. versionadded:: 10.2\n\n:param W: {words} {mention}\n\n")
    if kind == 3:
        return _filled(chance, "W\n====\n\n::\n\n    x = W[10.5]\n\n") + f"{mention}\n\n"
    return _sentence(chance, _RST, mention) + "\n\n"


_HTML = (
    '<a href="SITE">W</a>', "<em>W</em>", "<b class='W'>W</b>", "<code>W = 10</code>", "a&nbsp;W",
    "W &amp; W", "W&#8217;s", '<img src="/images/W-10.png" alt="W" width="10.5">', "<br>", "<!-- W -->",
    "3 &lt; 10",
    '<span class="W" id="a10">W</span>', "SITE",
)  # fmt: skip
_HTML_DOI = _choice(
    '<a href="{U}">{N}</a>', "<a class='x' href=\"{U}\">W</a>", "<cite>{N}</cite>", "<p>doi:{N}</p>",
    "<b>DOI:</b> {N}",
)  # fmt: skip


def _html(chance: random.Random, name: str) -> str:
    mention = _HTML_DOI(chance, name) if name else ""
    kind = chance.randrange(8)
    if kind == 0:
        rows = ""
        for n in range(4):
            cell = _filled(chance, chance.choice(_HTML))
            rows += f'<tr><td class="W">{cell}</td><td>10.{n}</td></tr>\n'
        return f"<table>\n{rows}<tr><td>{mention}</td></tr>\n</table>\n"
    if kind == 1:
        items = [_sentence(chance, _HTML, text, 10) for text in ("", mention)]
        return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>\n"
    if kind == 2 and not name:
        return f"<script>\nvar x = '{' '.join(_words(chance, 20))}'; if (x < 10.5) f(\"a\\/b\");\n</script>\n"
    return f'<p class="W" data-n="10.2">{_sentence(chance, _HTML, mention)}</p>\n'


_BIBTEX = (
    "{W}",
    "{\\'e}",
    '{\\"o}',
    "$W$",
    "\\emph{W}",
    "a~W",
    "W \\& W",
    "10\\%",
    "{NASA}",
    "\\LaTeX{}",
    "a--b",
)
_BIBTEX_DOI = _choice(
    *["doi = {{N}}"] * 3, *["url = {{U}}"] * 3, "doi       = {{U}}", 'DOI = "{N}"',
    "note = {\\doi{{N}}}", "note = {doi:{N}}"
)  # fmt: skip


def _bibtex(chance: random.Random, name: str) -> str:
    authors = ["Müller, {\\'A}ngel", "Smith, John", r"Gonz\'alez, M."]
    fields = [
        "author = {" + " and ".join(authors[: chance.randrange(1, 4)]),
        "title = {" + _sentence(chance, _BIBTEX, "", 12),
        "journal = {Journal of " + " ".join(_words(chance, 3)),
        f"year = {{{chance.randrange(1990, 2025)}",
        f"volume = {{{chance.randrange(200)}",
        f"pages = {{{chance.randrange(2000)}--{chance.randrange(2000)}",
        "url = {" + _filled(chance, "SITE"),
    ]
    if not name:
        fields.append("abstract = {" + _sentence(chance, _BIBTEX, "", 20))
    body = "".join(f"  {field}}},\n" for field in fields)
    mention = f"  {_BIBTEX_DOI(chance, re.sub('[<>]', '', name))},\n" if name else ""
    return f"@article{{key{chance.randrange(10**6)},\n{body}{mention}}}\n\n"


SYNTAXES: dict[str, Block] = {"markdown": _markdown, "rst": _rst, "html": _html, "bibtex": _bibtex}


def markup(syntax: str, size: int, seed: int, name: Name) -> str:
    """Return about ``size`` characters with a name every 500 to 1,000."""
    chance = random.Random(seed)
    blocks = []
    length = 0
    due = 0  # the length at which the next name is due
    while length < size:
        if length < due:
            block = SYNTAXES[syntax](chance, "")
        else:
            block = SYNTAXES[syntax](chance, name(chance))
            due = length + chance.randrange(500, 1000)
        blocks.append(block)
        length += len(block)
    return "".join(blocks)
