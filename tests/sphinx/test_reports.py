"""Which uses are reported: one warning for each place, and none for what a build leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.web import resolver, site
from support.sphinx_build import Build, build, write

FOUND = dict.fromkeys(
    ("10.1000/1", "10.1000/12", "10.1000/kept,", "10.1038/nphys1170"), "https://example.org/"
)
COMMA = "10.1000/lost,: the name ends in ','"
DASH = "10.1000/3–4.: en dash (U+2013) looks like another character"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with site(resolver(FOUND)) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        yield


def page(tmp_path: Path, text: str, conf: str = "", **more: str) -> Path:
    base = f"extensions = ['sphinx_doiuri', 'sphinx.ext.ifconfig']\n{conf}\n"
    return write(tmp_path / "src", {"index.rst": f"T\n=\n\n{text}\n", "conf.py": base, **more})


def warnings(built: Build) -> list[str]:
    lines = (line.rpartition("/src/index.rst:")[2] for line in built.warnings.splitlines())
    return [line.replace(" WARNING:", "") for line in lines if line]


def test_advice_and_not_found_are_one_warning(tmp_path: Path) -> None:
    text = ":doi:`10.1000/lost,` `x <doi:10.1000/lost,>`__\n:doi:`10.1000/kept,`\n|s|\n:doi:`10.1000/1`\n\n"
    text += (
        ":doi:`https://doi.org/10.1000/4?x` :doi:`T <10.1000/%41>`\n\n.. |s| replace:: :doi:`10.1000/3–4.`"
    )
    source = page(tmp_path, text)
    told = warnings(build(source, tmp_path / "out"))
    query = "the query 'x' was dropped; if it belongs to the name, escape it"
    decoded = "%41 was decoded; if it belongs to the name, escape the percent sign"
    meant = "did you mean 10.1000/lost?"
    escaped = f"{query}; did you mean https://doi.org/10.1000/4%3Fx?"
    assert sorted(told) == sorted(
        [
            f"4: DOI not found: {COMMA}; {meant} [doi.not-found]",
            f"4: DOI not found: doi:10.1000/lost, is read as {COMMA}; {meant} [doi.not-found]",
            "5: 10.1000/kept,: the name ends in ','; did you mean 10.1000/kept? [doi.trailing-punctuation]",
            f"11: DOI not found: {DASH}, the name ends in '.'; did you mean 10.1000/3-4? [doi.not-found]",
            f"9: DOI not found: https://doi.org/10.1000/4?x is read as 10.1000/4: {escaped} [doi.not-found]",
            f"9: DOI not found: 10.1000/%41 is read as 10.1000/A: {decoded} [doi.not-found]",
        ]
    )
    assert build(source, tmp_path / "out").warnings == ""


def test_the_registered_doi_that_was_probably_meant_is_proposed(tmp_path: Path) -> None:
    text = ":doi:`10.1038/nphys117O` :doi:`10.1000/12/x`\n:doi:`10.1000/l2` :doi:`10.1000/O`"
    source = page(tmp_path, text)
    expected = [
        "4: DOI not found: 10.1000/12/x; did you mean 10.1000/12? [doi.not-found]",
        "4: DOI not found: 10.1038/nphys117O; did you mean 10.1038/nphys1170? [doi.not-found]",
        "5: DOI not found: 10.1000/O [doi.not-found]",
        "5: DOI not found: 10.1000/l2; did you mean 10.1000/12? [doi.not-found]",
    ]
    assert sorted(warnings(build(source, tmp_path / "out"))) == expected
    write(source, {"index.rst": f"T\n=\n\nNew :doi:`10.1000/new`\n{text}"})
    told = sorted(warnings(build(source, tmp_path / "out", "html", "-D", "doi_offline=1")))
    assert [line.partition(": ")[2] for line in told] == [line.partition(": ")[2] for line in expected]


@pytest.mark.parametrize(
    ("text", "suppressed", "expected"),
    [
        (
            ":doi:`10.1000/3–4.`",
            "doi.not-found",
            [
                f"4: {DASH}; did you mean 10.1000/3-4.? [doi.look-alike]",
                "4: 10.1000/3–4.: the name ends in '.'; did you mean 10.1000/3–4? [doi.trailing-punctuation]",
            ],
        ),
        (
            ":doi:`10.1000/lost,`",
            "doi.trailing-punctuation",
            ["4: DOI not found: 10.1000/lost,; did you mean 10.1000/lost? [doi.not-found]"],
        ),
        (
            ":doi:`10.1000/3–4.`",
            "doi.trailing-punctuation",
            [f"4: DOI not found: {DASH}; did you mean 10.1000/3-4? [doi.not-found]"],
        ),
        (":doi:`10.1000/3–4.`", "doi", []),
    ],
)
def test_each_of_the_two_types_can_be_suppressed(
    tmp_path: Path, text: str, suppressed: str, expected: list[str]
) -> None:
    source = page(tmp_path, text, f"suppress_warnings = ['{suppressed}']")
    assert warnings(build(source, tmp_path / "out")) == expected


def test_builders_that_look_up_nothing_give_advice(tmp_path: Path) -> None:
    source = page(tmp_path, ":doi:`10.1000/lost,`", "linkcheck_ignore = ['.*']")
    [told] = warnings(build(source, tmp_path / "texts", "gettext"))
    assert told.endswith("[doi.trailing-punctuation]")
    [told] = warnings(build(source, tmp_path / "out", "linkcheck"))
    assert told.endswith("[doi.trailing-punctuation]")
    [told] = warnings(build(source, tmp_path / "out"))
    assert told.endswith("[doi.not-found]")
    assert build(source, tmp_path / "out", "linkcheck").warnings == ""
    assert build(source, tmp_path / "out").warnings == ""


BLOCKS = """
.. ifconfig:: release == "x"

   :doi:`10.1000/off` :doi:`10.1000/1`

.. ifconfig:: release == ""

   :doi:`10.1000/on`

.. only:: html

   :doi:`10.1000/web`

   .. ifconfig:: False

      :doi:`10.1000/both,`

.. only:: latex

   :doi:`10.1000/paper` and :doi:`10.1000/kept,` and :doi:`10.1000/web`
"""


def names(built: Build) -> list[str]:
    return sorted(line.partition("10.1000/")[2].partition(" ")[0].rstrip(":;") for line in warnings(built))


def test_what_a_build_leaves_out_is_not_reported(tmp_path: Path) -> None:
    source = page(tmp_path, BLOCKS)
    assert names(build(source, tmp_path / "out", "html")) == ["on", "web"]
    assert names(build(source, tmp_path / "out", "latex")) == ["kept,", "paper", "web"]
    assert names(build(source, tmp_path / "new", "latex")) == ["kept,", "on", "paper", "web"]
    assert names(build(source, tmp_path / "new", "html")) == ["web"]
    assert names(build(source, tmp_path / "tag", "html", "-t", "latex")) == [
        "kept,",
        "on",
        "paper",
        "web",
        "web",
    ]


def test_an_expression_that_fails_hides_nothing(tmp_path: Path) -> None:
    text = ".. ifconfig:: 1 / 0\n\n   :doi:`10.1000/lost`\n\n.. only:: (\n\n   :doi:`10.1000/lost`\n"
    built = build(page(tmp_path, text), tmp_path / "out", "html")
    assert built.warnings.count("[doi.not-found]") == 2


def test_the_lock_file_has_what_any_builder_shows(tmp_path: Path) -> None:
    source = page(tmp_path, BLOCKS)
    assert names(build(source, tmp_path / "lock", "doi-lock")) == ["kept,", "on", "paper", "web", "web"]
    for builder in ("html", "latex"):
        built = build(source, tmp_path / builder, builder)
        assert "[doi.lock-" not in built.warnings
    write(source, {"doi.lock.json": '{"doiuri-lock": 1, "entries": {}}'})
    built = build(source, tmp_path / "html", "html", "-E")
    missing = [line for line in warnings(built) if "[doi.lock-missing]" in line]
    assert [line.partition(" is not")[0].partition(" ")[2] for line in missing] == [
        "10.1000/on",
        "10.1000/web",
    ]


def test_contents_have_the_names_of_the_titles(tmp_path: Path) -> None:
    text = '.. contents::\n\nA "q" :doi:`10.1000/a--b"c"`\n----------------------------\n'
    shown = build(page(tmp_path, text, "doi_resolve = False"), tmp_path / "out").text()
    entry = shown.partition('<nav class="contents')[2].partition("</nav>")[0]
    assert "A “q” doi:10.1000/a--b&quot;c&quot;</a>" in entry
