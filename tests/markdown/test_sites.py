"""MkDocs and Pelican on the example projects."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent
from urllib.parse import unquote

import mkdocs.commands.build as mkdocs
import pytest
from doiuri.plugins.display import STYLE_SHEET
from doiuri_proxy import Running
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs.config import load_config
from support.checks import exactly, only
from support.docutils_page import pelican
from support.pages import broken, pages_of

from .conftest import Page

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["10.1000/182", "10.1186/gm483", "10.1103/PhysRevLett.59.381"]
NAMES += [
    "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
    "10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03",
]
RECORDS = EXAMPLES / "records.json"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def check(page: Path, dois: list[str], missing: int) -> None:
    """Check the DOIs on a built page, in order, and how many of their links are marked as missing."""
    source = page.read_text(encoding="utf-8")
    found = Page(source)
    assert [doi.name for doi in found.dois] == dois
    assert sum("doi-not-found" in css_class for _, css_class, _ in found.links) == missing
    assert not re.search(r'href="doi:|klzzwxh|wzxhzdk', source, re.IGNORECASE)


@pytest.fixture
def proxy(doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch) -> Running:
    proxy = doi_proxy(RECORDS)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
    return proxy


def test_mkdocs_with_material(
    tmp_path: Path, proxy: Running, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(EXAMPLES / "mkdocs", tmp_path, dirs_exist_ok=True)
    mkdocs.build(load_config(str(tmp_path / "mkdocs.yml")))
    sici, other = NAMES[3:]
    check(
        tmp_path / "site" / "index.html",
        [NAMES[0], NAMES[1], NAMES[2], NAMES[0], NAMES[0], sici, NAMES[0], NAMES[0], other],
        0,
    )
    check(
        tmp_path / "site" / "reading" / "index.html",
        [NAMES[0], "10.5555/this-doi-does-not-exist"],
        1,
    )
    assert warnings(caplog) == [
        "doiuri: reading.md:4: doi:10.5555/this-doi-does-not-exist: not found"
    ]
    cited = Page((tmp_path / "site" / "citing" / "index.html").read_text(encoding="utf-8"))
    rfc = "../references/#ref-10.17487_2frfc3986", "", "Berners-Lee et al. (2005)"
    assert rfc in cited.links
    page = Page((tmp_path / "site" / "references" / "index.html").read_text(encoding="utf-8"))
    assert ("../citing/#cite-10.17487_2frfc3986", "doi-backref", "↩") in page.links
    exactly(4, "links", page.dois)
    requests = Counter((request.path, request.headers["accept"]) for request in proxy.log)
    repeated = {unquote(path.decode()) for (path, _), times in requests.items() if times > 1}
    # Without metadata: their records are requested again as proof.
    assert repeated == {f"/api/handles/{name}" for name in (NAMES[1], sici, other)}
    assert max(requests.values()) == 2


def test_pelican(tmp_path: Path, proxy: Running) -> None:
    shutil.copytree(EXAMPLES / "pelican", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "pelicanconf.py").open("a") as settings:  # the machine may be busy
        settings.write(
            'MARKDOWN["extension_configs"]["doiuri"] |= {"budget": 60, "details": True}\n'
        )
        settings.write('THEME = "notmyidea"\n')  # which begins with a whole article
        settings.write('FEED_ALL_ATOM = "feed.xml"\n')
    cites = "Date: 2026-11-20\nCategory: Notes\n"
    summary = "Summary: By [@doi:10.17487/RFC3986], doi:10.1000/182 and doi:10.5555/lost\n"
    for name, text in (
        ("a", "Title: A\n"),
        ("b", f"Title: B\n{summary}"),
        ("c", f"Title: C\n{summary}"),
    ):
        source = f"{text}{cites}\nOn @doi:10.17487/RFC3986 and doi:10.1000/182\n"
        path = tmp_path / "content" / name / "same.md"
        path.parent.mkdir()
        path.write_text(source)
    said = pelican(tmp_path)
    check(
        tmp_path / "out" / "dois-in-a-blog.html",
        [
            *(NAMES[0], NAMES[0], NAMES[1], "10.5555/this-doi-does-not-exist", NAMES[3]),
            *("10.17487/RFC3986", "10.1045/may99-payette"),  # the list
        ],
        1,
    )
    assert "dois.md:8: doi:10.5555/this-doi-does-not-exist: not found" in said
    article = (tmp_path / "out" / "dois-in-a-blog.html").read_text(encoding="utf-8")
    assert re.findall('href="(/[^"]*)', article) == ["/feed.xml"]  # the others are relative
    lost = only(
        "report of the lost DOI", re.findall(r"(\S+): doi:10.5555/lost: not found", said)
    )  # once in a run
    assert lost in {"b/same.md", "c/same.md"}
    pages = pages_of(tmp_path / "out")
    assert not broken(pages)
    style = '<head>\n<link rel="stylesheet" href="./assets/doiuri.css">'
    assert style in pages["dois-in-a-blog.html"]
    for page in pages.values():
        assert ("doi-card" in page) == ("doiuri.css" in page)
    assert (tmp_path / "out" / "assets" / "doiuri.css").read_bytes() == STYLE_SHEET.read_bytes()
    assert "doi-card" not in (tmp_path / "out" / "feed.xml").read_text(encoding="utf-8")
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    whole, separator, summaries = index.partition('<ol id="posts-list"')
    assert separator
    assert 'href="#ref-' in whole
    assert not re.search('href="#ref|id="(?:ref|cite|doi-card)-|doi-references', summaries)
    rfc = "https://doi.org/10.17487/RFC3986", "doi", "Berners-Lee et al., 2005"
    assert rfc in Page(summaries).links
    assert ">Berners-Lee et al. (2005)</span>" in summaries


def test_the_settings_in_the_manual_keep_the_extensions_of_pelican() -> None:
    manual = (EXAMPLES.parent / "docs" / "howto" / "markdown.rst").read_text(encoding="utf-8")
    start = manual.index("   MARKDOWN = {")
    shown: dict[str, dict[str, object]] = {}
    exec(dedent(manual[start : manual.index("\n   }", start) + 5]), {}, shown)

    program = "import json, pelican.settings as s; print(json.dumps(s.DEFAULT_CONFIG['MARKDOWN']))"
    of_pelican = subprocess.check_output([sys.executable, "-c", program])  # it takes over loggers
    configs = shown["MARKDOWN"].pop("extension_configs")
    assert isinstance(configs, dict)
    assert configs.pop("doiuri")
    assert {"extension_configs": configs, **shown["MARKDOWN"]} == json.loads(of_pelican)
