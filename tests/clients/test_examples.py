"""The example scripts, each run with a user's arguments."""

from __future__ import annotations

import asyncio
import csv
import io
import os
import re
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from doiuri_proxy import running
from support.checks import only
from support.ports import refusing
from support.servers.web import Answer, Asked, record, site

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.name for path in (EXAMPLES / "scripts").glob("[!_]*.py"))


def run(script: str, *arguments: str, base: str) -> subprocess.CompletedProcess[str]:
    """Run an example as a program, in this process, against the resolver at ``base``."""
    path = EXAMPLES / "scripts" / script
    said = io.StringIO()
    errors = io.StringIO()
    with (
        mock.patch.dict(os.environ, DOIURI_RESOLVER=base),
        mock.patch.object(sys, "argv", [str(path), *arguments]),
        redirect_stdout(said),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as end,
    ):
        runpy.run_path(str(path), run_name="__main__")
    return subprocess.CompletedProcess(
        [script], int(end.value.code or 0), said.getvalue(), errors.getvalue()
    )


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with running(EXAMPLES / "records.json") as proxy:
        yield proxy.url


@pytest.fixture
def targets_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this machine for a public server."""
    monkeypatch.setattr("doiuri._targets.is_private", lambda _: False)


NOWHERE = "download_dataset.py 10.5281/nope"
SUMMARIES = {
    "bibtex.py": "3 DOIs: 2 resolved (2 with an agency's BibTeX), 1 not found",
    "download_dataset.py": "1 DOI: 1 resolved, 0 not found",
    "requests_get.py": "3 DOIs: 3 resolved, 0 not found",
    "table.py": "doi://10.5281/zenodo.4924875/lakes.csv: 3 rows, the deepest is Baikal, 1642 m",
    "targets.py": "8 DOIs: 6 resolved, 1 not found, 1 unknown or not a DOI",
    "urlopen.py": "4 DOIs: 3 resolved, 1 not found",
    NOWHERE: "1 DOI: 0 resolved, 1 not found",
}


@pytest.mark.parametrize("command", [*SCRIPTS, NOWHERE])
def test_as_they_stand(command: str, base: str) -> None:
    done = run(*command.split(), base=base)
    assert done.returncode == (command == NOWHERE), done.stderr
    assert (done.stdout + done.stderr).splitlines()[-1] == SUMMARIES[command]


def test_bibtex_from_an_agency_by_content_negotiation(targets_here: None) -> None:
    def agency(asked: Asked) -> Answer:
        assert asked.headers["accept"] == "application/x-bibtex"
        return Answer(
            200, {"Content-Type": "application/x-bibtex;charset=utf-8"}, "@article{Á,}".encode()
        )

    with site(agency) as works:
        places = (
            f'<locations><location http_role="conneg" href="{works.at("localhost")}/1"/>'
            '<location http_role="browser" href="http://127.0.0.1:9/landing"/></locations>'
        )
        loc = {
            "index": 2,
            "type": "10320/loc",
            "data": {"format": "string", "value": places},
            "ttl": 1,
        }
        with running([{"handle": "10.1000/1", "values": [loc]}]) as proxy:
            done = run("bibtex.py", "https://doi.org/10.1000/1", "10.1000/nope", base=proxy.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["@article{Á,}", "% 10.1000/nope: no such DOI"]
    assert done.stderr.strip() == "2 DOIs: 1 resolved (1 with an agency's BibTeX), 1 not found"


def test_a_table_of_targets(base: str, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    destination = tmp_path / "out.csv"
    source.write_text('doi,note\n"10.1000/182",a\n10.1000/nope,"b, c"\n', encoding="utf-8")
    done = run("targets.py", str(source), str(destination), base=base)
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO(destination.read_text(encoding="utf-8"))))
    assert rows == [
        ["doi", "note", "target", "status"],
        ["10.1000/182", "a", "http://www.doi.org/hb.html", "found"],
        ["10.1000/nope", "b, c", "", "not-found"],
    ]


def test_a_dataset_is_downloaded(tmp_path: Path, targets_here: None) -> None:
    data = os.urandom(300_000)
    with site(lambda _: Answer(200, {"Content-Type": "application/zip"}, data)) as archive:
        target = archive.at("localhost") + "/files/..%2f..%2Fdata%20set.zip?download=1"
        with running([record("10.5281/zenodo.1", target)]) as proxy:
            done = run(
                "download_dataset.py", "doi:10.5281/zenodo.1", "--to", str(tmp_path), base=proxy.url
            )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data set.zip"]
    assert (tmp_path / "data set.zip").read_bytes() == data


def code_of(text: str) -> dict[str, Any]:
    """The names that the code block of the manual's page about clients defines that contains a text."""
    page = (EXAMPLES.parent / "docs" / "howto" / "scripts.rst").read_text("utf-8")
    block = only(
        "example", [one for one in re.findall(r"\n\n((?:   .*\n|\n)+)", page) if text in one]
    )
    names: dict[str, Any] = {}
    exec(textwrap.dedent(block), names)
    return names


def test_the_manuals_negotiation_works_with_and_without_a_redirect(
    base: str, targets_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", base)
    bibtex = code_of("async def bibtex")["bibtex"]
    assert asyncio.run(bibtex("doi:10.1103/PhysRevLett.59.381")).startswith("@article{")
    with (
        site(lambda _: Answer(200, {}, b"@misc{agency}")) as agency,
        site(lambda _: Answer(302, {"Location": agency.at("localhost")})) as registry,
    ):
        monkeypatch.setenv("DOIURI_RESOLVER", registry.url)
        assert asyncio.run(bibtex("doi:10.1103/PhysRevLett.59.381")) == "@misc{agency}"


def test_the_manuals_record_tells_a_missing_doi_from_one_that_is_unknown(
    base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"Content-Type": "text/html"}
    with (
        refusing() as port,
        site(lambda _: Answer(503)) as busy,
        site(lambda _: Answer(200, page, b"<p>log in")) as portal,
        site(lambda _: Answer(404, page, b"<p>no such page")) as gateway,
    ):
        for resolver, offline, said in (
            (base, "0", ""),
            (base, "1", "could not be looked up: 10.1000/182: offline"),
            (f"http://127.0.0.1:{port}", "0", "could not be looked up: .*refused"),
            (busy.url, "0", "could not be looked up: 503 Server Error"),
            (portal.url, "0", "could not be looked up: 10.1000/182: .* sent a web page"),
            (gateway.url, "0", "could not be looked up: 10.1000/182: .* sent a web page"),
        ):
            monkeypatch.setenv("DOIURI_RESOLVER", resolver)
            monkeypatch.setenv("DOIURI_OFFLINE", offline)
            look_up = code_of("def record(uri)")["record"]
            assert (look_up("doi:10.1000/182") is None) is bool(said)
            assert re.search(said, capsys.readouterr().out)
        monkeypatch.setenv("DOIURI_RESOLVER", base)
        monkeypatch.setenv("DOIURI_OFFLINE", "0")
        assert code_of("def record(uri)")["record"]("doi:10.1000/nope") is None
        assert capsys.readouterr().out == "doi:10.1000/nope does not exist\n"


# An HTTPError that nobody closes is urllib's usual way; Python 3.14 says so as soon as it is dropped.
@pytest.mark.filterwarnings("ignore:Implicitly cleaning up <HTTPError:ResourceWarning")
def test_the_manuals_loop_with_urllib_survives_every_kind_of_error(
    base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", base)
    records = code_of("def records(uris)")["records"]
    uris = ["doi:10.1000/nope", "doi:10.1000", "doi:10.1000/182"]
    assert [answer["handle"] for answer in records(uris)] == ["10.1000/182"]
    missing, malformed = capsys.readouterr().out.splitlines()
    assert missing == "doi:10.1000/nope does not exist"
    assert malformed.startswith("'doi:10.1000' is not a DOI: no")

    page = Answer(404, {"Content-Type": "text/html"}, b"<p>no such page")
    with site(lambda _: page) as gateway:
        monkeypatch.setenv("DOIURI_RESOLVER", gateway.url)
        assert list(records(["doi:10.1000/182"])) == []
    assert "doi:10.1000/182 could not be looked up: " in capsys.readouterr().out
