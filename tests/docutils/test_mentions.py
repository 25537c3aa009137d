r"""DOIs in running text become the same links in each host, and nothing else of a document changes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import docutils_doiuri
import markdown
import markdown_doiuri
import pytest
from docutils import nodes
from docutils.core import publish_doctree, publish_parts
from docutils.parsers import rst
from docutils.writers.html5_polyglot import Writer
from doiuri import DOI, find
from doiuri.plugins.mentions import MentionRule
from doiuri.testing.strategies import dois
from doiuri_proxy import running
from hypothesis import given
from hypothesis import strategies as st
from support.docutils_page import OFF, command
from support.proxy_records import link as record
from support.sphinx_build import links, page

RULE = MentionRule.read({})
PARTS = [
    "doi:10.1000/182",
    "DOI: 10.1000/a(b)c",
    "doi 10.1000/x.y",
    "10.1000/183",
    "mydoi:10.1000/1",
    "doi:10.bad",
    "doi:10.1000",
    "doi：10.1000/wide",
    " https://doi.org/10.1000/184 ",
    *(
        "word",
        "See ",
        "参见",
        " ",
        " ",
        "\nnext ",
        ", ",
        ";",
        ". ",
        "(",
        ")",
        "/",
        "-",
        "'",
        "”",
        "。",
    ),
]
SENTENCES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=8).map(
    lambda parts: "A " + "".join(parts)
)


class Linked(NamedTuple):
    """The links of DOIs in a text, each as its DOI and text, and what has a label, but is not a DOI."""

    links: list[tuple[str, str]]
    bad: set[str]


def document(text: str, **settings: object) -> nodes.document:
    return publish_doctree(
        text, parser=docutils_doiuri.Parser(), settings_overrides={**OFF, **settings}
    )


def in_docutils(text: str, **settings: object) -> Linked:
    told = io.StringIO()
    settings = {"report_level": 2, "warning_stream": told, **settings}
    found = document(text, **settings).findall(nodes.reference)
    linked = [(link["doi"].name, text_of(link)) for link in found if "doi" in link]
    return Linked(linked, set(re.findall("'(.*)' is not a DOI", told.getvalue())))


def text_of(node: nodes.Element) -> str:
    return " ".join(node.astext().split())


def in_markdown(text: str, **options: object) -> Linked:
    bad: set[str] = set()
    extension = markdown_doiuri.makeExtension(
        resolve=False, warn=lambda problem: bad.add(problem.doi), **options
    )
    html = markdown.markdown(text, extensions=[extension])
    linked = [(DOI.from_url(link.href).name, " ".join(link.text.split())) for link in links(html)]
    return Linked(linked, bad)


@given(SENTENCES, st.booleans(), st.booleans())
def test_docutils_links_what_markdown_links(text: str, labelled: bool, names: bool) -> None:
    """Ordinary text means the same in both."""
    ours = in_docutils(text, doi_bare=labelled, doi_bare_names=names)
    assert ours == in_markdown(text, bare=labelled, bare_names=names), text


@given(dois())
def test_escapes_in_a_name_change_nothing_and_an_escaped_blank_ends_it(doi: DOI) -> None:
    escaped = re.sub(r"(\W|_)", r"\\\1", doi.suffix)
    plain = f"A doi:{doi.name}"
    expected = [match.doi.name for match in find(plain) if RULE.includes(plain, match)]
    for after in ("", r"\ s", r"\ *s*"):
        ours = in_docutils(f"A doi:{doi.prefix}/{escaped}{after}").links
        assert [name for name, _ in ours] == expected, (doi.name, after)


RST = {
    "labels": (
        "doi:10.1000/182, DOI: 10.1000/2; doi 10.1000/3. (doi:10.1000/4)",
        ["doi:10.1000/182", "DOI: 10.1000/2", "doi 10.1000/3", "doi:10.1000/4"],
    ),
    "an escaped blank ends a name": (r"doi:10.1000/183\ s", ["doi:10.1000/183"]),
    "an escaped blank begins a mention": (r"on\ doi:10.1000/183", ["doi:10.1000/183"]),
    "an escaped label": (r"\doi:10.1000/1 d\oi:10.1000/2 doi\:10.1000/3", []),
    "an escaped name without a label": (r"\10.1000/1 10.1000/2", ["10.1000/2"]),
    "an escape in a name": (r"doi:10.1000/a\_b\*", ["doi:10.1000/a_b"]),
    "an escape at the end of a name": (r"doi:10.1000/a\b.", ["doi:10.1000/ab"]),
    "the default role": ("doi:`10.1000/182`, DOI: `10.1000/a;b`.", ["doi:10.1000/182", "DOI: 10.1000/a;b"]),
    "the default role without a label": ("see `10.1000/182` :title:`doi:10.1000/1`", []),
    "another role": (r"doi:\ :title:`10.1000/182` doi:``10.1000/183``", []),
    "an emphasized label": ("**DOI:** 10.1000/182 *doi*: 10.1000/183", ["10.1000/182", "10.1000/183"]),
    "emphasis": ("*doi:10.1000/182* and **doi:10.1000/183**.", ["doi:10.1000/182", "doi:10.1000/183"]),
    "a name that goes on": ("doi:10.1000/x/*y* doi:10.1000/z-|s|\n\n.. |s| replace:: *t*", []),
    "a name that a reference ends": ("doi:10.1000/n_\n\n.. _n: https://example.org", []),
    "a mark after a name": ("doi:10.1000/182\\ [1]_\n\n.. [1] Text", ["doi:10.1000/182"]),
    "a line break": ("doi:\n10.1000/182", ["doi: 10.1000/182"]),
    "a substitution": ("|s| |s|\n\n.. |s| replace:: doi:10.1000/182", ["doi:10.1000/182"] * 2),
    "code and math": ("``doi:10.1000/1`` :math:`doi:10.1000/2` :code:`doi:10.1000/3`::\n\n  doi:10.1000/4", []),
    "a reference": ("`doi:10.1000/1 <https://example.org>`__ `doi:10.1000/2`__\n\n__ https://example.org", []),
    "a target": ("_`doi:10.1000/1` text", []),
    "raw text": (".. raw:: html\n\n   doi:10.1000/1\n\n.. doi:10.1000/2", []),
    "a field's name": ("Text\n\n:doi:10.1000/1: doi:10.1000/2", ["doi:10.1000/2"]),
    "bibliographic fields": (":address: doi:10.1000/1\n:other: doi:10.1000/2\n\ndoi:10.1000/3", ["doi:10.1000/3"]),
    "a page that is off": (":no-doi:\n\ndoi:10.1000/3", []),
    "a page that is not off": (":no-doi: False\n\ndoi:10.1000/3", ["doi:10.1000/3"]),
    "a passage that is off": (
        ".. class:: no-doi\n\ndoi:10.1000/1\n\n.. container:: no-doi\n\n   - doi:10.1000/2\n\ndoi:10.1000/3",
        ["doi:10.1000/3"],
    ),
    "a text that is no link": (":doi:`!10.1000/1`", []),
    "equal texts": (r"\doi:10.1/1 *and* doi:10.1000/1 *or* doi:10.1000/1 *or*", ["doi:10.1000/1"] * 2),
    "tables, notes, titles": (
        "T doi:10.1000/1\n===============\n\n============= =\ndoi:10.1000/2 a\n============= =\n\n| doi:10.1000/3",
        ["doi:10.1000/1", "doi:10.1000/2", "doi:10.1000/3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RST)
def test_what_becomes_a_link_in_restructuredtext(name: str) -> None:
    text, expected = RST[name]
    names = name == "an escaped name without a label"
    found = in_docutils(text, doi_bare_names=names)
    assert [written for _, written in found.links] == expected, text


@pytest.mark.parametrize("name", RST)
def test_the_text_of_a_document_stays_the_same(name: str) -> None:
    text, _ = RST[name]
    assert document(text).astext() == document(text, doi_bare=False).astext(), text


URLS = [
    "See doi:10.1000/182 and https://doi.org/10.1000/183, me@example.org.",
    "https://example.org and doi:10.1000/182, https://example.net (doi:10.1000/183).",
    r"doi:10.1000/182\ s https://example.org/a\_b",
    "DOI:10.1000/182: RFC 2822 and PEP 8 and foo:bar",
]


@pytest.mark.parametrize("text", URLS)
def test_urls_beside_a_mention_are_links(text: str) -> None:
    """docutils leaves all URLs of a text alone from the first scheme on that it does not know."""
    settings = {"rfc_references": True, "pep_references": True}
    linked = {text_of(link) for link in document(text, **settings).findall(nodes.reference)}
    alone = re.sub(r"(?i)\(?doi:10\.1000/18\d(\\ )?[,).:]*", " ", text)
    plain = publish_doctree(alone, parser=rst.Parser(), settings_overrides={**OFF, **settings})
    expected = {text_of(link) for link in plain.findall(nodes.reference)}
    assert linked - set(re.findall(r"(?i)doi:10.1000/18\d", text)) == expected
    assert expected


def test_mentions_are_looked_up_marked_and_reported_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Text\ndoi:10.1000/lost\n(doi:10.1000/182),\ndoi:10.1000/lost\n\n"
    text += "A doi:10.bad, \\doi:10.off\nand DOI: 10.1000.\n\n- DOI:\n  10.1000/lost\n"
    path = tmp_path / "page.rst"
    path.write_text(text, "utf-8")
    with running([record("10.1000/182", "https://example.org/")]) as proxy:
        options = f"--doi-resolver={proxy.url}", f"--doi-cache={tmp_path / 'cache'}"
        shown = links(command(*options, str(path)))
        told = [line.partition("page.rst:")[2] for line in capsys.readouterr().err.splitlines()]
        off = links(command(*options, "--doi-bare=no", str(path)))
    assert [(link.text, "doi-not-found" in link.classes) for link in shown] == [
        ("doi:10.1000/lost", True),
        ("doi:10.1000/182", False),
        ("doi:10.1000/lost", True),
        ("DOI:\n10.1000/lost", True),
    ]
    assert [line.partition(": the ")[0] for line in told] == [
        "6: (WARNING/2) 'doi:10.bad' is not a DOI",
        "7: (WARNING/2) 'DOI: 10.1000' is not a DOI: no \"/\" after the prefix (position 12)",
        "2: (WARNING/2) DOI not found: 10.1000/lost",
        "4: (WARNING/2) DOI not found: 10.1000/lost",
        "9: (WARNING/2) DOI not found: 10.1000/lost",
    ]
    assert (off, capsys.readouterr().err) == ([], "")


def test_names_keep_their_dashes_and_quotes() -> None:
    text = "doi:10.1000/a--b'c'd...e -- \"f\""
    settings = {**OFF, "smart_quotes": True}
    parser = docutils_doiuri.Parser()
    html = publish_parts(text, parser=parser, writer=Writer(), settings_overrides=settings)["body"]
    assert [link.text for link in links(html)] == ["doi:10.1000/a--b'c'd...e"]
    assert "– “f”" in html


def test_a_url_that_an_escaped_blank_ends_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "https://doi.org/10.1000/186\\ s\n"
    (tmp_path / "page.rst").write_text(text)
    command("--doi-resolve=no", str(tmp_path / "page.rst"))
    assert capsys.readouterr().err == ""
    assert page(tmp_path, text).warnings == ""
