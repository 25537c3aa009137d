"""``doiuri check --compare``: entries of bibliographies compared with the registry's metadata."""

from __future__ import annotations

import json
import re
import subprocess
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest
from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, LockContent, LockFile, SQLiteStore
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_same
from support.cli.command import doiuri, findings, places
from support.cli.library import (
    BAD,
    BARE,
    CSL,
    DEAD,
    DOUBTED,
    GONE,
    KAHN,
    PREPRINT,
    RECORDS,
    item,
    work,
)

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
    options = ("--resolver", proxy.url, *CODES, "-o", "json")
    cache = str(folder / "cache.sqlite")  # unless --cache names another
    run = doiuri("check", *options, *arguments, cwd=folder, DOIURI_CACHE=cache)
    found = [(item["entry"], item["code"], item["line"]) for item in json.loads(run.stdout)]
    return run, found


def test_differences_are_warnings_at_the_doi(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB)
    run, found = check(tmp_path, doi_proxy, "--compare")
    expected = [("wrong", f"{member}-differs", 4) for member in ("author", "title", "year")]
    assert found == [*expected, ("gone", "retracted", 6)]
    assert run.returncode == 0
    requests = len(doi_proxy.log)
    assert check(tmp_path, doi_proxy, "--compare")[1] == found
    assert len(doi_proxy.log) == requests
    assert check(tmp_path, doi_proxy)[1] == []
    (tmp_path / "a.bib").write_text(
        BIB.replace(f"{BAD}}}}}", f"{BAD}}}}} % doiuri: ignore[retracted]")
    )
    assert check(tmp_path, doi_proxy, "--compare")[1] == expected
    assert len(doi_proxy.log) == requests
    assert check(tmp_path, doi_proxy, "--compare", "--offline", "--cache", ":memory:")[1] == []
    (tmp_path / "doiuri.toml").write_text("max-age = 0\n")
    assert check(tmp_path, doi_proxy, "--compare", "--offline")[1] == expected


def test_a_notice_is_one_finding_and_information_never_fails(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    dois = (KAHN, BAD, GONE, DOUBTED, PREPRINT)
    (tmp_path / "a.bib").write_text(
        "".join(f"@misc{{k{n}, doi={{{doi}}}}}\n" for n, doi in enumerate(dois))
    )
    notices = "--select=retracted,concern,preprint-published"
    options = "--compare", "--resolver", doi_proxy.url, "--cache", tmp_path / "c.sqlite", notices
    run = doiuri("check", *options, "-o", "concise", "--fail-on=warning", cwd=tmp_path)
    assert [line.partition(" ")[2] for line in run.stdout.splitlines()] == [
        f"warning[retracted] k1: {BAD}: retracted",
        f"warning[retracted] k2: {GONE}: retracted 2013-06-05; notice 10.5555/third",
        f"warning[concern] k3: {DOUBTED}: expression of concern 2012; notice 10.5555/second",
        f"info[preprint-published] k4: {PREPRINT} is a preprint of 10.5555/printed",
    ]
    assert (run.returncode, "3 warnings, 1 info." in run.stderr) == (1, True)
    (tmp_path / "a.bib").write_text(f"@misc{{k, doi={{{PREPRINT}}}}}\n")
    assert doiuri("check", *options, "--fail-on=warning", cwd=tmp_path).returncode == 0


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
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.bib").write_text(f"{more[3]}\n@misc{{b, doi={{{GONE}}}}}")
    check(
        tmp_path, doi_proxy, "--compare", "--select=not-found,syntax", "-o", "markdown:summary.md"
    )
    lists = (
        (tmp_path / "summary.md").read_text().partition("**OK DOIs**")[2].partition("Checked")[0]
    )
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


def test_nobody_is_asked_for_the_work_of_a_doi_that_is_accepted_as_missing(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    content = LockContent()
    content.accepted[DEAD] = "an example"
    (tmp_path / "doi.lock.json").write_bytes(content.render())
    (tmp_path / "a.bib").write_text(f"@misc{{k, title={{X}}, doi={{{DEAD}}}}}\n")
    server = "--cache=:memory:", f"--resolver={doi_proxy.url}"

    run = doiuri("check", "--compare", *server, cwd=tmp_path)

    assert_same("the requests", [request.path for request in doi_proxy.log], [])
    assert_same("the exit code", run.returncode, 0)


DAY, NULL = 86400, ("null", inf)
LOCKED = {"none": None, "null": NULL, "young": ("Locked", 0), "old": ("Locked", -DAY)}
CACHED = {"none": None, "null": ("null", DAY), "fresh": ("Cached", DAY), "stale": ("Cached", -DAY)}
STATES = {
    f"10.5555/{one}-{other}": (LOCKED[one], CACHED[other]) for one in LOCKED for other in CACHED
}
OLD = "old works in the lock file could not be renewed: "


@pytest.mark.doi_records(
    [item(name, metadata={CSL: work("Asked", "A", "B", 2000)}) for name in STATES]
)
@pytest.mark.parametrize(
    ("max_age", "options", "titles", "requests", "old"),
    [
        (30, "", "A-CA ---- LLLL ALCA", 4, ""),
        (29, "", "AAAA ---- AAAA AAAA", 12, ""),
        (31, "", "A-CA ---- LLLL LLLL", 2, ""),
        (0, "", "AAAA AAAA AAAA AAAA", 16, ""),
        (30, "--offline", "--CC ---- LLLL LLCL", 0, f"2 {OLD}offline: request not sent."),
        (0, "--offline", "--CC --CC LLCL LLCL", 0, f"4 {OLD}offline: request not sent."),
        (30, "--locked", "---- ---- LLLL LLLL", 0, f"4 {OLD}--locked sends no requests."),
        (30, "--resolver=http://127.0.0.1:9", "--CC ---- LLLL LLCL", 0, f"2 {OLD}127.0.0.1:9: "),
    ],
)
def test_a_work_is_that_of_the_lock_file_the_cache_or_the_registry(
    max_age: int,
    options: str,
    titles: str,
    requests: int,
    old: str,
    tmp_path: Path,
    doi_proxy: Proxies,
) -> None:
    """Whose title is told, in the order of ``STATES``."""
    words = options.split()
    if not options.startswith("--resolver="):
        words.append(f"--resolver={doi_proxy.url}")
    base = next(word[11:] for word in words if word.startswith("--resolver="))
    store = SQLiteStore(tmp_path / "cache.sqlite")
    now = time.time()

    def entry(title: str, lifetime: float) -> Entry:
        body = b"null" if title == "null" else json.dumps({"title": title}).encode()
        return Entry(body, CSL, now + lifetime)

    def fill(content: LockContent) -> None:
        for name, (locked, cached) in STATES.items():
            key = Key("work", DOI_ORG, name.upper())
            record = json.dumps({"responseCode": 1, "handle": name, "values": []}).encode()
            content.add({key._replace(kind="record"): Entry(record, "application/json", inf)})
            if locked is not None:
                content.add({key: entry(*locked)})
            if cached is not None:
                store.put_many({key._replace(base=base): entry(*cached)})

    LockFile(tmp_path / "doi.lock.json").edit(fill)
    store.close()
    (tmp_path / "doiuri.toml").write_text(f"max-age = {max_age}\n")
    (tmp_path / "a.bib").write_text(
        "".join(f"@misc{{k, title={{X}}, doi={{{name}}}}}\n" for name in STATES)
    )
    asked = "--compare", "--select=title-differs", "--cache", tmp_path / "cache.sqlite"

    run = doiuri("check", *asked, "-o", "jsonl", *words, cwd=tmp_path)

    told = dict.fromkeys(STATES, "-")
    for finding in map(json.loads, run.stdout.splitlines()):
        title = finding["message"].split('"')[1]
        told[finding["doi"]] = title[0]
    assert told == dict(zip(STATES, titles.replace(" ", ""), strict=True))
    assert len(doi_proxy.log) == requests, run
    assert old in run.stderr, run
    assert (OLD in run.stderr) == bool(old), run


PAIRS: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("same.json").read_text())
CASES: dict[str, Any] = {}
for of_kind, pairs in PAIRS.items():
    for number, (same, written_forms, *known_forms) in enumerate(pairs):
        forms = written_forms if isinstance(written_forms, list) else [written_forms]
        for number_of_form, one_form in enumerate(forms):
            case_name = f"{of_kind}-{number}.{number_of_form}"
            CASES[case_name] = (of_kind, same, one_form, *known_forms)
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
    if kind == "authors":
        return {"author": [{"literal": written}]}
    return {"issued": {"raw": str(written)}}


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
    item(
        f"10.5555/{name}",
        metadata={CSL: {"type": "book", "title": "Known", **registered(kind, *known)}},
    )
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
        options = (
            "--compare",
            "--online",
            "--resolver",
            proxy.url,
            "--select",
            ",".join(DIFFERS.values()),
        )
        listed = findings("a.json", json.dumps(works), *options)
    found: dict[str, list[str]] = {name: [] for name in CASES}
    for one in listed:
        found[one["entry"]].append(one["code"])
    return found


@pytest.mark.parametrize("kind", DIFFERS)
def test_titles_authors_and_years_of_one_work(kind: str, told: dict[str, list[str]]) -> None:
    expected = {}
    for name, (kind_of_case, same, *values) in CASES.items():
        if kind_of_case == kind:
            expected[name, *map(str, values)] = [] if same == "same" else [DIFFERS[kind]]

    found = {case: told[case[0]] for case in expected}

    assert_same(
        f"the findings on {kind}, as they are written and as they are known", found, expected
    )


ENTRIES: dict[str, Any] = json.loads(Path(__file__).with_name("entries.json").read_text("utf-8"))
OTHERS = [
    item(f"10.1000/{suffix}", metadata={CSL: work("Neither of these", "Zoe", "Zapf", 1700)})
    for suffix in ("a_b", *range(1, 7))
]


@pytest.mark.doi_records(OTHERS)
@pytest.mark.parametrize("case", ENTRIES)
def test_title_year_and_first_author_of_each_entry_are_compared(
    case: str, doi_proxy: Proxies
) -> None:
    """Whatever an entry has differs from these works, and the message names what it has."""
    expected = []
    for key, has_title, year, author in ENTRIES[case]["entries"]:
        if author:
            expected.append((key, "author-differs", author))
        if has_title:
            expected.append((key, "title-differs", '"Neither of these"'))
        if year:
            expected.append((key, "year-differs", str(year)))
    options = "--compare", "--online", "--resolver", doi_proxy.url
    path = ENTRIES[case]["path"]
    text = "\n".join(ENTRIES[case]["lines"])

    found = findings(path, text, *options, "--select", "title-differs,year-differs,author-differs")

    assert {*map(where, found)} <= {*map(where, places(path, text))}
    told = []
    for finding in found:
        *_, value = re.split(".* (?:not|is) ", finding["message"])
        told.append((finding["entry"], finding["code"], value))
    assert told == expected


def where(place: dict[str, Any]) -> tuple[Any, ...]:
    """Return the DOI, and where it is."""
    return tuple(place[member] for member in ("doi", "line", "column", "end_column"))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('@misc{a, title = {{\\"U}ber \\emph{Flies} --\n a \\textbf{study}}}', "Über Flies – a study"),
        ("@misc{a, title = {Part } # 2 # { of } # {two}, title = {Other}}", "Part 2 of two"),
        ("@string{x = {On }}\n@misc{a, title = x # \"dikes\"}", "On dikes"),
    ],
)  # fmt: skip
def test_the_title_of_an_entry_without_a_doi_is_listed(
    text: str, title: str, tmp_path: Path
) -> None:
    (tmp_path / "a.bib").write_text(text, "utf-8")
    (tmp_path / "b.bib").write_text("@misc{b, doi = {10.1000/unknown}}")
    run = doiuri("check", "--isolated", "--offline", "--compare", "-o", "markdown", cwd=tmp_path)
    assert f"No DOI given for title: {title}\n" in run.stdout
    assert "**OK DOIs**\n\n- None\n" in run.stdout
