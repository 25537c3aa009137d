"""The look-up: once per build, only new DOIs; what is reported about them, and what a build leaves out."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest
from support.checks import assert_same, assert_times, exactly, only
from support.doi_org import doi_org
from support.ports import refusing
from support.references import RECORDS, RETRACTED
from support.servers.faults import NAME, TYPICAL, Fault
from support.servers.metadata import metadata_proxy
from support.servers.web import Site, resolver
from support.sphinx_build import Build, Serve, build, project, write

FOUND = {f"10.1000/{number}": "https://example.org/" for number in range(100)}
PAGES = {
    "index.rst": "T\n=\n\nOne :doi:`10.1000/1`\ntwo :doi:`10.1000/lost`\n\n.. toctree::\n\n   b\n",
    "b.rst": "B\n=\n\n:doi:`10.1000/LOST`, :doi:`10.1000/2`,\n:doi:`10.1000/1`\n",
}


def asked(server: Site) -> list[str]:
    return sorted(request.target.removeprefix("/api/handles/") for request in server.seen)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "src", PAGES)


@pytest.fixture
def found(serve: Serve) -> Site:
    """A resolver that knows some DOIs."""
    names = "10.1000/kept,", "10.1038/nphys1170"
    return serve(resolver(FOUND | dict.fromkeys(names, "https://example.org/")))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_each_doi_is_asked_once_and_each_use_is_told(
    source: Path, tmp_path: Path, found: Site, processes: str
) -> None:
    for number in range(5):  # Sphinx reads in several processes only if there are enough documents
        write(source, {f"many{number}.rst": f":orphan:\n\nT\n=\n\n:doi:`10.1000/{number}`\n"})
    built = build(source, tmp_path / "out", "html", "-j", processes)
    assert Counter(target.upper() for target in asked(found)).most_common(1)[0][1] == 1
    exactly(6, "requests", asked(found))
    agent = only("user agent", {request.headers["user-agent"] for request in found.seen})
    own = f"sphinx-doiuri/{version('sphinx-doiuri')} doiuri/{version('doiuri')} (+https://"
    assert agent.startswith(own)
    assert built.told == [
        "b.rst:4: WARNING: DOI not found: 10.1000/LOST [doi.not-found]",
        "index.rst:5: WARNING: DOI not found: 10.1000/lost [doi.not-found]",
    ]
    marked = [link.text for link in built.links() if "doi-not-found" in link.classes]
    assert marked == ["doi:10.1000/lost"]
    (lost, *others) = built.links("b.html")
    assert "doi-not-found" in lost.classes
    assert lost.attributes["title"] == "This DOI was not found."
    assert not any("doi-not-found" in link.classes for link in others)


def test_answers_are_renewed_once_on_the_next_day_and_kept_if_they_cannot_be(
    source: Path, tmp_path: Path, found: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    strftime = time.strftime
    build(source, tmp_path / "out")
    for number, day in enumerate((1, 1, 2, 2)):
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / f"{number}.sqlite"))
        monkeypatch.setattr(
            time, "strftime", lambda form, day=day: strftime(form, time.gmtime(86_400 * day))
        )
        build(source, tmp_path / "out")
    assert Counter(asked(found)) == dict.fromkeys(asked(found), 3)
    monkeypatch.setattr(time, "strftime", lambda form: strftime(form, time.gmtime(0)))
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    built = build(write(source, {"b.rst": f"{PAGES['b.rst']}\n"}), tmp_path / "out")
    assert "doi-not-found" in built.links("b.html")[0].classes


def test_without_a_network_the_first_cause_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most DOIs are not even asked about, because earlier requests failed. Each counts once."""
    numbers = [*range(60), *range(9)]
    page = "T\n=\n\n" + "\n".join(f":doi:`10.1000/{number}`" for number in numbers)
    source = write(tmp_path / "src", {"index.rst": page})
    with refusing() as port:
        monkeypatch.setenv("DOIURI_RESOLVER", f"http://127.0.0.1:{port}")
        built = build(source, tmp_path / "out")
    assert (built.status, built.warnings) == (0, "")
    told = re.findall("(.*) DOIs could not be checked: (.*)\n", built.said)
    cause = f"127.0.0.1:{port}: Connection refused"
    assert_same("how many could not be checked", told, [("60 of 60", cause)])


FAULTY = {"index.rst": f"T\n=\n\n:doi:`{NAME}` and :doi:`T <{NAME}>`\n"}


@pytest.mark.parametrize("fault", TYPICAL, ids=str)
def test_fault_changes_no_byte_and_fails_no_build(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", FAULTY)
    with fault.serve() as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        monkeypatch.setenv("DOIURI_CACHE", ":memory:")
        built = build(
            source, tmp_path / "out", "html", "-W", "-D", "doi_timeout=100", "-D", "doi_budget=0.5"
        )
    assert (built.status, built.warnings) == (0, "")
    assert built.bytes() == build(source, tmp_path / "plain", "html", "-D", "doi_resolve=0").bytes()
    assert ("could not be checked" in built.said) == (fault.status == "unknown")


COMMA = "10.1000/lost,: the name ends in ','"
DASH = "10.1000/3–4.: en dash (U+2013) looks like another character"


def test_advice_and_not_found_are_one_warning(tmp_path: Path, found: Site) -> None:
    text = ":doi:`10.1000/lost,` `x <doi:10.1000/lost,>`__\n:doi:`10.1000/kept,`\n|s|\n:doi:`10.1000/1`\n\n"
    text += ":doi:`https://doi.org/10.1/4?x` :doi:`T <10.1000/%41>`\n\n.. |s| replace:: :doi:`10.1000/3–4.`"
    source = project(tmp_path, text)
    told = build(source, tmp_path / "out").at
    query = "the query 'x' was dropped; if it belongs to the name, escape it"
    decoded = "%41 was decoded; if it belongs to the name, escape the percent sign"
    meant = "did you mean 10.1000/lost?"
    escaped = f"{query}; did you mean https://doi.org/10.1/4%3Fx?"
    assert sorted(told) == sorted(
        [
            f"4: DOI not found: {COMMA}; {meant} [doi.not-found]",
            f"4: DOI not found: doi:10.1000/lost, is read as {COMMA}; {meant} [doi.not-found]",
            f"11: DOI not found: {DASH}, the name ends in '.'; did you mean 10.1000/3-4? [doi.not-found]",
            f"9: DOI not found: https://doi.org/10.1/4?x is read as 10.1/4: {escaped} [doi.not-found]",
            f"9: DOI not found: 10.1000/%41 is read as 10.1000/A: {decoded} [doi.not-found]",
        ]
    )
    assert build(source, tmp_path / "out").warnings == ""


def test_a_name_that_exists_is_right_however_odd_it_looks(tmp_path: Path, serve: Serve) -> None:
    names = ["10.24447/slc-2024-00003/", "10.1000/kept,", "10.1000/3–4"]
    serve(resolver(dict.fromkeys(names, "https://example.org/")))
    text = " ".join(f":doi:`{name}`" for name in names)
    text += f" https://doi.org/{names[0]} `T <doi:{names[0]}>`__ :doi:t:`{names[0]}`"
    built = build(project(tmp_path, text), tmp_path, "html", "-W")
    assert (built.status, built.warnings) == (0, "")
    assert "doi-not-found" not in built.text()
    query = ":doi:`https://doi.org/10.1000/kept,?x`"  # not a part of the name
    assert "[doi.dropped-query]" in build(project(tmp_path, query), tmp_path).warnings


def test_the_registered_doi_that_was_probably_meant_is_proposed(
    tmp_path: Path, found: Site, serve: Serve
) -> None:
    text = ":doi:`10.1038/nphys117O` :doi:`10.1000/12/x`\n:doi:`10.1000/l2` :doi:`10.1000/O`"
    source = project(tmp_path, text)
    expected = [
        "4: DOI not found: 10.1000/12/x; did you mean 10.1000/12? [doi.not-found]",
        "4: DOI not found: 10.1038/nphys117O; did you mean 10.1038/nphys1170? [doi.not-found]",
        "5: DOI not found: 10.1000/O [doi.not-found]",
        "5: DOI not found: 10.1000/l2; did you mean 10.1000/12? [doi.not-found]",
    ]
    assert sorted(build(source, tmp_path / "out").at) == expected
    write(source, {"index.rst": f"T\n=\n\nNew :doi:`10.1000/new`\n{text}"})
    told = sorted(build(source, tmp_path / "out", "html", "-D", "doi_offline=1").at)
    assert [line.partition(": ")[2] for line in told] == [
        line.partition(": ")[2] for line in expected
    ]
    serve(resolver({}))
    told = build(source, tmp_path / "out").at
    assert "did you mean" not in "".join(told), "the other resolver knows none of them"
    exactly(len(expected) + 1, "warnings", told)


SUPPRESSED = [
    (":doi:`10.1000/3–4.`", "doi.not-found", [
        f"4: {DASH}; did you mean 10.1000/3-4.? [doi.look-alike]",
        "4: 10.1000/3–4.: the name ends in '.'; did you mean 10.1000/3–4? [doi.trailing-punctuation]"]),
    (":doi:`10.1000/lost,`", "doi.trailing-punctuation", [
        "4: DOI not found: 10.1000/lost,; did you mean 10.1000/lost? [doi.not-found]"]),
    (":doi:`10.1000/3–4.`", "doi.trailing-punctuation", [
        f"4: DOI not found: {DASH}; did you mean 10.1000/3-4? [doi.not-found]"]),
    (":doi:`10.1000/3–4.`", "doi", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "suppressed", "expected"), SUPPRESSED)
def test_each_of_the_two_types_can_be_suppressed(
    tmp_path: Path, found: Site, text: str, suppressed: str, expected: list[str]
) -> None:
    source = project(tmp_path, text, f"suppress_warnings = ['{suppressed}']")
    assert build(source, tmp_path / "out").at == expected


def test_builders_that_look_up_nothing_give_advice(tmp_path: Path, found: Site) -> None:
    source = project(tmp_path, ":doi:`10.1000/lost,`", "linkcheck_ignore = ['.*']")
    told = only("warning", build(source, tmp_path / "texts", "gettext").at)
    assert told.endswith("[doi.trailing-punctuation]")
    told = only("warning", build(source, tmp_path / "out", "linkcheck").at)
    assert told.endswith("[doi.trailing-punctuation]")
    told = only("warning", build(source, tmp_path / "out").at)
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

   :doi:`10.1000/lost,` and :doi:`10.1000/web`

   .. ifconfig:: True

      :doi:`10.1000/paper`
"""


def names(built: Build) -> list[str]:
    return sorted(line.partition("10.1000/")[2].partition(" ")[0].rstrip(":;") for line in built.at)


def test_what_a_build_leaves_out_is_not_reported(tmp_path: Path, found: Site) -> None:
    source = project(tmp_path, BLOCKS, "extensions += ['sphinx.ext.ifconfig']")
    assert names(build(source, tmp_path / "out", "html")) == ["on", "web"]
    assert names(build(source, tmp_path / "out", "latex")) == ["lost,", "paper", "web"]
    assert names(build(source, tmp_path / "new", "latex")) == ["lost,", "on", "paper", "web"]
    assert names(build(source, tmp_path / "new", "html")) == ["web"]
    tagged = build(source, tmp_path / "tag", "html", "-t", "latex")
    assert names(tagged) == ["lost,", "on", "paper", "web", "web"]


BLOCK = """
.. {}

   :doi:`10.5555/lost,` :doi:`10.5555/three.` https://doi.org/10.5555/dead
   :doi:p:`10.5555/no-metadata, 10.5555/gone` :doi:p:`10.5555/kahn-a, 10.5555/three`

   .. doi:bibliography::
      :style: numeric
      :nocite: 10.5555/literal

:doi:p:`10.5555/kahn-b, 10.5555/gone` :doi:p:`10.5555/no-metadata` :doi:`10.5555/lost,`

.. doi:bibliography::
"""


@pytest.mark.parametrize(
    ("directive", "state"),
    [
        ("only:: latex", "asked"),
        ("only:: latex", "locked"),
        ("ifconfig:: 0", "offline"),
        ("todo::", "asked"),
    ],
)
def test_what_a_build_leaves_out_is_like_a_comment(
    directive: str, state: str, tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = "extensions += ['sphinx.ext.todo', 'sphinx.ext.ifconfig']"
    serve(metadata_proxy([*json.loads(RECORDS.read_text("utf-8")), RETRACTED]))
    comment = project(tmp_path / "comment", BLOCK.format("x"), conf)
    hidden = project(tmp_path / "hidden", BLOCK.format(directive), conf)
    if state == "locked":
        build(comment, tmp_path / "lock", "doi-lock")
        shutil.copy(comment / "doi.lock.json", hidden)
    monkeypatch.setenv("DOIURI_OFFLINE", str(state == "offline"))
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    built, expected = (build(source, source.parent) for source in (hidden, comment))
    assert built.told == expected.told
    pages = [
        re.sub('doi-cite-[^"]*', "", one.text()) for one in (built, expected)
    ]  # which are numbered
    assert pages[0] == pages[1]
    unknown = [re.findall("(.*) DOIs could not be", one.said) for one in (built, expected)]
    assert unknown == [["4 of 4"] if state == "offline" else []] * 2


def test_an_expression_that_fails_hides_nothing(tmp_path: Path, found: Site) -> None:
    text = (
        ".. ifconfig:: 1 / 0\n\n   :doi:`10.1000/lost`\n\n.. only:: (\n\n   :doi:`10.1000/lost`\n"
    )
    built = build(
        project(tmp_path, text, "extensions += ['sphinx.ext.ifconfig']"), tmp_path / "out", "html"
    )
    assert_times(2, "[doi.not-found]", built.warnings)


def test_the_lock_file_has_what_any_builder_shows(tmp_path: Path, found: Site) -> None:
    source = project(tmp_path, BLOCKS, "extensions += ['sphinx.ext.ifconfig']")
    with doi_org(found.url):
        locked = build(source, tmp_path / "lock", "doi-lock")
    assert names(locked) == ["lost,", "on", "paper", "web", "web"]
    told = "".join(
        build(source, tmp_path / builder, builder).warnings for builder in ("html", "latex")
    )
    assert "[doi.lock-" not in told
    write(source, {"doi.lock.json": '{"doiuri-lock": 1}'})
    built = build(source, tmp_path / "html", "html", "-E")
    missing = [line for line in built.at if "[doi.lock-missing]" in line]
    assert [line.partition("10.1000/")[2].split()[0] for line in missing] == ["on", "web"]
