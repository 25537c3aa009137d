"""What plain docutils reports about DOIs, and how often."""

from __future__ import annotations

import re
from pathlib import Path

import docutils_doiuri
import pytest
from docutils.core import publish_string
from docutils.utils import SystemMessage
from doiuri_proxy import running
from support.docutils_page import body, command, pelican
from support.lines import FOLDER, told, written
from support.proxy_records import link as record
from support.sphinx_build import links, page


@pytest.mark.parametrize("halt_level", [1, 2])
def test_reports_about_dois_do_not_halt_docutils(
    tmp_path: Path, halt_level: int, caplog: pytest.LogCaptureFixture
) -> None:
    with running([]) as proxy:
        settings = {
            "doi_resolve": True,
            "doi_resolver": proxy.url,
            "doi_cache": str(tmp_path / "cache"),
        }
        page = body(":doi:`10.1000/1` and\n\n:doi:`10.1000/2,`", halt_level=halt_level, **settings)
    assert ["doi-not-found" in link.classes for link in links(page)] == [True, True]
    assert [record.getMessage() for record in caplog.records if record.name == "doiuri"] == [
        "<string>:1: DOI not found: 10.1000/1",
        "<string>:3: DOI not found: 10.1000/2,: the name ends in ','; did you mean 10.1000/2?",
    ]


@pytest.mark.parametrize("text", [":doi:`10.1000`", "`x <doi:10.1000>`__"])
def test_a_typo_still_halts_where_errors_do(text: str) -> None:
    settings = {"report_level": 5, "halt_level": 3, "doi_resolve": False}
    with pytest.raises(SystemMessage, match=r"<string>:1: .* is not a DOI"):
        publish_string(text, parser=docutils_doiuri.Parser(), settings_overrides=settings)


def test_pelican_publishes_an_article_with_dead_and_doubtful_dois(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = tmp_path / "content"
    content.mkdir()
    article = "Title\n#####\n\n:date: 2024-01-01\n\n"
    (content / "a.rst").write_text(
        article + ":doi:`10.1000/1` :doi:`10.1000/2` :doi:`10.1000/3,`\n"
    )
    mentions = article.replace("Title", "Other") + "doi:10.1000/1 and doi:10.1000/4\n"
    (content / "b.rst").write_text(mentions.replace(":date", ":summary: doi:10.1000/5\n:date"))
    config = "SITEURL = ''\nTIMEZONE = 'UTC'\nTHEME = 'simple'\nPLUGINS = ['docutils_doiuri']\n"
    (tmp_path / "pelicanconf.py").write_text(config)
    with running([record("10.1000/1", "https://example.org/")]) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache"))
        said = pelican(tmp_path)
    found = links((tmp_path / "out" / "title.html").read_text())
    assert ["doi-not-found" in link.classes for link in found] == [False, True, True]
    assert "DOI not found: 10.1000/2" in said
    assert "10.1000/3,: the name ends in ','" in said
    others = links((tmp_path / "out" / "other.html").read_text())
    marked = [(link.text, "doi-not-found" in link.classes) for link in others]
    assert marked == [("doi:10.1000/1", False), ("doi:10.1000/4", True)]


def test_every_construct_of_restructuredtext_is_reported_where_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command("--doi-resolve=no", str(FOLDER / "shared.rst"))
    assert told(capsys.readouterr().err) == written("shared.rst", "table.csv", "a.txt", "b.txt")


def test_each_problem_is_one_warning_with_its_line_and_not_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Advice is part of the message about a DOI that does not exist."""
    text = ":doi:`10.1000/1,` |s| |s| :doi:`T <10.1000/2O>`\n\n.. |s| replace:: :doi:`10.1000/3–4.`\n\n"
    text += ".. |unused| replace:: :doi:`10.1000/5;`\n\n"
    text += ":doi:`10.1000/6;` :doi:`10.1000/%41` :doi:`10.1000/a`\n:doi:`10.1000/A` :doi:`11681/5671`\n"
    text += ":doi:`10.1000/a` :doi:`10.1000/a`\n"
    with running(
        [record(name, "https://example.org/") for name in ("10.1000/6;", "10.1000/20")]
    ) as proxy:
        (tmp_path / "page.rst").write_text(text, "utf-8")
        options = f"--doi-resolver={proxy.url}", f"--doi-cache={tmp_path / 'cache'}"
        page = command(*options, str(tmp_path / "page.rst"))
    decoded = "%41 was decoded; if it belongs to the name, escape the percent sign"
    typed = "10.1000/3–4.: en dash (U+2013) looks like another character, the name ends in '.'"
    lines = (line.partition("page.rst:")[2] for line in capsys.readouterr().err.splitlines())
    told = sorted(line.replace("(WARNING/2) ", "") for line in lines)
    assert told.pop(-3).startswith("8: '11681/5671' is not a DOI")
    assert told == [
        "1: DOI not found: 10.1000/1,: the name ends in ','; did you mean 10.1000/1?",
        "1: DOI not found: 10.1000/2O; did you mean 10.1000/20?",
        f"3: DOI not found: {typed}; did you mean 10.1000/3-4?",
        f"7: DOI not found: 10.1000/%41 is read as 10.1000/A: {decoded}",
        "7: DOI not found: 10.1000/a",
        "8: DOI not found: 10.1000/A",
        "9: DOI not found: 10.1000/a",
    ]
    assert re.search("did you mean|doi_typed|<aside", page) is None
    assert 'href="https://doi.org/11681/5671"' in page


def test_a_url_that_docutils_ends_inside_of_the_name_is_told_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "See\nhttps://doi.org/10.1000/1-0(3)0<0130:DNF>2.0.CO;2\nand https://doi.org/10.1000/2."
    (tmp_path / "page.rst").write_text(text, "utf-8")
    command("--doi-resolve=no", str(tmp_path / "page.rst"))
    said = capsys.readouterr().err.partition("page.rst:")[2].strip()
    url = "https://doi.org/10.1000/1-0(3)0%3C0130:DNF%3E2.0.CO;2"
    assert said == f"2: (WARNING/2) the link ends before ')0<0130:DNF>2.0.CO;2'; write {url}"


@pytest.mark.parametrize(
    ("name", "left_out", "written"),
    [
        ("10.1000/notes<2>a", "/notes<2>a", "10.1000/notes%3C2%3Ea"),
        ("10.1000/a(1)<2>b", ")<2>b", "10.1000/a(1)%3C2%3Eb"),
        ("10.1000/plain", "", ""),
    ],
)
def test_docutils_and_sphinx_say_the_same_of_a_url_that_ends_inside_of_the_name(
    name: str, left_out: str, written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"See https://doi.org/{name} for more."
    (tmp_path / "page.rst").write_text(text, "utf-8")

    command("--doi-resolve=no", str(tmp_path / "page.rst"))
    of_docutils = capsys.readouterr().err.partition("(WARNING/2) ")[2].strip()
    of_sphinx = page(tmp_path, text).warnings.partition("WARNING: ")[2].strip()

    url = f"https://doi.org/{written}"
    expected = f"the link ends before {left_out!r}; write {url}" if left_out else ""
    assert (of_docutils, of_sphinx.removesuffix(" [doi.raw-link]")) == (expected, expected)


@pytest.mark.parametrize("halt_level", [1, 2, 4])
def test_unchecked_dois_are_counted_once_below_a_warning(
    halt_level: int, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG", "doiuri")
    settings = {"report_level": 1, "halt_level": halt_level, "doi_cache": ":memory:"}
    text = ":doi:`10.1000/1` :doi:`10.1000/1` :doi:`T <10.1000/2>`"
    with running([record("10.1000/1", "https://example.org/")]) as proxy:
        checked = {**settings, "doi_resolve": True, "doi_resolver": proxy.url}
        page = body(text, doi_offline=True, **checked)
        body(text, **checked)
    body("Nothing.", doi_offline=True, **checked)
    body(text, doi_offline=True, **settings)
    said = "2 of 2 DOIs could not be checked: offline: request not sent"
    told = [line for line in capsys.readouterr().err.splitlines() if "could not be checked" in line]
    logged = [record.getMessage() for record in caplog.records if record.levelname == "INFO"]
    assert told == ([] if halt_level == 1 else [f"<string>:: (INFO/1) {said}"])
    assert logged == ([f"<string>: {said}"] if halt_level == 1 else [])
    assert "could not be checked" not in page
