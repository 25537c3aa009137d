"""docutils, Sphinx, MyST and Markdown link the same DOIs, and find the same faults."""

from __future__ import annotations

from pathlib import Path

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI, DOISyntaxError, suggest
from doiuri.plugins import with_suggestion
from doiuri_proxy import running
from support.docutils_page import command
from support.sphinx_build import build, links, write

FOUND = "10.1000/182", "10.1000/456#789", "10.1000/á", "10.1000/a<b>"
TYPED = [
    *(DOI(name).uri for name in FOUND),
    *("doi:10.1000/lost", "DOI:10.1000/LOST", "doi:10.1000/lost.", "doi:10.1000/1%E2%80%9382"),
    *("doi:10.1000", "doi://10.1000/182", "doi:10/x", "doi:10.1000/%zz", "doi:hello"),
]


@pytest.mark.parametrize("typed", TYPED)
def test_a_doi_has_the_same_link_and_finding_in_each_host(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: dict[str, str] = {}
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache"))
    rst, md = f"`T <{typed}>`__\n", f"[T]({typed})\n"
    (tmp_path / "page.rst").write_text(rst)
    extensions = 'extensions = ["sphinx_doiuri", "myst_parser"]\n'
    with running([{"handle": name, "values": []} for name in FOUND]) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        pages = {"docutils": command(str(tmp_path / "page.rst"))}
        told["docutils"] = capsys.readouterr().err
        for name, text in {"rst": f"T\n=\n\n{rst}", "md": f"# T\n\n{md}"}.items():
            built = build(
                write(tmp_path / name, {"conf.py": extensions, f"index.{name}": text}),
                tmp_path / f"{name}2",
            )
            pages[name], told[name] = built.text(), built.warnings
        problems: list[markdown_doiuri.Problem] = []
        pages["Markdown"] = markdown.markdown(
            md, extensions=[markdown_doiuri.makeExtension(warn=problems.append)]
        )
        told["Markdown"] = "\n".join(map(str, problems))
    try:
        doi = DOI.parse(typed)
    except DOISyntaxError as error:
        expected, reasons = [], [error.reason, *filter(None, [with_suggestion(error).suggestion])]
    else:
        dead = doi.name not in FOUND
        expected = [(doi.url, "T", dead)]
        reasons = ["not found", *filter(None, [suggest(doi)])] if dead else []
    shown = {
        host: [(link.href, link.text, "doi-not-found" in link.classes) for link in links(page)]
        for host, page in pages.items()
    }
    assert shown == dict.fromkeys(pages, expected)
    assert all(bool(text) == bool(reasons) for text in told.values()), told
    assert [one for one in reasons for text in told.values() if one not in text] == [], told
