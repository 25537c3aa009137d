"""docutils, Sphinx, MyST and Markdown link the same DOIs, and find the same faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI, DOISyntaxError, suggest
from doiuri.plugins import with_suggestion
from doiuri_proxy import running
from support.checks import assert_same
from support.docutils_page import command
from support.sphinx_build import build, links, write

FOUND = "10.1000/182", "10.1000/456#789", "10.1000/á", "10.1000/a<b>"
CONF = 'extensions = ["sphinx_doiuri", "myst_parser"]\n'
TYPED = [
    *(DOI(name).uri for name in FOUND),
    *("doi:10.1000/lost", "DOI:10.1000/LOST", "doi:10.1000/lost.", "doi:10.1000/1%E2%80%9382"),
    *("doi:10.1000", "doi://10.1000/182", "doi:10/x", "doi:10.1000/%zz", "doi:hello", "DOI:hello"),
]


class Said(NamedTuple):
    """A page, and what its author is told of it."""

    page: str
    told: str


@pytest.fixture(scope="module")
def sphinx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Said]]:
    """What Sphinx makes of each URI in reStructuredText and MyST; its registry answers until the last test."""
    folder = tmp_path_factory.mktemp("site")
    files = {"conf.py": CONF, "index.rst": "T\n=\n"}
    for number, typed in enumerate(TYPED):
        files[f"page{number}.rst"] = f":orphan:\n\nT\n=\n\n`T <{typed}>`__\n"
        files[f"paper{number}.md"] = f"---\norphan: true\n---\n# T\n\n[T]({typed})\n"
    with (
        running([{"handle": name, "values": []} for name in FOUND]) as proxy,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DOIURI_RESOLVER", proxy.url)
        patch.setenv("DOIURI_CACHE", ":memory:")
        built = build(write(folder / "src", files), folder / "out")
        made = {}
        for number, typed in enumerate(TYPED):
            for syntax, name in (("rst", f"page{number}.rst"), ("md", f"paper{number}.md")):
                told = [line for line in built.told if line.startswith(f"{name}:")]
                page = built.text(f"{name.partition('.')[0]}.html")
                made[syntax, typed] = Said(page, "\n".join(told))
        yield made


@pytest.mark.parametrize("typed", TYPED)
def test_a_doi_has_the_same_link_and_finding_in_each_host(
    typed: str,
    sphinx: dict[tuple[str, str], Said],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "page.rst").write_text(f"`T <{typed}>`__\n")
    problems: list[markdown_doiuri.Problem] = []
    extension = markdown_doiuri.makeExtension(warn=problems.append)

    page = command(str(tmp_path / "page.rst"))
    said = {"docutils": Said(page, capsys.readouterr().err)}
    page = markdown.markdown(f"[T]({typed})\n", extensions=[extension])
    said["Markdown"] = Said(page, "\n".join(str(problem) for problem in problems))
    said |= {syntax: sphinx[syntax, typed] for syntax in ("rst", "md")}

    expected = expectation(typed)
    for host, (page, told) in said.items():
        assert_same(f"the links of {typed} in {host}", shown(page), expected.links)
        assert bool(told) == bool(expected.reasons), f"{host} says of {typed}: {told}"
        left_out = [reason for reason in expected.reasons if reason not in told]
        assert left_out == [], f"{host} says of {typed}: {told}"


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
