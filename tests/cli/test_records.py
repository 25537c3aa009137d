"""``doiuri check --records``: entries of bibliographies compared with the registry's metadata."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri, findings, places
from support.cli.library import BAD, BARE, CSL, DEAD, DOUBTED, GONE, KAHN, PREPRINT, RECORDS, item, work

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
NOTICES = "--select=retracted,concern,preprint-published"


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
    expected = [("wrong", f"{member}-differs", 4) for member in ("author", "title", "year")]
    assert found == [*expected, ("gone", "retracted", 6)]
    assert run.returncode == 0
    requests = len(doi_proxy.log)
    assert check(tmp_path, doi_proxy, "--records")[1] == found
    assert len(doi_proxy.log) == requests
    assert check(tmp_path, doi_proxy)[1] == []
    (tmp_path / "a.bib").write_text(BIB.replace(f"{BAD}}}}}", f"{BAD}}}}} % doiuri: ignore[retracted]"))
    assert check(tmp_path, doi_proxy, "--records")[1] == expected
    assert len(doi_proxy.log) == requests
    assert check(tmp_path, doi_proxy, "--records", "--offline", "--cache", ":memory:")[1] == []
    (tmp_path / "doiuri.toml").write_text("max-age = 0\n")
    assert check(tmp_path, doi_proxy, "--records", "--offline")[1] == expected


def test_notices_are_one_finding_a_work(tmp_path: Path, doi_proxy: Proxies) -> None:
    dois = (KAHN, BAD, GONE, DOUBTED, PREPRINT)
    (tmp_path / "a.bib").write_text("".join(f"@misc{{k{n}, doi={{{doi}}}}}\n" for n, doi in enumerate(dois)))
    options = "--records", "--resolver", doi_proxy.url, "--cache", tmp_path / "c.sqlite", NOTICES
    run = doiuri("check", *options, "-o", "concise", cwd=tmp_path)
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
    assert check(tmp_path, doi_proxy, "--records", NOTICES, "--fail-on=warning")[0].returncode == status


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
    (tmp_path / "notes.md").write_text("doi:10.5555/in-no-entry\n" * 2)
    check(tmp_path, doi_proxy, "--records", "--select=not-found,syntax", "-o", "markdown:summary.md")
    lists = (tmp_path / "summary.md").read_text().partition("**OK DOIs**")[2].partition("Checked")[0]
    assert lists.split("\n\n") == [
        "",
        f"- {KAHN} is OK\n- {BAD} is OK\n- {BARE} is OK",
        "**MISSING DOIs**",
        f"- {KAHN} may be a valid DOI for title: Only a \\*Link\\*\n- No DOI given for title: No DOI at All",
        "**INVALID DOIs**",
        (
            f"- 10.5555/in-no-entry is not registered\n- dead: {DEAD} is not registered\n"
            "- odd: '10.1000' is not a DOI: no \"/\" after the prefix"
        ),
        "**Other titles**",
        f'- wrong: the title of {KAHN} is "A framework for digital object services"',
        "",
    ]


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
    days: int, max_age: int, options: tuple[str, ...], requests: int, summary: str,
    tmp_path: Path, doi_proxy: Proxies,
) -> None:  # fmt: skip
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


PAIRS: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("same.json").read_text())
CASES = {f"{kind}-{n}": (kind, *pair) for kind, pairs in PAIRS.items() for n, pair in enumerate(pairs)}
# Persons are not compared the other way: only the registry has their given names
CASES |= {
    f"{name}-swapped": (kind, expected, known, written, *(whole and [written]))
    for name, (kind, expected, written, known, *whole) in CASES.items()
    if whole in ([], [known])
}
DIFFERS = {"titles": "title-differs", "authors": "author-differs", "years": "year-differs"}


def written_as(kind: str, written: Any) -> dict[str, Any]:
    """What an entry of CSL-JSON has."""
    if kind == "titles":
        return {"title": written}
    return {"author": [{"literal": written}]} if kind == "authors" else {"issued": {"raw": str(written)}}


def registered(kind: str, known: Any, whole: str = "", *editors: str) -> dict[str, Any]:
    """What the registry has."""
    if kind == "titles":
        return {"title": known}
    if kind == "years":
        return {"issued": {"date-parts": [[known]]}}
    given = whole.removesuffix(f" {known}")
    author = {"literal": known} if given == whole else {"family": known, "given": given}
    return {"author": [author], "editor": [{"family": family} for family in editors]}


PAIRED = [
    item(f"10.5555/{name}", metadata={CSL: {"type": "book", "title": "Known", **registered(kind, *known)}})
    for name, (kind, _, _, *known) in CASES.items()
]


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    """The codes that are told of each entry, all compared in one run."""
    works = [
        {"id": name, "type": "book", "DOI": f"10.5555/{name}", **written_as(kind, written)}
        for name, (kind, _, written, *_) in CASES.items()
    ]
    with running(PAIRED) as proxy:
        options = "--records", "--online", "--resolver", proxy.url, "--select", ",".join(DIFFERS.values())
        listed = findings("a.json", json.dumps(works), *options)
    found: dict[str, list[str]] = {name: [] for name in CASES}
    for one in listed:
        found[one["entry"]].append(one["code"])
    return found


@pytest.mark.parametrize("name", CASES)
def test_titles_authors_and_years_of_one_work(name: str, told: dict[str, list[str]]) -> None:
    kind, expected, *values = CASES[name]
    assert told[name] == ([] if expected == "same" else [DIFFERS[kind]]), values


ENTRIES: dict[str, Any] = json.loads(Path(__file__).with_name("entries.json").read_text("utf-8"))
OTHERS = [
    item(f"10.1000/{suffix}", metadata={CSL: work("Neither of these", "Zoe", "Zapf", 1700)})
    for suffix in ("a_b", *range(1, 7))
]


@pytest.mark.doi_records(OTHERS)
@pytest.mark.parametrize("case", ENTRIES)
def test_title_year_and_first_author_of_each_entry_are_compared(case: str, doi_proxy: Proxies) -> None:
    """Whatever an entry has differs from these works, and the message names what it has."""
    expected = []
    for key, has_title, year, author in ENTRIES[case]["entries"]:
        expected += [(key, "author-differs", author)] if author else []
        expected += [(key, "title-differs", '"Neither of these"')] if has_title else []
        expected += [(key, "year-differs", str(year))] if year else []
    options = "--records", "--online", "--resolver", doi_proxy.url, "--select"
    path, text = ENTRIES[case]["path"], "\n".join(ENTRIES[case]["lines"])
    found = findings(path, text, *options, "title-differs,year-differs,author-differs")
    members = "doi", "line", "column", "end_column"
    told_at, located = (
        {tuple(map(one.get, members)) for one in ones} for ones in (found, places(path, text))
    )
    assert told_at <= located
    told = ((one["entry"], one["code"], re.split(".* (?:not|is) ", one["message"])[-1]) for one in found)
    assert [*told] == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('@misc{a, title = {{\\"U}ber \\emph{Flies} --\n a \\textbf{study}}}', "Über Flies – a study"),
        ("@misc{a, title = {Part } # 2 # { of } # {two}, title = {Other}}", "Part 2 of two"),
        ("@string{x = {On }}\n@misc{a, title = x # \"dikes\"}", "On dikes"),
    ],
)  # fmt: skip
def test_the_title_of_an_entry_without_a_doi_is_listed(text: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(text, "utf-8")
    run = doiuri("check", "--isolated", "--offline", "--records", "-o", "markdown", cwd=tmp_path)
    assert f"No DOI given for title: {title}\n" in run.stdout
