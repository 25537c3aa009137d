"""find in texts composed of forms, names, sentences and blocks, so that each mention is known beforehand."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations_with_replacement, cycle, product
from typing import NamedTuple
from urllib.parse import quote

import pytest
from doiuri import LINK, encode, find
from doiuri.tex import ACCENTS, SYMBOLS, plain_text
from support.adversary import SYNTAXES

SICI = "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"
NAMES = [
    "10.1000/182",
    "10.1016/S0140-6736(05)67778-3",
    "10.1007/978-3-319-12345-6_7",
    SICI,
    "10.1000/a&b",
]
NAMES += [
    "10.26321/Á.GUTIÉRREZ.Ü2",
    "10.1000.10/a[b]/c",
    "10.1000/50%off",
    "10.1000/x*y",
    "10.1000/l'o",
]
NAMES += ["10.1000/1/doi"]
SHORT = "10.12/x"  # counts with a label only
# Only between delimiters
ODD = ["10.1000/a.", "10.1000/a)b", "10.1000/a,b;", "10.1000/'a'b", "10.1000/x(y", "10.1000/a?b#c"]


Write = Callable[[str], str]


def replacing(
    pattern: str,
    replacement: str | Callable[[re.Match[str]], str],
    write: Write = str,
    count: int = 0,
) -> Write:
    return lambda name: re.sub(pattern, replacement, write(name), count=count)


def unless(pattern: str, write: Write) -> Write:
    """As ``write``, but names with such marks are not written at all."""

    def write_allowed(name: str) -> str:
        return "" if re.search(pattern, name) else write(name)

    return write_allowed


def link(name: str) -> str:
    return encode(name, LINK)


def html_text(name: str) -> str:
    return html.escape(name, quote=False)


def html_link(name: str) -> str:
    return html.escape(link(name))


link_text = unless("[?#]", str)  # which end it
html_numbers = replacing(r"[^\w./-]", lambda match: f"&#{ord(match[0])};")
html_broken = replacing("/", "/<wbr>", replacing(r"\.", "\u200b.", html_text, 1))
html_blank = unless("[<>&]|10.12/", replacing("/", "/\n ", count=1))
json_slashes = replacing("/", r"\\/")
json_escapes = replacing(
    "/", r"\\/", replacing(r"[^\w./]", lambda match: rf"\u{ord(match[0]):04x}")
)
json_upper = replacing(r"(?<=\\u)....", lambda match: match[0].upper(), json_escapes)
escapes = unless("&", partial(quote, safe=""))  # an escaped "&" is that of the outer query
lower_escapes = replacing("%..", lambda match: match[0].lower(), escapes)
badge = replacing("[-_]", r"\g<0>\g<0>", escapes)
backslashes = replacing(r"[^\w./():;-]|_", r"\\\g<0>")


def tex(name: str) -> str:
    text = re.sub(r"[_%&#]", r"\\\g<0>", name).replace("<", r"{\textless}").replace(">", "$>$")
    return text.replace("Á", r"{\'A}").replace("É", r"\'{E}").replace("Ü", r"{\"U}")


def tex_link(name: str) -> str:
    return tex(link(name))


tex_braces = unless(r"[^\x00-\x7f]", replacing("[A-Z]+", r"{\g<0>}", tex))
tex_double_braces = replacing("[{}]", r"\g<0>\g<0>", tex_braces)
tex_lines = replacing("-", "\n  -", replacing("/", "/%\n   ", tex, 1), 1)


class Form(NamedTuple):
    """A way to write a mention: ‹› are around it, {} is the name as written."""

    text: str
    write: Write = str  # "" if the form cannot have the name
    is_whole: bool = False  # delimited: nothing of the name is trimmed
    is_block: bool = False  # has lines for itself

    @property
    def is_labelled(self) -> bool:
        return re.search("doi|hdl", self.text, re.IGNORECASE) is not None

    @property
    def is_delimited(self) -> bool:
        return self.is_whole and self.text.count("{}") == 1


LEADS = [
    "",
    "doi:",
    "https://doi.org/",
    "DOI: ",
    "Doi ",
    "DOI",
    "info:doi/",
    "hdl:",
    "URN:doi:",
    "DOI\u00a0",
]
LEADS += [
    "HTTP://DX.DOI.ORG/",
    "doi.org/",
    "//doi.org/",
    "https://www.doi.org/doi/",
    "https://doi.org/doi:",
]
LEADS += ["https://doi.org:443/", "https://doi.org./", "http://doi.org:8080/api/handles/"]


def running(write: Write, *others: Write) -> list[Form]:
    forms = [Form(f"‹{lead}{{}}›", write) for lead in LEADS]
    return forms + [Form(f"‹{lead}{{}}›", other) for lead, other in product(LEADS[:3], others)]


def inline(write: Write, *texts: str) -> list[Form]:
    return [Form(text, write) for text in texts]


def whole(write: Write, *texts: str) -> list[Form]:
    return [Form(text, write, is_whole=True) for text in texts]


def block(write: Write, *texts: str) -> list[Form]:
    return [Form(text, write, is_whole=True, is_block=True) for text in texts]


TAG = '<a href="‹https://doi.org/{}›">x</a>'
JATS = ["pub-id", "article-id", "object-id"]
URLS = [
    "https://x.org/?a=b&c=‹{}›",
    "a=b&c=‹{}›",
    "https://x.org/?a=b+‹{}›",
    "https://x.org/?a=‹https://doi.org/{}›",
]
FORMS = {
    "text": [
        *running(str, link),
        *inline(json_slashes, '"doi": "‹{}›"', r'"‹https:\/\/doi.org\/{}›"'),
        *inline(json_escapes, '"doi": "‹{}›"'),
        *inline(json_upper, '"DOI":"‹{}›"'),
        *inline(lower_escapes, "‹https://doi.org/{}›", "https://x/?a=%3a‹{}›&b"),
        *inline(encode, *map("".join, product(URLS, ["", "&d", "#f", "%20OR%20b"]))),
        *inline(
            encode,
            *map("https://x.org/‹{{}}›{}".format, ["/full?a", ".full.pdf", ".svg", "/suppinfo"]),
        ),
        *inline(
            escapes,
            *map("https://x/?a=%22‹{{}}›{}".format, ["%22", "%20OR%20b", "%26c=d", "%3Fc#"]),
        ),
        *inline(
            badge,
            *map("https://img.shields.io/badge/‹{{}}›{}".format, ["", "-blue", "_(x)-red.svg?a"]),
        ),
    ],
    "html": [
        *running(html_text, html_numbers, html_broken),
        *whole(html_link, TAG, "<A title='a>b' HREF='‹https://doi.org/{}›'>x</A>"),
        *whole(html_link, "<a href=‹https://doi.org/{}›>x</a>", '<a href=" ‹doi:{}› ">x</a>'),
        *inline(html_text, "<doi>‹{}›</doi>", "<dt>DOI</dt>\n<dd>‹{}›</dd>"),
        *inline(html_text, *map('<{0} pub-id-type="doi">‹{{}}›</{0}>'.format, JATS)),
        *inline(html_blank, *map("<{0} pub-id-type='doi'>‹{{}}›</{0}>".format, JATS)),
        *inline(html.escape, '<meta name="citation_doi" content="‹{}›">'),
        *inline(encode, "<img src='https://x.org/?a=b&amp;c=‹{}›&amp;d=e'>"),
        *inline(str, "<![CDATA[‹doi:{}›]]>", '<SCRIPT>a<b="‹doi:{}›"</SCRIPT>'),
        *inline(json_slashes, '<script>{"doi":"‹{}›"}</script>'),
    ],
    "markdown": [
        *running(backslashes, html_numbers),
        *whole(
            encode,
            "[x](‹https://doi.org/{}›)",
            "[x](‹https://doi.org/{}› 't')",
            "![x]( <‹doi:{}›> )",
        ),
        *whole(encode, "<‹https://doi.org/{}›>", "<‹DOI:{}›>", "[‹{}›](‹https://doi.org/{}›)"),
        *whole(str, "`‹{}›`", "{doi}`‹{}›`"),
        *whole(link_text, "``‹doi:{}›``", "[x](<‹https://doi.org/{}›>)"),
        *whole(html_link, TAG),
        *block(encode, "[x]: ‹https://doi.org/{}› 't'", "[x]:\n  <‹doi:{}›>"),
        *block(str, "```\n‹{}›\n```"),
        Form("~~~ x\n‹doi:{}›\n~~~", is_block=True),
        *inline(encode, "[x](https://x.org/?a=b&c=‹{}›&d 't')"),
    ],
    "rst": [
        *running(backslashes),
        *whole(str, ":doi:`‹{}›`", ":DOI:`t <‹{}›>`", ":x-doi:`‹{}›<‹{}›>`", ":file:`‹{}›`"),
        *whole(encode, "`t <‹https://doi.org/{}›>`_", "`a <b> <‹doi:{}›>`__"),
        *inline(str, "``‹{}›``"),
        *block(
            encode,
            ".. _x: ‹https://doi.org/{}›",
            ".. _`x: y`:\n   ‹doi:{}›",
            "__ ‹https://doi.org/{}›",
        ),
    ],
    "asciidoc": [
        *running(unless(r"\[", str), unless(r"\[", link)),
        *whole(
            encode,
            "‹https://doi.org/{}›[x]",
            "link:‹https://doi.org/{}›[x^]",
            "‹doi:{}›[x,window=_blank]",
        ),
        *whole(
            unless(r"\[", encode),
            "link:++‹https://doi.org/{}›++[x]",
            "link:pass:[‹https://doi.org/{}›][x]",
            "‹https://doi.org/{}›[‹doi:{}›]",
        ),
        *whole(unless(r"\[", str), "`+‹{}›+`", "pass:q[‹{}›]", "$$‹{}›$$"),
        *inline(unless(r"\[", str), "\\‹https://doi.org/{}›", "[.x]*‹{}›*"),
        *block(
            encode,
            ".‹https://doi.org/{}›[*x*]",
            "|‹https://doi.org/{}›[x]|y",
            "* _‹https://doi.org/{}›[x]_",
        ),
    ],
    "bibtex": [
        *running(tex, tex_braces),
        *whole(
            tex_link,
            r"\url{‹https://doi.org/{}›}",
            r"\href {‹doi:{}›}{x}",
            "ee={‹https://doi.org/{}›},",
        ),
        *whole(tex, r"\doi{‹{}›}", "doi = {‹{}›},", 'DOI              = "‹{}›",', "Doi={{‹{}›}},"),
        *whole(str, "doi = {‹{}›},"),
        *whole(tex_lines, "doi = {‹{}›},", "DOI = {\n ‹{}›\n},"),
        *whole(tex_braces, "doi = {‹{}›},"),
        *whole(tex_double_braces, "doi = {‹{}›},"),
        *whole(
            link_text,
            *map("{} = {{‹https://doi.org/{{}}›}},".format, ["url", "Ee", "link", "LINK", "DOI"]),
        ),
    ],
}
SENTENCES = (
    "{}¦see {}.¦({}).¦[{}]¦\"{}\"¦“{}.”¦‘{}’¦«{}»¦'{}'¦{}, and¦{}; x¦{}: x¦is it {}?¦{}!¦{}…¦{}'s x¦x\n{}\ny"
    "¦x\t{}\tx¦{}—yes¦参见{}。¦（{}）¦{} (x)"
)
MARKED = {
    "text": "<{}>¦{}</b>¦{}[PubMed]¦|{}|¦{{}}",
    "html": "<b>{}</b>¦<td>{}<br>x¦&lt;{}&gt;¦&quot;{}&quot;¦{}&nbsp;x¦{}&hellip;¦a < b {} > c",
    "markdown": "**{}**¦__{}__¦~~{}~~¦| {} | x¦{}[^1].¦{}\\\nx¦[{}]¦[^1]: {}.",
    "rst": "*{}*¦**{}**¦|{}|¦{}\\ [1]_.¦.. note:: {}.¦:x: {}¦* {}\n",
    "asciidoc": "**{}**¦_{}_¦#{}#¦`{}`¦*_{}_*¦|{}|¦x footnote:[{}.]¦. {}\n¦_a {}_¦{} +\nx",
    "bibtex": "``{}''¦`{}'¦{}~x¦\\emph{{}}¦{}\\footnote{x}¦{}\\\\\nx¦note = {{}.},",
}
# Blocks without a mention, whose markup must not reach the next one
OTHERS = {
    "text": "x¦(a [b {c <d¦10.0.0.1/24, 10.5/3¦doi? No",
    "html": "<!-- a 'b -->¦a < b & c¦<p class='a>b'>¦<style>a{}</style>¦<script>a</script>¦&#49;0",
    "markdown": "a ` b¦a `` b ~~~ c¦```\n` \\_\n```¦[a](b \\_¦- a `b`\n- c¦<!-- ` -->¦[a]: b¦> ~~~ `"
    "¦~~~~ x\n` \\_\n~~~\n~~~~~ ¦- ```\n  [a](\n  ```¦> ```\n> `\n> ````",
    "rst": "a ` b¦a `` b¦*a¦a_ `b <c>`_ \\*¦.. _a: b¦.. code:: c\n\n   ``d¦::\n\n  `¦__ a",
    "asciidoc": "a * b¦a _b¦a `b¦.T\n----\nb *`\n----¦// a *b¦|===\n|a *b |c\n|===¦:a: b¦* a\n** b¦C++ a"
    "¦{lt} +a¦link:a[¦pass:[a¦$$a",
    "bibtex": 'title = {a {B}¦}¦x~y \\_ \\\'{e}¦@misc{a,¦% {¦note = "a {B} c",¦\\url{a¦$a',
}
# What is not of a name: what comes before it, what follows, and a second name or nothing
APPENDED = {
    "https://x.org/‹{}›": (
        "/status.svg¦/abs¦/abstract¦/full¦/fulltext¦/full-pdf¦/data¦/galley/1¦/pdf¦/epdf¦/pdfft¦/epub"
        "¦/HTML¦/htm"
        "¦/meta¦/summary¦/references¦/citation¦/citedby¦/cited-by/¦/figures¦/tables¦/metrics¦/suppinfo"
        "¦/suppl_file/a"
        "¦/supplementary¦/download¦/standard¦/tab-article¦/article¦/export¦/bibtex¦/ris¦/transform"
        "¦/agency¦/assets"
        "¦/media¦/comments¦/share¦/issuetoc¦/activities¦/preview¦/reader¦/full;a¦/pdf.b\n¦.full"
        "¦.full-text¦.abstract"
        "¦.short¦.long¦.figures-only¦.pdf¦.svg¦.png¦.htm¦.XML¦.epub¦.bib¦.ris¦.json¦.full.pdf+html"
        "¦;jsessionid=a"
        "¦/MediaObjects/a.b"
    ),
    "‹https://doi.org/{}›": (
        "%20¦%0a¦%0D%0A¦%1f¦%7F¦%C2%A0¦%c2%ad¦%E2%80%8B¦%ef%bb%bf¦?a=b¦#a¦$$Ea"
        "¦%5Cnhttp:a¦\u2019¦\u3000¦\ufffd¦\u00b9"
    ),
    "‹doi:{}›": (
        "</i>¦<i>¦<a b>¦<p>¦<br/>¦<em>¦<li>¦<td>¦<th c>¦<tr>¦<div>¦<span>¦<strong>¦<sup>¦<SUB>¦<ref>"
        "¦<cite>¦<code>"
        "¦<italic>¦<bold>¦<img/>¦<hr>¦<!--a¦&quot;a¦&apos;a¦&nbsp;a¦&rdquo;a¦&rsquo;a¦&raquo;a¦&#34;a"
        "¦&#039;a¦&#160;a"
        "¦&lt;/a¦&gt; a¦[^1]¦(http:a)¦[PMID: 1¦;PMCID:1¦,PubMed¦;CrossRef¦,arXiv:1¦;ISBN 1"
        "¦[Google Scholar]¦,www.a"
        "¦;urn:a¦,info:a¦;//a¦ a¦\u00a0a¦'s¦', a¦...¦\u00a9¦\u2122¦->a¦\u3001a¦\uff0ca¦`a¦|a¦\u00bba"
        "¦\u201da¦\u2014a"
    ),
}
# Names that a program is to fill in, and what is a number, a version, a time, an address or a file
NOT_NAMES = (
    "doi:10.1000/{{a}}¦doi:10.1000/${a}¦doi:10.1000/a{b_C.1}¦doi:10.1000/{}¦doi:10.1000/a{0}"
    "¦doi:10.1000/%s¦doi:10.1000/a.%d¦doi:10.1000/<id>¦doi:10.1000/<record_id>¦doi:10.1000/<doi>¦doi:10.1000/<name>¦doi:10.1000/<number>"
    "¦doi:10.1000/<prefix>¦doi:10.1000/<suffix>¦doi:10.1000/<version>¦doi:10.1000/<year>"
    "¦10.1145/1520000/1/a.pdf¦10.1000/1e-5¦10.1000/1.5E+10¦10.1000:1¦10.1000./a¦10..1000/a¦10.1000/¦v10.1000/a¦3.10.1000/a¦$10.1000/a"
    "¦€10.1000/a¦x_10.1000/a¦a@10.1000/a¦1-10.1000/a¦https://x.org/doi/10.1002/hbm"
)
BETWEEN = [" ", " and ", ", ", "; ", " (", "\n", "\t"]

Piece = tuple[str, list[tuple[int, int, str]]]  # a text, and start, end and name of its mentions


def piece(form: Form, name: str) -> Piece:
    text = ""
    found = []
    for number, part in enumerate(re.split("[‹›]", form.text.replace("{}", form.write(name)))):
        if number % 2:
            found.append((len(text), len(text) + len(part), name))
        text += part
    return text, found


def example(form: Form, number: int) -> Piece:
    names = [name for name in NAMES + ODD * form.is_delimited if form.write(name)]
    return piece(form, names[number % len(names)])


def joined(*parts: Piece | str) -> Piece:
    """Return one piece of several, and of texts without mentions between them."""
    whole = ""
    all_found: list[tuple[int, int, str]] = []
    for part in parts:
        if isinstance(part, str):
            whole += part
            continue
        text, found = part
        all_found += [(len(whole) + start, len(whole) + end, name) for start, end, name in found]
        whole += text
    return whole, all_found


def check(pieces: Iterable[Piece], syntax: str) -> None:
    wrong = []
    for text, expected in pieces:
        found = [(match.start, match.end, match.doi.name) for match in find(text, syntax)]
        if found != expected:
            wrong.append(f"{text!r}: {[(text[start:end], name) for start, end, name in found]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_mention_is_found_in_any_sentence(syntax: str) -> None:
    pieces = []
    sentences = f"{SENTENCES}¦{MARKED[syntax]}".split("¦")
    for number, (form, sentence) in enumerate(product(FORMS[syntax], sentences)):
        before, _, after = sentence.partition("{}")
        if not form.is_block and before[:1] not in {"*", "'"}:  # which some names have
            pieces.append(joined(before, example(form, number), after))
    check(pieces, syntax)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_delimited_name_is_taken_whole(syntax: str) -> None:
    forms = [form for form in FORMS[syntax] if form.is_delimited]
    check([piece(form, name) for form, name in product(forms, ODD) if form.write(name)], syntax)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_short_registrant_needs_a_label(syntax: str) -> None:
    pieces = [
        (form, *piece(form, SHORT))
        for form in FORMS[syntax]
        if form.text.count("{}") == 1 and form.write(SHORT)
    ]
    labelled = [(text, found) for form, text, found in pieces if form.is_labelled]
    bare: list[Piece] = [(text, []) for form, text, _ in pieces if not form.is_labelled]
    check(labelled + bare, syntax)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_mention_after_another_is_found_as_if_alone(syntax: str) -> None:
    forms = [*enumerate(form for form in FORMS[syntax] if not form.is_block)]
    betweens = BETWEEN * len(forms) * len(forms)
    pairs = zip(product(forms, forms), betweens, strict=False)
    # Each form stands before every second one, and after every second one
    check(
        [
            joined(example(f, n), between, example(g, m))
            for ((n, f), (m, g)), between in pairs
            if (n + m) % 2 == 0
        ],
        syntax,
    )


# With separators in them, though it is known where they end: by their SICI (ANSI/NISO Z39.56), or by brackets
SICIS = [
    SICI,
    "10.1206/0003(2000)286[1:t]2.0.CO;2",
    "10.1175/1520-0442(1999)012<0001:taote>2.0.co;2",
    "10.1002/(SICI)1097-0258(19970415)16:7<791::AID,SIM>3.0.TX;3-9",
]
BRACKETED = ["10.1000/a(b,c)d", "10.1000/a[b;c]d", "10.1016/S0140-6736(05)67778-3"]
ROWS = "{}\n{}¦{};{}¦{},{}¦;{};{};¦,{},\n,{},¦{}\t{}¦{}|{}¦- {}\n- {}¦| {} | x |\n| {} | y |¦{},\n{}¦'{}','{}'"
ROWS_OF_SICIS = "{};x\n{};y¦{},x\n{},y¦1;{};x\n2;{};y"
WRITTEN: dict[str, list[Write]] = {
    "text": [str],
    "html": [html_text, html_numbers],
    "markdown": [str, backslashes],
    "rst": [str, backslashes],
    "asciidoc": [unless(r"\[", str)],  # it begins the text of a link or macro
    "bibtex": [tex],
}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_name_whose_end_is_known_is_found_in_a_table_or_list_as_if_alone(syntax: str) -> None:
    rows = [*product(ROWS.split("¦"), SICIS + BRACKETED, SICIS + BRACKETED)]
    rows += product(ROWS_OF_SICIS.split("¦"), SICIS, SICIS)
    pieces = []
    leads = cycle(LEADS[:3])
    for (row, *names), write in product(rows, WRITTEN[syntax]):
        form = Form(f"‹{next(leads)}{{}}›", write)
        before, between, after = row.split("{}")
        if all(map(write, names)):
            first, second = (piece(form, name) for name in names)
            pieces.append(joined(before, first, between, second, after))
    check(pieces, syntax)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_block_is_read_as_if_alone(syntax: str) -> None:
    """With either end of lines; every second pair of blocks has that of Windows."""
    others = [
        Form(before + text) for before, text in product(["", "‹{}›\n"], OTHERS[syntax].split("¦"))
    ]
    blocks = [*enumerate(others + FORMS[syntax])]
    ends = ("\n", "\r\n")
    read = {
        (n, end): example(form._replace(text=form.text.replace("\n", end)), n)
        for (n, form), end in product(blocks, ends)
    }
    pieces = []
    for (number, _), (other, _) in combinations_with_replacement(blocks, 2):
        end = ends[(number + other) % 2]
        one = read[number, end]
        pieces.append(joined(one, 2 * end, read[other, end], 2 * end, one))
    check(pieces, syntax)


# What begins a construct, and a block behind it that would be read otherwise if the construct went on
INTERRUPTED = {
    ("rst", "a `b\n.. _y: https://doi.org/10.1000/a`b"): "10.1000/a`b",
    ("rst", "a `b\n\n__ https://doi.org/10.1000/a`b"): "10.1000/a`b",
    ("bibtex", "\\url{\n\n10.1000/a.} x"): "10.1000/a",
    ("bibtex", "doi = {\n\n10.1000/a.} x"): "10.1000/a",
    ("bibtex", 'doi = "\n\n10.1000/a." x'): "10.1000/a",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_no_construct_goes_on_behind_its_block(end: str) -> None:
    for (syntax, written), name in INTERRUPTED.items():
        text = written.replace("\n", end)
        found = [match.doi.name for match in find(text, syntax)]
        assert found == [name], f"in {text!r} ({syntax}) {found} is found, not {name}"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_name_in_a_table_ends_at_its_column(separator: str) -> None:
    pieces = []
    for columns, rows, place, head in product((1, 2, 3), (1, 2, 3), (0, 1, 2), ("", "x\ndoi\ny\n")):
        # a smaller table looks like a name with a comma
        if place < columns and rows + columns + len(head) > 3:
            before = place * f"a{separator}"
            after = (columns - place - 1) * f"{separator}b"
            lines = [joined(before, example(Form("‹{}›"), row), after, "\n") for row in range(rows)]
            pieces.append(joined(head.replace("\n", separator, 2), *lines))
    check(pieces, "text")


# The kinds of publications before a name in the URLs of Springer
APPENDED |= {
    f"https://x.org/{kind}:‹{{}}›": "/full¦/fulltext.html¦.pdf" for kind in ("art", "chp", "bok")
}


@pytest.mark.parametrize("mention", APPENDED)
def test_what_is_appended_to_a_name_is_not_part_of_it(mention: str) -> None:
    ends = APPENDED[mention].split("¦")
    check([joined(example(Form(mention), n % 3), end) for n, end in enumerate(ends)], "text")


@pytest.mark.parametrize("text", NOT_NAMES.split("¦"))
def test_what_only_looks_like_a_name_is_not_found(text: str) -> None:
    check([(text, []), joined(text, " and ", example(Form("‹doi:{}›"), 1))], "text")


@pytest.mark.parametrize("command", [*ACCENTS, *SYMBOLS])
def test_tex_in_a_name_is_read_as_elsewhere(command: str) -> None:
    """As ``plain_text`` shows it."""
    argument = "{a}" if command in ACCENTS else "{}"
    for text in (f"\\{command}{argument}", f"{{\\{command}{argument}}}", f"{{\\{command} a}}"):
        name = f"10.1000/x{text}y"
        shown = plain_text(name)
        form = Form("doi = {‹{}›}, \\doi{‹{}›}.", {shown: name}.__getitem__)
        check([piece(form, shown)], "bibtex")
