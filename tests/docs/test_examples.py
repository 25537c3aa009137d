"""Every link of the example pages reaches exactly the DOI in the source."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from urllib.parse import urlsplit

import pytest
import requests
from doiuri import DOI
from doiuri_proxy import resolver_for
from support.cases import DATA
from support.references import NOTES
from support.sphinx_build import build, links, text_in, write

EXAMPLES = Path(__file__).parents[2] / "examples"
MISSING = "10.1177/5555555555555555"
SICI = "10.1002/(SICI)1521-3951(199911)216:1<135::AID-PSSB135>3.0.CO;2-#"

# What each page names, in the order of its source.
NAMES = json.loads((DATA / "examples.json").read_text("utf-8"))


def test_metadata_in_the_records_is_that_of_their_dois() -> None:
    records = json.loads((EXAMPLES / "records.json").read_text("utf-8"))["records"]
    names = [record["handle"] for record in records if "metadata" in record]
    resolver = resolver_for(EXAMPLES / "records.json")
    assert len(names) >= 9
    for name in names:
        work = resolver.work(name)
        assert work.doi is not None, name
        assert work.doi.name == name
        assert work.title, name
        assert work.authors, name
        reference = resolver.metadata(
            name, "text/x-bibliography; style=apa; locale=en-US"
        ).text.strip()
        assert work.authors[0].family in reference, name
        assert work.title in reference, name
        assert DOI.from_url(reference.rpartition(" ")[2]).name == name


def test_the_page_on_citations_shows_what_the_example_records_have(
    tmp_path: Path, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    manual = (EXAMPLES.parent / "docs" / "howto" / "citations.rst").read_text("utf-8")
    [source] = re.findall(r"\.\. code-block:: rst\n\n(   As :doi:t:.*?\n)\n\S", manual, re.DOTALL)
    [shown] = re.findall(r'Readers see "(.*?)"', manual, re.DOTALL)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy)

    built = build(write(tmp_path / "src", {"index.rst": f"T\n=\n\n{dedent(source)}"}), tmp_path)

    page = " ".join(text_in(built.text()).split())
    assert " ".join(shown.split()) in page, page


def test_the_page_on_citations_shows_where_marks_stand(
    tmp_path: Path, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    manual = (EXAMPLES.parent / "docs" / "howto" / "citations.rst").read_text("utf-8")
    section = manual.partition("\nStyles of notes\n")[2]
    [source] = re.findall(r"\.\. code-block:: rst\n\n(   .*?\n)\n\S", section, re.DOTALL)
    [shown] = re.findall(r'They see "(.*?)"', section)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy)
    conf = "extensions = ['sphinx_doiuri']\ndoi_reference_style = 'notes.csl'\n"
    style = NOTES.replace('form="short"', 'form="short" and="text"')
    files = {"conf.py": conf, "notes.csl": style, "index.rst": f"T\n=\n\n{dedent(source)}"}

    page = build(write(tmp_path / "src", files), tmp_path, "text").text("index.txt")

    assert shown.replace("¹", "[1]").replace("²", "[2]") in " ".join(page.split())


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "demo", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "OUTPUT", tmp_path)
    return module


def test_the_links_of_the_mkdocs_demo_lead_to_files(
    demo: ModuleType, proxy: str, tmp_path: Path
) -> None:
    environment = os.environ | {"DOIURI_RESOLVER": proxy, "DOIURI_CACHE": ":memory:"}
    command = [sys.executable, *demo.builds()["MkDocs"]]
    subprocess.run(command, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
    for name in ("index", "citing", "reading", "references"):
        path = tmp_path / "mkdocs" / f"{name}.html"
        local = [
            urlsplit(link.href) for link in links(path.read_text("utf-8")) if ":" not in link.href
        ]
        missing = [url.path for url in local if url.path and not (path.parent / url.path).is_file()]
        assert missing == [], name


@pytest.fixture(scope="module")
def pages(proxy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("examples")
    build = [
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-d",
        str(out / "doctrees"),
        str(EXAMPLES / "site"),
    ]
    environment = os.environ | {"DOIURI_RESOLVER": proxy, "DOIURI_CACHE": ":memory:"}
    for command in (
        [*build, str(out / "site")],
        [str(EXAMPLES / "blog" / "build.py"), str(out / "blog")],
    ):
        subprocess.run([sys.executable, *command], env=environment, check=True, timeout=300)
    return out


@pytest.mark.parametrize("page", NAMES)
def test_every_link_reaches_the_doi_in_the_source(pages: Path, proxy: str, page: str) -> None:
    """And only the DOI that does not exist is marked."""
    found = [link for link in links((pages / page).read_text("utf-8")) if "doi.org/" in link.href]
    urls = [urlsplit(link.href) for link in found]
    # what a browser would send to doi.org, sent to the proxy's API: the server says which name it got
    answers = [requests.get(f"{proxy}/api/handles{url.path}", timeout=10).json() for url in urls]
    assert [answer["handle"] for answer in answers] == NAMES[page]
    assert {(url.netloc, url.fragment + url.query) for url in urls} == {("doi.org", "")}
    missing = [name == MISSING for name in NAMES[page]]
    assert [answer["responseCode"] != 1 for answer in answers] == missing
    assert ["doi-not-found" in link.classes for link in found] == missing


def test_site_and_blog_show_the_same_text_for_a_name(pages: Path) -> None:
    on_site = texts_of_sici(pages / "site/index.html")
    on_blog = texts_of_sici(pages / "blog/2026-01-15-links-that-last.html")

    assert on_site == on_blog == {f"doi:{SICI}"}


def texts_of_sici(page: Path) -> set[str]:
    """The texts of the links to SICI on a page."""
    return {link.text for link in links(page.read_text("utf-8")) if link.href.endswith("CO;2-%23")}


def test_citations_lead_to_the_entries_and_have_cards(pages: Path) -> None:
    cited, listed = (
        (pages / "site" / f"{name}.html").read_text("utf-8") for name in ("citations", "references")
    )
    found = [link for link in links(cited) if "doi" in link.classes]
    assert [link.text for link in found[:2]] == [
        "Berners-Lee et al., 2005",
        "Berners-Lee et al. (2005)",
    ]
    assert len(found) == 10
    assert all(f'id="{urlsplit(link.href).fragment}"' in listed for link in found)
    assert cited.count('class="doi-card"') == len(found)
    assert '<span class="doi-card-title" data-doi="Deterministic Nonperiodic Flow">' in cited
