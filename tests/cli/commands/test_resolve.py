"""``doiuri resolve``, with a local proxy as the registry."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import COMMAND, doiuri
from support.cli.library import ALIAS, BARE, DEAD, KAHN, RECORDS
from support.servers.faults import FAULTS

pytestmark = pytest.mark.doi_records(RECORDS)


def resolve(
    proxy: Proxies, folder: Path, *arguments: object, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    options = ("--resolver", proxy.url, "--cache", folder / "cache.sqlite")
    return doiuri("resolve", *options, *arguments, cwd=folder, stdin=stdin)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("url", "https://example.org/kahn-2006\n"),
        ("agency", "Crossref\n"),
        (
            "citation",
            "Kahn, R., & Wilensky, R. (2006). A framework for digital object services. https://doi.org/10.5555/kahn-2006\n",
        ),
        ("bibtex", "@article{Kahn_2006, title={A framework}, DOI={10.5555/kahn-2006}, year={2006} }\n"),
        ("ris", "TY  - JOUR\nTI  - A framework\nDO  - 10.5555/kahn-2006\nER  - \n"),
    ],
)
def test_forms(form: str, expected: str, doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", form, f"https://doi.org/{KAHN}")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.rstrip() == expected.rstrip()
    requests = len(doi_proxy.log)
    again = resolve(doi_proxy, tmp_path, "--as", form, KAHN)
    assert (again.stdout, len(doi_proxy.log)) == (run.stdout, requests)  # from the cache


def test_json_lines_are_records_that_the_proxy_serves(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "json", KAHN, DEAD, ALIAS, BARE)
    (tmp_path / "records.jsonl").write_text(run.stdout, "utf-8")
    recorded = doi_proxy(tmp_path / "records.jsonl")
    for name, status in ((KAHN, 0), (BARE, 0), (DEAD, 1)):
        options = ("--resolver", recorded.url, "--cache", ":memory:")
        again = doiuri("resolve", *options, "--as", "json", name, cwd=tmp_path)
        assert again.returncode == status, name
        assert again.stdout in ["", *run.stdout.splitlines(keepends=True)]


def test_csl_is_an_object_or_null_in_a_line_for_each_name(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "csl", KAHN, BARE)
    work, nothing = map(json.loads, run.stdout.splitlines())
    assert (work["id"], work["DOI"], work["author"][0]["family"]) == (KAHN, KAHN, "Kahn")
    assert nothing is None
    assert run.returncode == 1
    assert run.stderr.startswith(f"doiuri: {BARE}: ")


def test_a_line_for_each_name_and_errors_on_stderr(doi_proxy: Proxies, tmp_path: Path) -> None:
    names = f"\ufeffdoi:{KAHN}\r\n\n{DEAD}\nno doi\xff\n  https://doi.org/{BARE}  ".encode(
        "latin-1", "replace"
    )
    names = b"\xef\xbb\xbf" + names.removeprefix(b"?")
    run = resolve(doi_proxy, tmp_path, stdin=names)
    assert run.stdout == "https://example.org/kahn-2006\n\n\nhttps://example.org/bare\n"
    first, second = run.stderr.splitlines()
    assert first == f"doiuri: {DEAD}: not found"
    assert second.startswith("doiuri: no doi\\xff: not a DOI: ")
    assert run.returncode == 1
    same = resolve(doi_proxy, tmp_path, KAHN, "-", stdin=BARE.encode())
    assert same.stdout.splitlines() == ["https://example.org/kahn-2006", "https://example.org/bare"]


def test_entries_are_separated_by_empty_lines(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "bibtex", KAHN, DEAD, "10.5555/retracted")
    assert [entry[:9] for entry in run.stdout.split("\n\n")] == ["@article{"] * 2
    assert run.stderr == f"doiuri: {DEAD}: not found\n"


def test_unknown_is_3_and_not_found_is_1(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--offline", KAHN)
    assert (run.returncode, run.stdout) == (3, "\n")
    assert run.stderr == f"doiuri: {KAHN}: unknown: offline: request not sent\n"
    assert resolve(doi_proxy, tmp_path, "--offline", KAHN, "x").returncode == 1
    assert doi_proxy.log == []


@pytest.mark.parametrize("form", ["url", "agency", "bibtex", "ris"])
def test_a_registry_that_refuses(form: str, tmp_path: Path) -> None:
    (fault,) = (fault for fault in FAULTS if str(fault) == "429 in seconds")
    with fault.serve() as server:
        (tmp_path / "doiuri.toml").write_text("budget = 2\n")
        options = ("--resolver", server.url, "--as", form)
        run = doiuri("resolve", *options, KAHN, BARE, cwd=tmp_path)
    assert run.returncode == 3
    assert [line.split(": ")[1] for line in run.stderr.splitlines()] == [KAHN, BARE]


def test_wrong_use(doi_proxy: Proxies, tmp_path: Path) -> None:
    for arguments in (
        ["--as", "pdf", KAHN],
        ["--as", "citation", "--style", "a b", KAHN],
        ["--as", "citation", "--locale", "xx", KAHN],
    ):
        run = resolve(doi_proxy, tmp_path, *arguments)
        assert (run.returncode, run.stdout) == (2, ""), run
        assert run.stderr.startswith("doiuri: ")
    assert doi_proxy.log == []


def test_many_names_in_few_requests(tmp_path: Path, doi_proxy: Proxies) -> None:
    names = [f"10.5555/{number}" for number in range(2_000)]
    doi_proxy.load(
        {"records": [{"handle": name, "values": []} for name in names], "agencies": {"10.5555": "Crossref"}}
    )
    run = resolve(doi_proxy, tmp_path, "--as", "agency", stdin="\n".join(names).encode())
    assert run.returncode == 0
    assert run.stdout == "Crossref\n" * 2_000
    assert len(doi_proxy.log) <= 24


def test_answers_come_before_the_input_ends(tmp_path: Path, doi_proxy: Proxies) -> None:
    words = [*COMMAND, "resolve", "--resolver", doi_proxy.url]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{KAHN}\n".encode() * 600)
        process.stdin.flush()
        assert process.stdout.readline() == b"https://example.org/kahn-2006\n"
        process.stdin.close()
        assert process.stdout.read().count(b"\n") == 599
    assert process.returncode == 0


def test_messages_name_what_is_wrong(tmp_path: Path) -> None:
    run = doiuri("resolve", "--offline", "", "10.5555/" + 10_000 * "a", cwd=tmp_path)
    assert run.stderr.startswith("doiuri: '': not a DOI: the text is empty\ndoiuri: 10.5555/aaa")
    assert len(run.stderr) < 700
