"""Citations and lists in every builder; hostile metadata; agencies that do not answer."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.servers.metadata import metadata_proxy
from support.servers.web import Answer, Asked, Site, resolver, site
from support.sphinx_build import Build, build, write

CSL = "application/vnd.citationstyles.csl+json"
PAGE = """\
T
=

See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`.

.. doi:bibliography::
"""
ENTRY = "Kahn, R. (2001). Alpha. https://doi.org/10.5555/kahn-a"


def page(tmp_path: Path, builder: str, *options: str, **files: str) -> Build:
    conf = "extensions = ['sphinx_doiuri']\nproject = 'Book'\nversion = '1'\ncopyright = 'us'\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": PAGE, **files})
    built = build(source, tmp_path, builder, "-W", *options)
    assert (built.status, built.warnings) == (0, "")
    return built


@pytest.mark.parametrize(
    ("builder", "name"), [("text", "index.txt"), ("man", "book.1"), ("texinfo", "book.texi")]
)
def test_plain_formats(tmp_path: Path, server: Site, builder: str, name: str) -> None:
    text = " ".join(page(tmp_path, builder).text(name).split()).replace("@comma{}", ",")
    assert "Kahn and Wilensky, 2006" in text
    assert "KAHN (2001a)" in text or "KAHN (2001)" in text
    assert "Alpha. " in text
    assert "↑" not in text


def test_texinfo_links_to_the_entry(tmp_path: Path, server: Site) -> None:
    text = page(tmp_path, "texinfo").text("book.texi")
    anchors = set(re.findall(r"@anchor\{([0-9a-f]+)\}", text))
    linked = re.findall(r"@ref\{([0-9a-f]+),,(?:Kahn|KAHN)", text)
    assert len(linked) == 2
    assert set(linked) <= anchors


@pytest.mark.parametrize("builder", ["dirhtml", "singlehtml"])
def test_other_html(tmp_path: Path, server: Site, builder: str) -> None:
    other = {"b.rst": f"{PAGE}   :scope: project\n", "index.rst": f"{PAGE}\n.. toctree::\n\n   b\n"}
    text = page(tmp_path, builder, **other).text("index.html")
    ids = re.findall(r'id="([^"]+)"', text)
    mine = [id_ for id_ in ids if id_.startswith("doi-")]
    inside = re.findall(r'href="#(doi-[^"]+)"', text)
    assert len(mine) == len(set(mine))
    assert inside
    assert set(inside) <= set(mine)


def test_epub(tmp_path: Path, server: Site) -> None:
    built = page(tmp_path, "epub")
    with zipfile.ZipFile(built.out / "Book.epub") as archive:
        text = archive.read("index.xhtml").decode()
    ElementTree.fromstring(text)  # well-formed
    assert set(re.findall(r'href="#(doi-[^"]+)"', text)) <= set(re.findall(r'id="(doi-[^"]+)"', text))


def test_gettext_hands_translators_the_roles(tmp_path: Path, server: Site) -> None:
    catalogue = page(tmp_path, "gettext").text("index.pot")
    assert ":doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and :doi:t:`10.5555/kahn-a`" in catalogue
    assert server.seen == []


def test_translated_citations(tmp_path: Path, server: Site) -> None:
    po = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid ""\n'
    po += '"See :doi:p:`10.5555/kahn-2006, 10.5555/a<b>#c;d,(e)` and "\n":doi:t:`10.5555/kahn-a`."\n'
    po += 'msgstr "Siehe :doi:t:`10.5555/kahn-2006`."\n'
    files = {"locale/de/LC_MESSAGES/index.po": po}
    built = page(tmp_path, "html", "-D", "language=de", "-D", "locale_dirs=locale", **files)
    assert built.links()[0].text == "Kahn und Wilensky (2006)"
    assert built.text().count('<li id="doi-') == 1


def test_latex(tmp_path: Path, server: Site) -> None:
    text = page(tmp_path, "latex").text("book.tex")
    linked = re.findall(r"\\hyperref\[\\detokenize\{(index:doi-[^}]+)\}\]", text)
    assert len(linked) == 3
    assert set(linked) <= set(re.findall(r"\\label\{\\detokenize\{([^}]+)\}\}", text))
    assert r"\sphinxurl{https://doi.org/10.5555/kahn-2006}" in text


EVIL = "<script>window.ran=1</script> \"x\" & 'y' <img src=x onerror=window.ran=1> \u202eevil"
EVIL += " $x$ \\input{x} |a|_ `b`"
IMAGE = "&lt;img src=x onerror=window.ran=1&gt;"


def hostile(name: str, title: object, people: object) -> dict[str, Any]:
    metadata = {
        CSL: {"title": title, "author": people, "issued": {"date-parts": [[2001]]}},
        "text/x-bibliography; style=apa": f"&lt;b onclick=window.ran=1>{EVIL} javascript:window.ran=1",
    }
    return {"handle": f"10.5555/{name}", "metadata": metadata}


HOSTILE = [
    hostile("evil", EVIL, [{"family": EVIL}, {"literal": EVIL}]),
    hostile(IMAGE, f"&lt;script&gt;{EVIL}", [{"family": IMAGE}]),
    hostile("long", "x" * 10_000, [{"family": "y" * 10_000}]),
    hostile("many", "Many", [{"family": f"Author{n}", "given": "A."} for n in range(3000)]),
    hostile("types", {"a": 1}, {"family": ["x"]}),
]


@pytest.fixture
def evil() -> str:
    names = [item["handle"] for item in HOSTILE]
    cited = "\n\n".join(f":doi:p:`{name}` and :doi:t:`{name}`" for name in names)
    return f"T\n=\n\n{cited}\n\n.. doi:bibliography::\n"


def test_hostile_metadata_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evil: str) -> None:
    with site(metadata_proxy(HOSTILE)) as running:
        monkeypatch.setenv("DOIURI_RESOLVER", running.url)
        options = ("-D", "doi_details=1")
        built = build(write(tmp_path / "src", {"index.rst": evil}), tmp_path, "html", *options)
        assert built.status == 0
        latex = build(tmp_path / "src", tmp_path / "latex", "latex", *options)
    body = built.text().partition("<section")[2].partition("</section>")[0]
    assert "<script" not in body
    assert "<img" not in body
    assert not re.search(r"<[a-z]+[^>]* on[a-z]+=", re.sub(r'"[^"]*"', '""', body))
    assert "\u202e" not in body
    tex = next(latex.out.glob("*.tex")).read_text("utf-8")
    assert r"\input{x}" not in tex
    assert body.count('class="doi-citation"') == 2 * len(HOSTILE)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(429),
        Answer(403),
        Answer(500),
        Answer(200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><title>x</title>"),
        Answer(200, {"Content-Type": CSL}, b"{"),
        Answer(200, {"Content-Type": CSL}, json.dumps([1]).encode()),
        Answer(204),
    ],
    ids=lambda answer: f"{answer.status} {answer.body[:8]!r}",
)
def test_without_metadata_citations_are_links(
    answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = resolver({"10.5555/1": "https://example.org/"})

    def refuse(asked: Asked) -> Answer:
        return rest(asked) if asked.target.startswith("/api/") else answer

    with site(refuse) as running:
        monkeypatch.setenv("DOIURI_RESOLVER", running.url)
        text = "T\n=\n\n:doi:p:`10.5555/1` :doi:t:`10.5555/1`\n\n.. doi:bibliography::\n"
        built = build(write(tmp_path / "src", {"index.rst": text}), tmp_path)
    assert built.status == 0
    assert [(link.href, link.text) for link in built.links()] == [
        ("https://doi.org/10.5555/1", "doi:10.5555/1")
    ] * 2
    definite = answer.status == 204 or b"html" in answer.body
    assert built.warnings.count("doi.no-metadata") == (1 if definite else 0)
    assert built.warnings.count("WARNING") == (1 if definite else 0)
    assert ("could not be read" in built.said) is not definite
