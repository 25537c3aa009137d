"""A lock file that the command wrote, read by Sphinx, Markdown and ``doiuri check``."""

from __future__ import annotations

from pathlib import Path

import markdown
import pytest
from doiuri_proxy.pytest_plugin import Proxies
from markdown_doiuri import DOIExtension
from support.cli.command import doiuri
from support.cli.library import ALIAS, DEAD, KAHN, RECORDS
from support.sphinx_build import Build, build, write

pytestmark = pytest.mark.doi_records(RECORDS)

PAGE = f"T\n=\n\n:doi:`{KAHN}`\n:doi:`{ALIAS}`\n:doi:`{DEAD}`\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "src", {"index.rst": PAGE})


def lock(source: Path, proxy: Proxies, *arguments: object) -> None:
    options = ("--resolver", proxy.url, "--cache", source.parent / "cache.sqlite")
    assert doiuri("lock", *options, *arguments, cwd=source).returncode == 0


def sphinx(source: Path, monkeypatch: pytest.MonkeyPatch, url: str, builder: str = "html") -> Build:
    with monkeypatch.context() as environment:
        environment.setenv("DOIURI_RESOLVER", url)
        environment.setenv("DOIURI_CACHE", str(source.parent / "sphinx.sqlite"))
        return build(source, source.parent / builder, builder)


def test_the_same_bytes_as_sphinx_writes(
    source: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(source, doi_proxy)
    written = (source / "doi.lock.json").read_bytes()
    (source / "doi.lock.json").unlink()
    assert sphinx(source, monkeypatch, doi_proxy.url, "doi-lock").status == 0
    assert (source / "doi.lock.json").read_bytes() == written
    lock(source, doi_proxy, "--refresh", "--prune")
    assert (source / "doi.lock.json").read_bytes() == written


def test_sphinx_reads_it_and_accepts_a_dead_name(
    source: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(source, doi_proxy, "--works")
    requests = len(doi_proxy.log)
    built = sphinx(source, monkeypatch, doi_proxy.url)
    assert built.warnings.strip().endswith(f"WARNING: DOI not found: {DEAD} [doi.not-found]")
    assert len(built.warnings.splitlines()) == 1
    lock(source, doi_proxy, "--accept", DEAD, "--reason", "an example")
    assert "not found" not in sphinx(source, monkeypatch, doi_proxy.url).warnings
    assert len(doi_proxy.log) == requests
    kept = (source / "doi.lock.json").read_bytes()
    assert sphinx(source, monkeypatch, doi_proxy.url, "doi-lock").warnings == ""
    assert b'"10.5555/NOPE": "an example"' in (source / "doi.lock.json").read_bytes()
    assert b'"10.5555/NOPE": "an example"' in kept


def test_markdown_reads_it_and_accepts_a_dead_name(
    source: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOIURI_RESOLVER", raising=False)  # answers in a lock file count as doi.org's
    lock(source, doi_proxy, "--works")
    text = f"<doi:{DEAD}> and [@doi:{KAHN}]"

    def convert(name: str) -> tuple[str, list[str]]:
        warned: list[str] = []
        path = source / name
        path.write_bytes((source / "doi.lock.json").read_bytes())
        extension = DOIExtension(lock=str(path), offline=True, warn=warned.append)
        return markdown.markdown(text, extensions=[extension]), warned

    page, warned = convert("first.json")
    assert "Kahn" in page
    assert len(warned) == 1
    lock(source, doi_proxy, "--accept", DEAD, "--reason", "an example")
    page, warned = convert("second.json")
    assert "Kahn" in page
    assert warned == []


def test_check_reads_it_offline(source: Path, doi_proxy: Proxies) -> None:
    lock(source, doi_proxy)
    run = doiuri("check", "--offline", "--cache", ":memory:", "-o", "concise", cwd=source)
    assert run.stdout == f"index.rst:6:7: error[not-found] {DEAD} is not registered\n"
    assert "3 known" in run.stderr
