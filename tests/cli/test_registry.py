"""What the lock file, the cache and the registry say, in how many requests; no answer is no finding."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from itertools import compress, product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, LockFile, Resolver, SQLiteStore
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import assert_same
from support.cli.command import doiuri, piece
from support.doi_org import doi_org

if TYPE_CHECKING:
    from collections.abc import Iterable

DEAD = "10.5555/nope"
JSON = "application/json"
KNOWN = [f"10.1000/{number}" for number in range(180, 190)]
RECORDS = {
    "records": [{"handle": name, "values": []} for name in KNOWN],
    "agencies": {"10.1000": "Crossref"},
}

pytestmark = pytest.mark.doi_records(RECORDS)


def check(
    folder: Path, names: Iterable[str], *options: object
) -> tuple[dict[str, list[str]], list[int]]:
    """Return the messages about names by their code, and how many names are known, asked and unknown."""
    (folder / "a.txt").write_text("".join(f"doi:{name}\n" for name in names))
    words = "check", "-o", "jsonl", *options
    run = doiuri(*words, cwd=folder)
    told: dict[str, list[str]] = {}
    for one in map(json.loads, run.stdout.splitlines()):
        told.setdefault(one["code"], []).append(one["message"])
    figures = r"(\d+) known(?:, (\d+) asked in \d+ requests?)?(?:\. (\d+) could not be checked: .{1,150})?\."
    found = re.search(figures, run.stderr)
    return told, [int(figure or 0) for figure in found.groups()] if found else []


@pytest.mark.parametrize("locked", [False, True])
def test_findings_and_figures_do_not_depend_on_how_many_files_are_judged_together(
    locked: bool, doi_proxy: Proxies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each DOI counts once, wherever it is mentioned."""
    tree = tmp_path / "tree"
    tree.mkdir()
    texts = [
        f"{KNOWN[0]} {DEAD}",
        KNOWN[1],
        f"{DEAD} {KNOWN[0].upper()} 10.1000/18O",
        "",
        "10.1000/18O",
    ]
    for number, text in enumerate(texts):
        (tree / f"{number}.txt").write_text(text)
    (tree / "cassettes").mkdir()
    (tree / "cassettes" / "a.yaml").write_text(
        f"interactions:\n- doi:{KNOWN[0]} doi:10.5555/other\n"
    )
    doiuri("lock", "--resolver", doi_proxy.url, "--existence", "0.txt", "1.txt", cwd=tree)
    (tree / "1.txt").write_text("")
    words = ["check", "-o", "concise", "--resolver", doi_proxy.url, "--cache=", "--lock="]
    if locked:
        words[-1:] = ["--lock=doi.lock.json", "--locked"]

    together = doiuri(*words, cwd=tree)
    monkeypatch.setattr("doiuri_cli._run._BATCH", 1)
    apart = doiuri(*words, cwd=tree)

    assert "10.5555/nope" in together.stdout
    assert ("lock-unused" in together.stdout) == locked
    assert apart.stdout == together.stdout
    requests = re.compile(r"in \d+ requests?")
    assert requests.sub("", apart.stderr) == requests.sub("", together.stderr)


def test_mentions_are_not_kept_longer_than_their_files_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        lines = [f"https://doi.org/10.1000/{number}-{line}\n" for line in range(50)]
        (tmp_path / f"{number}.txt").write_text("".join(lines))
    monkeypatch.setattr("doiuri_cli._run._BATCH", 100)
    usages = []

    for count in (10, 10, 30):  # the first run also loads modules
        paths = [f"{number}.txt" for number in range(count)]
        tracemalloc.start()
        run = doiuri("check", "--isolated", "--offline", "--cache=", *paths, cwd=tmp_path)
        usages.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert f"any of {count * 50} DOIs" in run.stderr

    assert usages[2] < 1.5 * usages[1]


def test_a_registered_name_that_was_probably_meant_is_suggested(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    meant = {
        "10.1000/18O": "10.1000/180",
        "10.1000/l81": "10.1000/181",
        "10.1000/182.pdf": "10.1000/182",
        "10.1000/183/full/html": "10.1000/183",
        "10.1000/184/fulltext.pdf": "10.1000/184",
        "10.1000/185/supplement": "10.1000/185",
        "10.1000/nope/data": None,
    }
    options = (
        "--resolver",
        doi_proxy.url,
        "--cache",
        tmp_path / "answers.sqlite",
        "--select=not-found",
    )
    messages = []
    for name, guess in meant.items():
        hint = f"; did you mean {guess}?" if guess else ""
        messages.append(f"{name} is not registered{hint}")

    told = check(tmp_path, meant, *options)[0]

    assert told["not-found"] == messages
    requests = len(doi_proxy.log)
    assert check(tmp_path, meant, *options)[0] == told
    assert len(doi_proxy.log) == requests + 1  # about the guess that is not registered


# A dead name, and what may have been meant by it, the most probable first
GUESSES = {
    "10.1000/{}O.pdf": ["10.1000/{}O", "10.1000/{}0.pdf"],
    "10.1000/{}/l2/full": ["10.1000/{}/l2", "10.1000/{}/12/full"],
    "10.1000/{}/I3/page": ["10.1000/{}/13/page", "10.1000/{}/I3"],
    "10.1000/{}/o4/x/meta": ["10.1000/{}/o4/x", "10.1000/{}/04/x/meta"],
    "10.1000/{}/a/5O/x.pdf": ["10.1000/{}/a/5O/x", "10.1000/{}/a/50/x.pdf", "10.1000/{}/a/5O"],
}


@pytest.mark.parametrize("form", GUESSES)
def test_of_several_registered_names_that_may_be_meant_the_most_probable_is_suggested(
    form: str, doi_proxy: Proxies, tmp_path: Path
) -> None:
    """For each choice of the guesses that are registered."""
    expected: dict[str, str] = {}
    registered: list[str] = []
    for number, chosen in enumerate(product((False, True), repeat=len(GUESSES[form])), 20):
        names = [guess.format(number) for guess in compress(GUESSES[form], chosen)]
        registered += names
        hint = f"; did you mean {names[0]}?" if names else ""
        expected[form.format(number)] = f"{form.format(number)} is not registered{hint}"
    proxy = doi_proxy([{"handle": name, "values": []} for name in registered])

    told = check(tmp_path, expected, "--resolver", proxy.url, "--select=not-found", "--cache=")[0]

    messages = dict(zip(expected, told["not-found"], strict=True))
    assert_same("what is said about a dead name", messages, expected)


def test_a_longer_name_that_is_registered_is_meant_and_no_guess(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    """In "see 10.1000/1O.", it is "10.1000/1O." and not "10.1000/10", which is registered, too."""
    longer = {f"10.1000/{number}O": f"10.1000/{number}O." for number in range(1, 4)}
    guesses = [name.replace("O", "0") for name in longer]
    proxy = doi_proxy([{"handle": name, "values": []} for name in [*longer.values(), *guesses]])
    options = "--resolver", proxy.url, "--cache=", "--select=not-found"

    # Each is mentioned in a sentence; the last one also without its full stop
    (tmp_path / "b.txt").write_text(f"doi:{[*longer][-1]} there\n")
    words = [*("check", "-o", "jsonl"), *options, "a.txt", "b.txt"]
    (tmp_path / "a.txt").write_text("".join(f"See doi:{name}\n\n" for name in longer.values()))
    told = map(json.loads, doiuri(*words, cwd=tmp_path).stdout.splitlines())

    assert_same(
        "what is said about names that are registered with a full stop",
        [(one["path"], one["message"]) for one in told],
        [("b.txt", "10.1000/3O is not registered; did you mean 10.1000/3O.?")],
    )


def test_a_slash_belongs_to_a_name_that_is_registered_only_with_it(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    proxy = doi_proxy([{"handle": name, "values": []} for name in ("10.24447/slc/", "10.1000/182")])
    text = "doi:10.24447/slc/, doi:10.24447/SLC/\n doi:10.1000/182/ doi:10.24447/nope/ doi:10.24447/slc"
    (tmp_path / "a.txt").write_text(text)
    run = doiuri("check", "--resolver", proxy.url, "--cache", ":memory:", cwd=tmp_path)
    said = [line.partition("[not-found] ")[2] for line in run.stdout.splitlines()]
    assert [line for line in said if line] == [
        "10.24447/nope is not registered",
        "10.24447/slc is not registered; did you mean 10.24447/slc/?",
    ]
    asked = [request.path.decode().removeprefix("/api/handles/") for request in proxy.log]
    assert sorted(asked) == [
        "10.1000/182",
        "10.24447/SLC",
        "10.24447/nope",
        "10.24447/nope/",
        "10.24447/slc/",
        "10.24447/slc/%2C",
    ]


def test_a_name_that_exists_is_right_however_odd_it_looks(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    """A comment that ignores the advice is needed without the registry, so it is not unused with it."""
    proxy = doi_proxy([{"handle": "10.24447/slc/", "values": []}])
    lines = [
        "doi = {10.24447/slc/}",
        "doi = {10.24447/nope/}",
        "doi = {10.24447/SLC/} % doiuri: ignore[trailing-slash,duplicate]",
    ]
    entries = [f"@misc{{k{number},\n{line}\n}}\n" for number, line in enumerate(lines)]
    (tmp_path / "a.bib").write_text("".join(entries))
    told = {}
    for words in (["--offline"], ["--resolver", proxy.url]):
        run = doiuri("check", "-o", "jsonl", "--cache", ":memory:", *words, cwd=tmp_path)
        found = map(json.loads, run.stdout.splitlines())
        told[words[0]] = [(one["code"], one["line"]) for one in found]
    assert told["--offline"] == [("trailing-slash", 2), ("trailing-slash", 5)]
    assert told["--resolver"] == [("not-found", 5)]


FRESH = time.time() + 3600
STALE = 1.0
FOUND = 1
GONE = 100


def entry(name: str, code: int, expires: float) -> Entry:
    """An answer about a name."""
    return Entry(
        json.dumps({"responseCode": code, "handle": name, "values": []}).encode(), JSON, expires
    )


LOCKED = {
    "10.1000/LOCKED": FOUND,
    "10.1000/180": GONE,  # the registry knows it by now
    "10.1000/ACCEPTED": GONE,
    "10.1000/UNUSED": FOUND,
}
STORED = [
    ("10.1000/LOCKED", GONE, FRESH, True),
    ("10.1000/FRESH", FOUND, FRESH, True),
    ("10.1000/181", GONE, FRESH, True),
    ("10.1000/182", GONE, STALE, True),
    ("10.1000/STALE", FOUND, STALE, True),
    ("10.1000/183", GONE, FRESH, False),
]
"""DOI, answer, expiry, and whether it is that of the resolver which is asked."""
SOURCES = [
    "10.1000/LOCKED",
    "10.1000/180",
    "10.1000/ACCEPTED",
    "10.1000/FRESH",
    "10.1000/181",
    "10.1000/182",
]
SOURCES += ["10.1000/STALE", "10.1000/183", "10.1000/184", DEAD.upper()]
DEAD_ONES = ["10.1000/180", "10.1000/181", "10.1000/STALE", DEAD.upper()]


@pytest.mark.parametrize(
    ("options", "dead", "figures", "missing"),
    [
        ("", DEAD_ONES, [5, 5, 0], 0),
        ("--offline", DEAD_ONES[:2], [6, 0, 4], 7),
        ("--locked", DEAD_ONES[:1], [3, 0, 7], 7),
        ("--resolver=http://127.0.0.1:1", DEAD_ONES[:2], [5, 5, 4], 0),
    ],
    ids=["online", "offline", "locked", "no network"],
)
def test_the_lock_file_answers_first_then_the_store_then_the_registry(
    options: str,
    dead: list[str],
    figures: list[int],
    missing: int,
    doi_proxy: Proxies,
    tmp_path: Path,
) -> None:
    words = options.split()
    if not options.startswith("--resolver="):
        words.append(f"--resolver={doi_proxy.url}")
    address = next(word[11:] for word in words if word.startswith("--resolver="))
    file = LockFile(tmp_path / "doi.lock.json")
    store = SQLiteStore(str(tmp_path / "a.sqlite"))
    file.put_many(
        {Key("record", DOI_ORG, key): entry(key, code, FRESH) for key, code in LOCKED.items()}
    )
    file.edit(lambda content: content.accepted.update({"10.1000/ACCEPTED": "an example"}))
    for key, code, expires, is_ours in STORED:
        base = address if is_ours else "https://other.example"
        store.put_many({Key("record", base, key): entry(key, code, expires)})
    store.close()
    told, found = check(
        tmp_path,
        SOURCES,
        *words,
        "--cache",
        tmp_path / "a.sqlite",
        "--select=not-found,lock-missing",
    )
    assert [message.split()[0] for message in told.get("not-found", [])] == dead
    lacking = [message.split()[0] for message in told.get("lock-missing", [])]
    assert lacking == SOURCES[len(SOURCES) - missing :]
    assert found == figures


@pytest.mark.parametrize(
    "answer", [{"json": {"responseCode": 2}}, {"json": {"responseCode": [1]}}, {"text": ""}]
)
def test_an_entry_without_an_answer_is_missing_and_used(answer: object, tmp_path: Path) -> None:
    content = {"doiuri-lock": 1, "record": {"10.1000/182": answer}}
    (tmp_path / "doi.lock.json").write_text(json.dumps(content))
    assert [*check(tmp_path, ["10.1000/182"], "--locked")[0]] == ["lock-missing"]


def test_differences_to_the_lock_file_are_findings(doi_proxy: Proxies, tmp_path: Path) -> None:
    with doi_org(doi_proxy.url), Resolver(store=LockFile(tmp_path / "doi.lock.json")) as resolver:
        list(resolver.check([KNOWN[0], *(unused := [*KNOWN[1:3], "10.1000/é"])]))  # as Sphinx does
    locked = (tmp_path / "doi.lock.json").read_text("utf-8")
    (tmp_path / "my file.txt").write_text(f"doi:{KNOWN[0]} doi:{KNOWN[5]}")
    options = ("check", "--locked", "--resolver", f"{doi_proxy.url}/", "-o", "concise")
    run = doiuri(*options, cwd=tmp_path)
    lines = run.stdout.splitlines()
    command = "doiuri lock --lock doi.lock.json 'my file.txt'"
    assert (
        lines[0]
        == f"my file.txt:1:17: warning[lock-missing] {KNOWN[5]} is not in the lock file; run {command}"
    )
    assert [line.partition(" is in")[0].split(": ", 1)[1] for line in lines[1:]] == [
        f"warning[lock-unused] {name}" for name in unused
    ]
    told = map(json.loads, doiuri(*options[:-1], "jsonl", cwd=tmp_path).stdout.splitlines()[1:])
    assert [(one["path"], piece(locked, one)) for one in told] == [
        ("doi.lock.json", f'"{name}"') for name in unused
    ]
    full = doiuri(*options[:-1], "full", cwd=tmp_path).stdout
    assert (run.returncode, f'\n    4 | "{unused[0]}": ' in full) == (
        0,
        True,
    ), full
    # named files are not all files
    assert "lock-unused" not in doiuri(*options, "my file.txt", cwd=tmp_path).stdout
    # offline, the same findings; the explanation of each says so
    offline = doiuri("check", "--offline", *options[2:], cwd=tmp_path)
    assert offline.stdout == run.stdout
    for code in ("lock-missing", "lock-unused"):
        text = " ".join(doiuri("rule", code, cwd=tmp_path).stdout.split())
        assert (
            "Reported only with `--locked`, or with `--offline` if there is a lock file." in text
        ), code
