"""A document with many DOIs costs a few requests, in every host; then each new DOI costs one."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from docutils.core import publish_parts
from docutils.writers.html5_polyglot import Writer
from docutils_doiuri import Parser
from doiuri import __version__
from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from support.cli.command import doiuri
from support.servers.rest import found, handling, header, not_found, proxy, targets
from support.sphinx_build import build, write

DEAD = "10.5555/dead"
MANY = [f"10.5555/journal.{number:03}" for number in range(209)]
MANY[104] = DEAD

Host = Callable[[Path, Sequence[str], pytest.LogCaptureFixture], str]
"""Writes names on two pages, builds or checks them, and returns what is said about dead ones."""


def pages(names: Sequence[str], link: str) -> dict[str, str]:
    linked = [link % name for name in names]
    return {
        "index": "\n\n".join(linked[:150]) + "\n",
        "other": "\n\n".join(linked[150:]) + "\n",
    }


def documents(folder: Path, names: Sequence[str]) -> Path:
    texts = {f"{name}.rst": f":orphan:\n\nT\n=\n\n{text}" for name, text in roles(names).items()}
    return write(folder / "source", texts)


def sphinx(folder: Path, names: Sequence[str], _log: pytest.LogCaptureFixture) -> str:
    return build(documents(folder, names), folder).warnings


def linkcheck(folder: Path, names: Sequence[str], _log: pytest.LogCaptureFixture) -> str:
    quiet = ("-D", "linkcheck_report_timeouts_as_broken=0")
    return build(documents(folder, names), folder, "linkcheck", *quiet).text("output.txt")


def docutils(_folder: Path, names: Sequence[str], _log: pytest.LogCaptureFixture) -> str:
    said = io.StringIO()
    settings = {"doi_budget": 60, "report_level": 2, "warning_stream": said}
    text = "\n".join(roles(names).values())
    publish_parts(text, parser=Parser(), writer=Writer(), settings_overrides=settings)
    return said.getvalue()


def mkdocs(folder: Path, names: Sequence[str], log: pytest.LogCaptureFixture) -> str:
    log.clear()
    write(folder, {f"docs/{name}.md": text for name, text in pages(names, "doi:%s").items()})
    (folder / "mkdocs.yml").write_text(json.dumps({"site_name": "Test", "plugins": ["doiuri"]}))
    build_site(load_config(str(folder / "mkdocs.yml")))
    return "\n".join(
        record.getMessage() for record in log.records if record.levelno >= logging.WARNING
    )


def command(folder: Path, names: Sequence[str], _log: pytest.LogCaptureFixture) -> str:
    write(folder / "texts", {f"{name}.md": text for name, text in pages(names, "doi:%s").items()})
    return doiuri("check", "-q", "-o", "concise", ".", cwd=folder / "texts").stdout


def roles(names: Sequence[str]) -> dict[str, str]:
    return pages(names, ":doi:`%s`")


def agency(name: str) -> dict[str, str]:
    return {"status": "DOI does not exist"} if name == DEAD else {"RA": "Crossref"}


def answer(target: str) -> bytes:
    name = target.removeprefix("/api/handles/")
    if name == target:
        return proxy(agencies=agency)(target)
    return not_found(name) if name == DEAD else found(name)


@pytest.mark.parametrize(
    "host", [sphinx, linkcheck, docutils, mkdocs, command], ids=lambda host: host.__name__
)
def test_many_dois_take_few_requests_and_then_each_new_one_takes_one(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("DOIURI_MAILTO", "me@example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/secret")
    new = [f"10.5555/new{number}" for number in range(5)]
    with handling(answer) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        said = host(tmp_path, MANY, caplog).splitlines()
        assert [DEAD in line for line in said] == [True]
        assert len(server.requests) == 3, "two batches, and the dead one"
        for request in server.requests:
            agent = str(header(request, "User-Agent"))
            assert agent.endswith(
                f"doiuri/{__version__} (+https://github.com/doiuri/doiuri; mailto:me@example.org)"
            ), request
            assert b"secret" not in request
        for more in 5, 0:
            server.requests.clear()
            host(tmp_path, [*MANY, *new], caplog)
            assert len(targets(server)) == more


def sphinx_lock(folder: Path, names: Sequence[str]) -> Path:
    source = write(folder / "source", {"index.rst": f"T\n=\n\n{roles(names)['index']}"})
    build(source, folder, "doi-lock")
    return source / "doi.lock.json"


def command_lock(folder: Path, names: Sequence[str], option: str = "--quiet") -> Path:
    write(folder / "texts", {"index.md": pages(names, "doi:%s")["index"]})
    doiuri("lock", "-q", option, ".", cwd=folder / "texts")
    return folder / "texts" / "doi.lock.json"


@pytest.mark.parametrize(
    ("lock", "kind", "requests"),
    [
        (sphinx_lock, "record", 40),
        (command_lock, "record", 40),
        (partial(command_lock, option="--existence"), "exists", 1),
    ],
)
def test_a_lock_file_has_records_unless_existence_is_enough(
    lock: Callable[[Path, Sequence[str]], Path],
    kind: str,
    requests: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with handling(answer) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        content = json.loads(lock(tmp_path, MANY[:40]).read_text())
        assert len(server.requests) == requests
    assert content.keys() == {"doiuri-lock", kind}
    assert len(content[kind]) == 40
