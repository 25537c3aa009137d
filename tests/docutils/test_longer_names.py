"""A name may be registered with the mark that ends its sentence: one rule in pages, lock file and command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_same, assert_times, exactly
from support.cli.command import doiuri
from support.docutils_page import command
from support.doi_org import doi_org
from support.sphinx_build import build, links, project, write


class Case(NamedTuple):
    """A sentence, and the name that its mention means."""

    text: str
    name: str


CASES = [
    Case("See doi:10.24448/proc.no. Or", "10.24448/proc.no."),
    Case("Twice: doi:10.24448/proc.no. Or", "10.24448/proc.no."),
    Case("As doi:10.24448/vol(3)b). Or", "10.24448/vol(3)b)"),
    Case("In (see doi:10.24448/vol(3)b)) or", "10.24448/vol(3)b)"),
    Case("Is it doi:10.24448/why?!? No", "10.24448/why?!?"),
    Case("At doi:10.24447/slc/, or", "10.24447/slc/"),
    Case("Both doi:10.1000/182. Or", "10.1000/182"),
    Case("Only (doi:10.24448/bracket) or", "10.24448/bracket"),
    Case("Not doi:10.24448/far!!!. Or", "10.24448/far"),
    Case("Not doi:10.24448/none. Or", "10.24448/none"),
]
REGISTERED = [case.name for case in CASES[:7]]
RECORDS = [
    {"handle": name, "values": []}
    for name in [
        *dict.fromkeys(REGISTERED),
        "10.1000/182.",
        "10.24448/bracket)",
        "10.24448/far!!!.",
    ]
]
DEAD = [case.name for case in CASES[7:]]
TEXT = "\n\n".join(case.text for case in CASES) + "\n"
NAMES = [case.name for case in CASES]
CONF = 'extensions = ["sphinx_doiuri", "myst_parser"]\n'


def test_pages_lock_files_and_the_command_mean_the_same_names(
    tmp_path: Path,
    doi_proxy: Proxies,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)
    (tmp_path / "page.rst").write_text(TEXT)
    pages = {"docutils": command(str(tmp_path / "page.rst"))}
    told = {"docutils": capsys.readouterr().err}
    urls = TEXT.replace("doi:", "https://doi.org/")
    sources = {
        "role.rst": f"T\n=\n\n{TEXT}",
        "url.rst": f"T\n=\n\n{urls}",
        "role.md": f"# T\n\n{TEXT}",
    }
    for host, text in sources.items():
        source = write(tmp_path / host, {"conf.py": CONF, f"index{Path(host).suffix}": text})
        built = build(source, tmp_path / f"{host}2")
        pages[host] = built.text()
        told[host] = built.warnings
    problems: list[markdown_doiuri.Problem] = []
    extension = markdown_doiuri.makeExtension(warn=problems.append)
    pages["Markdown"] = markdown.markdown(TEXT, extensions=[extension])
    told["Markdown"] = "\n".join(map(str, problems))
    told["command"] = doiuri("check", "page.rst", cwd=tmp_path).stdout

    linked = {
        host: [DOI.from_url(url).name for url in re.findall('href="(https://doi[^"]*)"', text)]
        for host, text in pages.items()
    }
    assert_same("the DOIs that pages link to", linked, dict.fromkeys(pages, NAMES))
    for host, text in told.items():
        lines = [line for line in text.splitlines() if "not found" in line or "not-found" in line]
        exactly(len(DEAD), "lines", lines)
        assert [name for name in DEAD if name not in text] == [], (host, text)


def test_lock_files_have_the_names_that_are_meant_and_builds_find_them_there(
    tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = doi_proxy(RECORDS)
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
    source = write(tmp_path / "src", {"index.rst": f"T\n=\n\n{TEXT}"})
    file = source / "doi.lock.json"
    with doi_org(proxy.url):
        doiuri("lock", "--lock", file, source)
        of_command = file.read_bytes()
        file.unlink()
        build(source, tmp_path / "lock", "doi-lock")
    of_sphinx = file.read_bytes()

    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    asked = len(proxy.log)
    built = build(source, tmp_path / "out")
    extension = markdown_doiuri.makeExtension(lock=str(file), offline=True, warn=lambda _: None)
    converted = markdown.markdown(TEXT, extensions=[extension])
    checked = doiuri("check", "--lock", file, "--locked", source)
    due = doiuri("lock", "--lock", file, "--check", source)

    assert of_command == of_sphinx
    assert sorted(json.loads(of_sphinx)["record"]) == sorted(DOI(name).key for name in {*NAMES})
    for text in (built.text(), converted):
        assert [DOI.from_url(link.href).name for link in links(text)] == NAMES
    assert built.warnings.count("WARNING") == built.warnings.count("[doi.not-found]") == len(DEAD)
    assert_times(len(DEAD), "[not-found]", checked.stdout)
    assert "lock-" not in checked.stdout
    assert "could not be checked" not in checked.stdout + checked.stderr
    assert (due.returncode, due.stdout) == (0, "")
    exactly(asked, "requests", proxy.log)


@pytest.mark.parametrize("registered", [True, False])
def test_each_host_asks_once_about_the_longer_names_of_dead_dois_only(
    registered: bool, tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["10.24448/1.a", "10.24448/2.b"]
    longer = [f"{name}." for name in names]
    records = [{"handle": name, "values": []} for name in (names if registered else longer)]
    proxy = doi_proxy(records)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
    text = "".join(f"See doi:{name}. Or doi:{name}. Or\n\n" for name in names)
    (tmp_path / "page.txt").write_text(text)
    source = write(tmp_path / "src", {"index.rst": f"T\n=\n\n{text}"})
    asked: dict[str, list[str]] = {}

    def note(host: str) -> None:
        paths = [request.path.decode() for request in proxy.log]
        asked[host] = sorted(path.removeprefix("/api/handles/") for path in paths)
        proxy.log.clear()

    for cache in ("sphinx", "markdown", "command"):
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / cache))
        if cache == "sphinx":
            build(source, tmp_path / "out")
            build(source, tmp_path / "out")
        elif cache == "markdown":
            for _ in range(2):
                markdown.markdown(text, extensions=[markdown_doiuri.makeExtension()])
        else:
            doiuri("check", "page.txt", cwd=tmp_path)
        note(cache)

    expected = names if registered else sorted([*names, *longer])
    assert asked == dict.fromkeys(asked, expected)


def test_the_next_build_shows_a_name_that_was_registered_meanwhile(
    tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An incremental build shows what a fresh one does, also in a bare URL and in linkcheck."""
    text = "https://doi.org/10.24448/proc.no. Or (https://doi.org/10.24448/bracket).\n"
    source = project(tmp_path, text, "doi_linkcheck = True", **{"other.rst": "O\n=\n\n:orphan:\n"})
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    build(source, tmp_path / "out")
    monkeypatch.delenv("DOIURI_OFFLINE")
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)

    again = build(source, tmp_path / "out")
    fresh = build(source, tmp_path / "fresh")
    checked = build(source, tmp_path / "out", "linkcheck")

    assert_same("the page that is built again", again.text(), fresh.text())
    assert 'href="https://doi.org/10.24448/proc.no."' in again.text()
    assert again.at == ["4: DOI not found: 10.24448/bracket [doi.not-found]"]
    broken = [line for line in checked.text("output.txt").splitlines() if "broken" in line]
    exactly(1, "broken links", broken)
    assert "10.24448/bracket" in broken[0]


def test_linkcheck_knows_which_names_a_list_of_links_means(
    tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No build before has found out that the longer name is meant."""
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)
    text = "See doi:10.24448/proc.no. Or\n\n.. doi:bibliography::\n   :links:\n"

    checked = build(project(tmp_path, text), tmp_path / "out", "linkcheck")

    assert "10.24448/proc.no" in checked.text("output.json")
    assert "broken" not in checked.text("output.json")


def test_an_exact_name_keeps_its_end(
    tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Roles and targets say where a name ends; the longer name is proposed."""
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(RECORDS).url)
    text = ":doi:`10.24448/proc.no`. Or `x <doi:10.24448/proc.no>`__. Or doi:10.24448/proc.no. Or"
    built = build(project(tmp_path, text), tmp_path / "out")
    urls = [link.href.rpartition("/")[2] for link in built.links()]
    assert urls == ["proc.no", "proc.no", "proc.no."]
    told = "4: DOI not found: 10.24448/proc.no; did you mean 10.24448/proc.no.? [doi.not-found]"
    assert {*built.at} == {told}
