"""``doiuri check --records``: entries compared with the registry's metadata."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.cli.library import BAD, BARE, DEAD, DOUBTED, GONE, KAHN, PREPRINT, RECORDS

pytestmark = pytest.mark.doi_records(RECORDS)

BIB = f"""\
@article{{right, title={{A framework for {{Digital}} object services}},
  author={{Kahn, Robert and others}}, year={{2007}}, doi={{{KAHN}}}}}
@article{{wrong, title={{Kant und die Epigonen}}, author={{Liebmann, Otto}}, year={{1865}},
  doi={{{KAHN}}}}}
@article{{gone, title={{On cold fusion}}, author={{Doe, Jane}}, year={{2010}},
  doi={{{BAD}}}}}
@misc{{bare, title={{Anything}}, year={{1900}}, doi={{{BARE}}}}}
"""
CODES = ("--select", "title-differs,year-differs,author-differs,retracted,unused-ignore")


def check(
    folder: Path, proxy: Proxies, *arguments: object
) -> tuple[subprocess.CompletedProcess[str], list[tuple[str, str, int]]]:
    options = ("--resolver", proxy.url, "--cache", folder / "cache.sqlite", *CODES, "-o", "json")
    run = doiuri("check", *options, *arguments, cwd=folder)
    found = [(item["entry"], item["code"], item["line"]) for item in json.loads(run.stdout)]
    return run, found


def test_differences_are_warnings_at_the_doi(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB)
    run, found = check(tmp_path, doi_proxy, "--records")
    assert found == [
        ("wrong", "author-differs", 4),
        ("wrong", "title-differs", 4),
        ("wrong", "year-differs", 4),
        ("gone", "retracted", 6),
    ]
    assert run.returncode == 0
    requests = len(doi_proxy.log)
    assert check(tmp_path, doi_proxy, "--records")[1] == found
    assert len(doi_proxy.log) == requests
    assert check(tmp_path, doi_proxy)[1] == []


def test_notices_are_one_finding_a_work(tmp_path: Path, doi_proxy: Proxies) -> None:
    dois = (KAHN, BAD, GONE, DOUBTED, PREPRINT)
    (tmp_path / "a.bib").write_text("".join(f"@misc{{k{n}, doi={{{doi}}}}}\n" for n, doi in enumerate(dois)))
    codes = (
        "--select",
        "retracted,concern,preprint-published",
        "--records",
        "--cache",
        tmp_path / "c.sqlite",
    )
    run = doiuri("check", "--resolver", doi_proxy.url, *codes, "-o", "concise", cwd=tmp_path)
    assert [line.partition(" ")[2] for line in run.stdout.splitlines()] == [
        f"warning[retracted] k1: {BAD}: retracted",
        f"warning[retracted] k2: {GONE}: retracted 2013-06-05; notice 10.5555/third",
        f"warning[concern] k3: {DOUBTED}: expression of concern 2012; notice 10.5555/second",
        f"info[preprint-published] k4: {PREPRINT} is a preprint of 10.5555/printed",
    ]
    assert "3 warnings, 1 info." in run.stderr


@pytest.mark.parametrize(("doi", "status"), [(GONE, 1), (DOUBTED, 1), (PREPRINT, 0)])
def test_information_never_fails(tmp_path: Path, doi_proxy: Proxies, doi: str, status: int) -> None:
    (tmp_path / "a.bib").write_text(f"@misc{{k, doi={{{doi}}}}}\n")
    codes = ("--select", "retracted,concern,preprint-published")
    assert check(tmp_path, doi_proxy, "--records", *codes, "--fail-on=warning")[0].returncode == status


def test_a_summary_for_reviewers_has_the_lists_of_the_editorial_bot(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    more = [
        f"@misc{{dead, title={{No DOI}}, doi={{{DEAD}}}}}",
        "@misc{odd, title={A DOI}, doi={10.1000}}",
        f"@misc{{linked, title={{Only a *Link*}}, url={{https://doi.org/{KAHN}}}}}",
        "@misc{none, title={No DOI at All}}",
    ]
    (tmp_path / "paper.bib").write_text("\n".join([BIB, *more]))
    (tmp_path / "notes.md").write_text("doi:10.5555/in-no-entry\n")
    check(tmp_path, doi_proxy, "--records", "--select=not-found,syntax", "-o", "markdown:summary.md")
    lists = (tmp_path / "summary.md").read_text().partition("**OK DOIs**")[2].partition("Checked")[0]
    assert lists.split("\n\n") == [
        "",
        f"- {KAHN} is OK\n- {BAD} is OK\n- {BARE} is OK",
        "**MISSING DOIs**",
        f"- {KAHN} may be a valid DOI for title: Only a \\*Link\\*\n- No DOI given for title: No DOI at All",
        "**INVALID DOIs**",
        "\n".join(
            [
                "- 10.5555/in-no-entry is not registered",
                f"- dead: {DEAD} is not registered",
                "- odd: '10.1000' is not a DOI: no \"/\" after the prefix",
            ]
        ),
        "**Other titles**",
        f'- wrong: the title of {KAHN} is "A framework for digital object services"',
        "",
    ]


def test_other_formats(tmp_path: Path, doi_proxy: Proxies) -> None:
    item = {"id": "k", "type": "book", "title": "Kant", "DOI": KAHN}
    (tmp_path / "a.json").write_text(json.dumps([item]))
    (tmp_path / "b.ris").write_text(f"TY  - JOUR\nID  - r\nTI  - Kant\nPY  - 2006\nDO  - {KAHN}\nER  - \n")
    (tmp_path / "CITATION.cff").write_text(f"cff-version: 1.2.0\ntitle: Kant\nauthors: []\ndoi: {KAHN}\n")
    (tmp_path / "c.md").write_text(f"Kant, doi:{KAHN}\n")
    found = check(tmp_path, doi_proxy, "--records")[1]
    assert [code for _, code, _ in found] == ["title-differs"] * 3


def test_nothing_without_a_record(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB.replace(f"{BAD}}}}}", f"{BAD}}}}} % doiuri: ignore[retracted]"))
    assert check(tmp_path, doi_proxy, "--records", "--offline")[1] == []
    assert doi_proxy.log == []


def test_works_in_the_lock_file_suffice(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB)
    doiuri("lock", "--works", "--resolver", doi_proxy.url, "--cache", ":memory:", cwd=tmp_path)
    requests = len(doi_proxy.log)
    found = check(tmp_path, doi_proxy, "--records", "--locked")[1]
    assert [code for _, code, _ in found] == ["author-differs", "title-differs", "year-differs", "retracted"]
    assert len(doi_proxy.log) == requests


@pytest.mark.parametrize(
    ("days", "max_age", "options", "requests", "summary"),
    [
        (29, 30, (), 0, ""),
        (31, 30, (), 3, ""),
        (31, 40, (), 0, ""),
        (0, 0, (), 3, ""),
        (5, 4, (), 3, ""),
        (31, 30, ("--locked",), 0, "lock file could not be renewed: --locked sends no requests."),
        (31, 30, ("--offline",), 0, "lock file could not be renewed: offline: request not sent."),
        (31, 30, ("--resolver=http://127.0.0.1:9",), 0, "lock file could not be renewed: 127.0.0.1:9: "),
    ],
)  # fmt: skip
def test_old_works_in_the_lock_file_are_asked_for_again(
    days: int,
    max_age: int,
    options: tuple[str, ...],
    requests: int,
    summary: str,
    tmp_path: Path,
    doi_proxy: Proxies,
) -> None:
    (tmp_path / "doiuri.toml").write_text(f"max-age = {max_age}\n")
    (tmp_path / "a.bib").write_text("".join(f"@misc{{{n}, doi={{{n}}}}}\n" for n in (KAHN, GONE, DOUBTED)))
    doiuri("lock", "--works", "--resolver", doi_proxy.url, "--cache", ":memory:", cwd=tmp_path)
    lock = tmp_path / "doi.lock.json"
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86400))
    text = re.sub(r'"retrieved":"[-0-9]+"', f'"retrieved":"{day}"', lock.read_text("utf-8"))
    lock.write_text(text.replace('"type":"retraction"', '"type":"correction"'))
    asked = len(doi_proxy.log)
    run, found = check(tmp_path, doi_proxy, "--records", "--select=retracted,concern", *options)
    assert [code for _, code, _ in found] == ["retracted" if requests else "concern", "concern"]
    assert (len(doi_proxy.log) - asked, summary in run.stderr) == (requests, True)
    assert ("3 old works in the" in run.stderr) == bool(summary)


def test_comments_ignore_them(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB.replace(f"{BAD}}}}}", f"{BAD}}}}} % doiuri: ignore[retracted]"))
    found = check(tmp_path, doi_proxy, "--records")[1]
    assert [code for _, code, _ in found] == ["author-differs", "title-differs", "year-differs"]
