"""docutils, Sphinx, MyST and Markdown link the same DOIs, and find the same faults."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI, DOISyntaxError, suggest
from doiuri.plugins import with_suggestion
from doiuri_proxy import running
from support.docutils_page import command
from support.sphinx_build import build, links, write

FOUND = "10.1000/182", "10.1000/456#789", "10.1000/á", "10.1000/a<b>"
CONF = 'extensions = ["sphinx_doiuri", "myst_parser"]\n'
TYPED = [
    *(DOI(name).uri for name in FOUND),
    *("doi:10.1000/lost", "DOI:10.1000/LOST", "doi:10.1000/lost.", "doi:10.1000/1%E2%80%9382"),
    *("doi:10.1000", "doi://10.1000/182", "doi:10/x", "doi:10.1000/%zz", "doi:hello"),
]


@pytest.mark.parametrize("typed", TYPED)
def test_a_doi_has_the_same_link_and_finding_in_each_host(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages: dict[str, str] = {}
    told: dict[str, str] = {}
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache"))
    with running([{"handle": name, "values": []} for name in FOUND]) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        (tmp_path / "page.rst").write_text(f"`T <{typed}>`__\n")
        pages["docutils"] = command(str(tmp_path / "page.rst"))
        told["docutils"] = capsys.readouterr().err
        texts = {"rst": f"T\n=\n\n`T <{typed}>`__\n", "md": f"# T\n\n[T]({typed})\n"}
        for name, text in texts.items():
            files = {"conf.py": CONF, f"index.{name}": text}
            built = build(write(tmp_path / name, files), tmp_path / f"{name}2")
            pages[name] = built.text()
            told[name] = built.warnings
        problems: list[markdown_doiuri.Problem] = []
        extension = markdown_doiuri.makeExtension(warn=problems.append)
        pages["Markdown"] = markdown.markdown(f"[T]({typed})\n", extensions=[extension])
        told["Markdown"] = "\n".join(str(problem) for problem in problems)

    expected = expectation(typed)
    assert {host: shown(page) for host, page in pages.items()} == dict.fromkeys(
        pages, expected.links
    )
    for host, text in told.items():
        assert bool(text) == bool(expected.reasons), host
        assert [reason for reason in expected.reasons if reason not in text] == [], (host, text)


class Expected(NamedTuple):
    """What a page shows, as address, text, and whether it is marked; and what the author is told."""

    links: list[tuple[str, str, bool]]
    reasons: list[str]


def expectation(typed: str) -> Expected:
    try:
        doi = DOI.parse(typed)
    except DOISyntaxError as error:
        suggestion = with_suggestion(error).suggestion
        return Expected([], [error.reason, *filter(None, [suggestion])])
    if doi.name in FOUND:
        return Expected([(doi.url, "T", False)], [])
    return Expected([(doi.url, "T", True)], ["not found", *filter(None, [suggest(doi)])])


def shown(page: str) -> list[tuple[str, str, bool]]:
    return [(link.href, link.text, "doi-not-found" in link.classes) for link in links(page)]
