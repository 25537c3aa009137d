"""``doiuri check --search`` and ``doiuri fix --search``: the DOIs of works that have none."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from doiuri import bibtex
from doiuri.search import Search

# Private: how often fixes are proved shows in no output
from doiuri_cli import _fixes
from support.checks import assert_same
from support.cli.command import doiuri
from support.servers.search import search_site, searches
from support.servers.web import Site

IZZO = "10.1007/s10569-014-9587-y"
REGISTERED: list[dict[str, Any]] = [
    {
        "DOI": IZZO,
        "type": "journal-article",
        "title": ["Revisiting Lambert’s problem"],
        "author": [{"family": "Izzo", "given": "Dario"}],
        "issued": {"date-parts": [[2014, 10]]},
        "container-title": ["Celestial Mechanics and Dynamical Astronomy"],
        "volume": "121",
        "page": "1-15",
    },
    {
        "DOI": "10.1109/cvpr.2016.540",
        "type": "proceedings-article",
        "title": ["Traffic-sign detection and classification in the wild"],
        "author": [{"family": "Zhu", "given": "Zhe"}],
        "issued": {"date-parts": [[2016]]},
        "container-title": ["Proc. CVPR"],
    },
    {
        "DOI": "10.1000/b",
        "type": "book",
        "title": ["Orbits of many bodies"],
        "author": [{"family": "Weber", "given": "Anna"}],
        "issued": {"date-parts": [[2010]]},
    },
    *[
        {
            "DOI": doi,
            "type": "article-journal",  # as repositories call what they have
            "title": ["Rivers of two hills"],
            "author": [{"family": "Bach", "given": "Carl"}],
            "issued": {"date-parts": [[2009]]},
        }
        for doi in (
            "10.48550/arXiv.1412.6980",
            "10.48550/arXiv.math/0307200",
            "10.17487/RFC0791",
            "10.18653/v1/2020.acl-main.1",
            "10.18653/v1/P19-1001",
            "10.3115/v1/P03-1001",
            "10.5281/zenodo.77",
        )
    ],
]
FIELDS = (
    "author = {Izzo, Dario}, title = {Revisiting Lambert's problem}, year = {2014}, volume = {121}"
)
ENTRY = f"@article{{izzo2014, {FIELDS}}}\n"
LIKELY = "@misc{zhu2016, author = {Zhu, Zhe}, title = {Traffic-Sign Detection and Classification in the Wild}, year = {2016}}\n"  # fmt: skip  # noqa: E501
UNKNOWN = "@book{nobody, author = {Weber, A.}, title = {A book that nobody has registered}, year = {2014}}\n"


@pytest.fixture(scope="module")
def servers() -> Iterator[Site]:
    with search_site(REGISTERED) as running:
        yield running


AGREE = "(title, first author, year and volume agree)"
BOTH = "Crossref and DataCite (their titles, authors and years were sent)"
Run = subprocess.CompletedProcess[str]


def run(servers: Site, folder: Path, command: str, *arguments: object, **environ: str) -> Run:
    addresses: dict[str, Any] = {
        f"DOIURI_{name}": servers.url for name in ("CROSSREF", "DATACITE", "RESOLVER")
    }
    variables = addresses | {"DOIURI_CACHE": ":memory:"} | environ
    return doiuri(command, *arguments, cwd=folder, **variables)


def check(
    servers: Site, folder: Path, name: str, text: str, *arguments: object, **environ: str
) -> Run:
    (folder / name).write_text(text, "utf-8")
    return run(servers, folder, "check", "-o", "concise", *arguments, name, **environ)


def fix(servers: Site, folder: Path, name: str, text: str) -> str:
    """Return a text after ``doiuri fix --search``."""
    (folder / name).write_bytes(text.encode())
    done = run(servers, folder, "fix", "--search", "--unsafe-fixes", name)
    assert done.returncode == 0, done
    return (folder / name).read_bytes().decode()


def sent(servers: Site) -> int:
    return len(searches(servers))


def test_what_is_found_is_said_with_its_evidence(servers: Site, tmp_path: Path) -> None:
    before = sent(servers)
    done = check(servers, tmp_path, "paper.bib", ENTRY + LIKELY + UNKNOWN, "--search")
    assert done.stdout.splitlines() == [
        f"paper.bib:1:1: info[doi-found] izzo2014: is registered as {IZZO} {AGREE}",
        (
            "paper.bib:2:1: info[doi-likely] zhu2016: may be 10.1109/cvpr.2016.540 (2016, in Proc. CVPR):"
            " the same title and first author"
        ),
    ]
    assert done.stderr.splitlines()[1:] == [
        f"Searched for 3 works without a DOI at {BOTH}: 1 found, 1 likely, 1 not found.",
        "2 infos. 1 DOI can be added with doiuri fix --search --unsafe-fixes. doiuri rule CODE explains a code.",
    ]
    assert done.returncode == 0
    assert sent(servers) == before + 4  # of the @misc, both servers are asked


def test_works_in_test_data_are_sent_only_if_the_file_is_named(
    servers: Site, tmp_path: Path
) -> None:
    for name in ("tests/refs.bib", "fixtures/data/refs.bib", "cassettes/refs.bib"):
        before = sent(servers)
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(ENTRY)

        run(servers, tmp_path, "check", "--search", ".")
        run(servers, tmp_path, "fix", "--search", "--unsafe-fixes", ".")

        assert sent(servers) == before, f"the works in {name} were sent"
        assert (tmp_path / name).read_text() == ENTRY

    run(servers, tmp_path, "check", "--search", "tests/refs.bib")
    assert sent(servers) == before + 1


def test_a_likely_work_is_not_unknown_too_if_one_server_fails(
    servers: Site, tmp_path: Path
) -> None:
    failing = {"DOIURI_DATACITE": "http://127.0.0.1:1"}
    done = check(servers, tmp_path, "paper.bib", ENTRY + LIKELY, "--search", **failing)

    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Searched for")]
    figures = re.findall(r"(-?\d+) (found|likely|not found|unknown)", line.partition(": ")[2])
    expected = [("1", "found"), ("1", "likely"), ("0", "not found")]
    assert figures == expected, f"of one work that is sure and one that is likely: {line}"


def test_without_the_option_nothing_is_searched_for(servers: Site, tmp_path: Path) -> None:
    before = sent(servers)
    done = check(servers, tmp_path, "paper.bib", ENTRY)
    assert (done.stdout, sent(servers)) == ("", before)
    assert "earched" not in done.stderr


def test_the_variable_turns_it_on(servers: Site, tmp_path: Path) -> None:
    done = check(servers, tmp_path, "paper.bib", ENTRY, DOIURI_SEARCH="1")
    assert "doi-found" in done.stdout


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("search = true", "turn on the search with --search or DOIURI_SEARCH"),
        ('crossref = "https://example.org"', "name the server with DOIURI_CROSSREF"),
        ('datacite = "https://example.org"', "name the server with DOIURI_DATACITE"),
    ],
)
def test_a_configuration_file_cannot_send_works_anywhere(
    line: str, remedy: str, servers: Site, tmp_path: Path
) -> None:
    (tmp_path / "doiuri.toml").write_text(line)
    done = check(servers, tmp_path, "paper.bib", ENTRY)
    key = line.partition(" ")[0]
    assert done.stderr == f"doiuri: doiuri.toml: {key}: {remedy}, not in a configuration file\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    "text",
    [
        f"@article{{a, {FIELDS}, doi = {{none}}}}",
        f"@article{{a, {FIELDS}, doi = {{}}}}",
        f"@article{{a, {FIELDS}, doi = {{{IZZO}}}}}",
        f"@unpublished{{a, {FIELDS}}}",
        f"@article{{a, {FIELDS}, note = {{In preparation}}}}",
        f"@article{{a, {FIELDS}, note = {{personal communication}}}}",
        f"@article{{a, {FIELDS}, pubstate = {{submitted}}}}",
        f"@article{{a, {FIELDS}, pubstate = {{inpreparation}}}}",
        f"@article{{a, {FIELDS}, status = {{submitted}}}}",
        f"@article{{a, {FIELDS}, howpublished = {{Pers. comm.}}}}",
        f"@article{{a, {FIELDS.replace('2014', 'in preparation')}}}",
        f"@article{{a, {FIELDS}, DOI = {{none}}}}",
        f"@article{{a, {FIELDS}}} % doiuri: ignore[doi-found]",
        f"% doiuri: ignore-file[doi-found]\n@article{{a, {FIELDS}}}",
        f"@article{{a, {FIELDS}",
    ],
    ids=ascii,
)
def test_such_entries_are_not_sent(text: str, servers: Site, tmp_path: Path) -> None:
    before = sent(servers)
    done = check(
        servers, tmp_path, "paper.bib", text, "--search", "--select", "doi-found,unused-ignore"
    )
    assert (done.stdout, sent(servers) - before) == ("", 0), text
    assert "No works without a DOI to search for." in done.stderr, text


NAMED = {
    "10.48550/arXiv.1412.6980": [
        "@misc{KEY, eprint = {1412.6980}, archivePrefix = {arXiv}, primaryClass = {cs.LG}, FIELDS}",
        "@online{KEY, eprint = {1412.6980v3}, eprinttype = {arxiv}, FIELDS}",
        "@article{KEY, journal = {arXiv preprint arXiv:1412.6980}, FIELDS}",
        "@article{KEY, journal = {CoRR}, volume = {abs/1412.6980}, FIELDS}",
        "@article{KEY, journal = {arXiv e-prints}, pages = {arXiv:1412.6980}, FIELDS}",
        "@misc{KEY, howpublished = {arXiv:1412.6980 [cs.LG]}, FIELDS}",
        "@misc{KEY, url = {https://arxiv.org/pdf/1412.6980v9.pdf}, FIELDS}",
    ],
    "10.48550/arXiv.math/0307200": [
        "@misc{KEY, eprint = {math.GT/0307200v2}, archivePrefix = {arXiv}, FIELDS}",
        "@misc{KEY, note = {arXiv:math/0307200}, FIELDS}",
    ],
    "10.17487/RFC0791": [
        "@techreport{KEY, type = {RFC}, number = {791}, institution = {IETF}, FIELDS}",
        "@misc{KEY, series = {Request for Comments}, number = 791, FIELDS}",
        "@misc{KEY, howpublished = {RFC 791}, FIELDS}",
        "@misc{KEY, url = {https://www.rfc-editor.org/rfc/rfc791.txt}, FIELDS}",
    ],
    "10.18653/v1/2020.acl-main.1": ["@misc{KEY, url = {https://aclanthology.org/2020.acl-main.1/}, FIELDS}"],
    "10.18653/v1/P19-1001": [
        "@misc{KEY, url = {https://aclanthology.org/P19-1001v2.pdf}, FIELDS}",
        "@misc{KEY, url = {http://www.aclweb.org/anthology/P/P19/P19-1001}, FIELDS}",
    ],
    "10.3115/v1/P03-1001": ["@misc{KEY, url = {https://www.aclweb.org/anthology/P03-1001}, FIELDS}"],
    "10.5281/zenodo.77": ["@misc{KEY, url = {https://zenodo.org/records/77/files/a.zip}, FIELDS}"],
    None: [  # published works, of which there is another version
        "@article{KEY, journal = {Nature}, eprint = {1412.6980}, archivePrefix = {arXiv}, FIELDS}",
        "@book{KEY, publisher = {Springer}, eprint = {1412.6980}, archivePrefix = {arXiv}, FIELDS}",
        "@article{KEY, journal = {Nature}, url = {https://zenodo.org/record/77}, FIELDS}",
        "@article{KEY, journal = {Nature}, url = {https://doi.org/10.5281/zenodo.77}, FIELDS}",
    ],
}  # fmt: skip


def test_identifiers_of_other_kinds_name_dois(servers: Site, tmp_path: Path) -> None:
    """In all forms that reference managers write."""
    fields = "author = {Bach, C.}, title = {Rivers of two hills}, year = {2009}"
    expected: dict[str, str | None] = {}
    entries: list[str] = []
    for doi, forms in NAMED.items():
        for form in forms:
            key = f"entry{len(entries)}"
            expected[key] = doi
            entries.append(form.replace("KEY", key).replace("FIELDS", fields))
    done = check(
        servers, tmp_path, "paper.bib", "\n".join(entries), "--search", "--select", "doi-found"
    )
    said = dict(re.findall(r"(entry\d+): is registered as (\S+) \(named by its", done.stdout))
    for key, entry in zip(expected, entries, strict=True):
        assert said.get(key) == expected[key], entry


def test_neither_are_entries_in_files_whose_findings_are_ignored(
    servers: Site, tmp_path: Path
) -> None:
    before = sent(servers)
    (tmp_path / "doiuri.toml").write_text(
        '[per-file-ignores]\n"*.bib" = ["doi-found", "doi-likely"]'
    )
    check(servers, tmp_path, "paper.bib", ENTRY, "--search")
    assert sent(servers) == before


def test_what_an_entry_inherits_counts(servers: Site, tmp_path: Path) -> None:
    parent = "@proceedings{cvpr, title = {Proc. CVPR}, year = 2016}\n"
    child = LIKELY.replace("@misc", "@inproceedings").replace("year = {2016}", "crossref = {cvpr}")
    done = check(
        servers, tmp_path, "paper.bib", child + parent, "--search", "--select", "doi-found"
    )
    assert "zhu2016: is registered as 10.1109/cvpr.2016.540" in done.stdout


def test_a_chapter_does_not_get_the_doi_of_its_book(servers: Site, tmp_path: Path) -> None:
    book = "@book{book, author = {Weber, Anna}, title = {Orbits of many bodies}, year = 2010, doi = {10.1000/b}}\n"
    chapter = "@inbook{part, crossref = {book}, title = {Orbits of many bodies}, pages = {1--7}}\n"
    done = check(servers, tmp_path, "paper.bib", chapter + book, "--search")
    assert done.stdout == ""


def test_an_unreachable_server_is_no_answer(tmp_path: Path) -> None:
    nowhere: dict[str, Any] = dict.fromkeys(
        ("DOIURI_CROSSREF", "DOIURI_RESOLVER"), "http://127.0.0.1:1"
    )
    (tmp_path / "paper.bib").write_text(ENTRY)
    done = doiuri(
        "check", "--search", "paper.bib", cwd=tmp_path, DOIURI_CACHE=":memory:", **nowhere
    )
    assert "0 found, 0 likely, 0 not found, 1 unknown: 127.0.0.1:1: " in done.stderr
    assert done.returncode == 0


def test_offline_nothing_is_sent(servers: Site, tmp_path: Path) -> None:
    before = sent(servers)
    done = check(servers, tmp_path, "paper.bib", ENTRY, "--search", "--offline")
    assert "1 unknown: offline: request not sent" in done.stderr
    assert sent(servers) == before


def test_locked_and_search_contradict(servers: Site, tmp_path: Path) -> None:
    (tmp_path / "doi.lock.json").write_text("{}")
    done = check(servers, tmp_path, "paper.bib", ENTRY, "--search", "--locked")
    assert "--locked sends no requests, so that --search cannot search" in done.stderr
    assert done.returncode == 2


def test_a_long_search_is_announced(servers: Site, tmp_path: Path) -> None:
    many = "".join(ENTRY.replace("izzo2014", f"izzo{number}") for number in range(200))
    with mock.patch.object(Search, "rate", 1.0):
        done = check(servers, tmp_path, "paper.bib", many, "--search")
    assert done.stderr.startswith(
        "Searching for 200 works takes up to 3 minutes; a third of that with a mail address (DOIURI_MAILTO)."
    )


def test_fix_needs_consent(servers: Site, tmp_path: Path) -> None:
    (tmp_path / "paper.bib").write_text(ENTRY)
    done = run(servers, tmp_path, "fix", "--search", "paper.bib")
    assert done.returncode == 2
    assert "--search needs --unsafe-fixes, which writes the DOIs that are found" in done.stderr


LAYOUTS = {
    "one line": (ENTRY, f"volume = {{121}}, doi = {{{IZZO}}}}}"),
    "aligned": (
        ("@article{izzo2014,\n  author = {Izzo, Dario},\n  title  = {Revisiting Lambert's problem},\n"
        "  year   = 2014,\n  volume = {121},\n}\n"),
        f"  volume = {{121}},\n  doi    = {{{IZZO}}},\n}}",
    ),
    "names of one length": (
        ("@string{t = {Revisiting Lambert's problem}}\n@article{izzo2014,\n  title = t,\n  year = 2014,\n"
        "  author  = {Izzo, Dario},\n  volume  = {121},\n}\n"),
        f"  volume  = {{121}},\n  doi  = {{{IZZO}}},\n}}",
    ),
    "no last comma": (
        ("@article{izzo2014,\n\tauthor = {Izzo, Dario},\n\ttitle = {Revisiting Lambert's problem},\n"
        "\tyear = {2014},\n\tvolume = {121}\n}\n"),
        f"\tvolume = {{121}},\n\tdoi = {{{IZZO}}}\n}}",
    ),
    "commas first": (
        ("@article{izzo2014\n, author = {Izzo, Dario}\n, title = {Revisiting Lambert's problem}\n"
        ", year = {2014}\n, volume = {121}\n}\n"),
        f", volume = {{121}}\n, doi = {{{IZZO}}}\n}}",
    ),
    "quotation marks": (ENTRY.replace("{121}", '"121"'), f'volume = "121", doi = "{IZZO}"'),
    "upper case": (
        ("@ARTICLE{izzo2014,\n  AUTHOR={Izzo, Dario},\n  TITLE={Revisiting Lambert's problem},\n"
        "  YEAR={2014},\n  VOLUME={121}}\n"),
        f"  VOLUME={{121}},\n  DOI={{{IZZO}}}}}",
    ),
    "capitals": (
        ("@article{izzo2014,\n  Author = {Izzo, Dario},\n  Title = {Revisiting Lambert's problem},\n"
        "  Year = {2014},\n  Volume = {121}}\n"),
        f"  Volume = {{121}},\n  Doi = {{{IZZO}}}}}",
    ),
    "a comment": (
        ("@article{izzo2014,\n  author = {Izzo, Dario},\n  title = {Revisiting Lambert's problem},\n"
        "  volume = {121},\n  year = {2014}, % really\n}\n"),
        f"  volume = {{121}},\n  doi = {{{IZZO}}},\n  year = {{2014}}, % really\n}}",
    ),
    "Windows": (
        ("@article{izzo2014,\r\n  author = {Izzo, Dario},\r\n  title = {Revisiting Lambert's problem},\r\n"
        "  year = {2014},\r\n  volume = {121}\r\n}\r\n"),
        f"  volume = {{121}},\r\n  doi = {{{IZZO}}}\r\n}}",
    ),
    "parentheses": (f"@article(izzo2014, {FIELDS})\n", f"volume = {{121}}, doi = {{{IZZO}}})"),
    "numbers and macros": (
        ("@string{v = {121}}\n@article{izzo2014, author = {Izzo, Dario}, title = {Revisiting Lambert's problem},"
        " year = 2014, volume = v}\n"),
        f"problem}}, doi = {{{IZZO}}}, year = 2014",
    ),
    "text between entries": (f"Some text.\n@comment{{x}}\n{ENTRY}% end\n", f", doi = {{{IZZO}}}}}\n% end"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_doi_is_written_in_the_layout_of_the_entry(
    layout: str, servers: Site, tmp_path: Path
) -> None:
    text, expected = LAYOUTS[layout]
    after = fix(servers, tmp_path, "paper.bib", text)
    assert expected in after, layout

    def fields(source: str) -> list[list[tuple[str, str]]]:
        entries = bibtex.entries(source)
        return [[field for field in entry.fields.items() if field[0] != "doi"] for entry in entries]

    assert fields(after) == fields(text), layout
    assert _without_one_piece(after, text), layout
    assert fix(servers, tmp_path, "paper.bib", after) == after, layout


def _without_one_piece(after: str, before: str) -> bool:
    """Return whether a text is another one with one piece inserted."""
    start = next(n for n, pair in enumerate(zip(after, before, strict=False)) if pair[0] != pair[1])
    return any(
        after[:place] + after[place + len(after) - len(before) :] == before
        for place in range(start + 1)
    )


RIS = "TY  - JOUR\nTI  - Revisiting Lambert's problem\nAU  - Izzo, D.\nPY  - 2014\nVL  - 121\nER  - \n"
ITEM = {
    "id": "izzo2014",
    "type": "article-journal",
    "title": "Revisiting Lambert's problem",
    "author": [{"family": "Izzo", "given": "D."}],
    "issued": {"date-parts": [[2014]]},
    "volume": "121",
}
CFF: dict[str, Any] = {
    "cff-version": "1.2.0",
    "title": "Software",
    "references": [
        {
            "type": "article",
            "title": "Revisiting Lambert's problem",
            "authors": [{"family-names": "Izzo", "given-names": "D."}],
            "year": 2014,
            "volume": 121,
        }
    ],
}


@pytest.mark.parametrize("value", ["", "none", None, False])
@pytest.mark.parametrize("member", ["DOI", "doi"])
def test_an_item_that_says_that_it_has_no_doi(
    member: str, value: object, servers: Site, tmp_path: Path
) -> None:
    before = sent(servers)
    check(servers, tmp_path, "refs.json", json.dumps([{**ITEM, member: value}]), "--search")
    assert sent(servers) == before, (member, value)


@pytest.mark.parametrize(
    "name", ["refs.ris", "refs.json", "compact.json", "refs.yaml", "CITATION.cff"]
)
def test_other_bibliographies_get_dois_too(name: str, servers: Site, tmp_path: Path) -> None:
    text = {
        "refs.ris": RIS,
        "refs.json": json.dumps([ITEM], indent=2),
        "compact.json": json.dumps([ITEM]),
        "refs.yaml": yaml.safe_dump({"references": [ITEM]}, sort_keys=False),
        "CITATION.cff": yaml.safe_dump(CFF, sort_keys=False),
    }[name]
    after = fix(servers, tmp_path, name, text)
    if name.endswith("json"):
        assert json.loads(after) == [{"DOI": IZZO, **ITEM}]
    elif name == "refs.yaml":
        assert yaml.safe_load(after) == {"references": [{"DOI": IZZO, **ITEM}]}
    elif name == "CITATION.cff":
        [reference] = yaml.safe_load(after)["references"]
        assert reference == {"doi": IZZO, **CFF["references"][0]}
    else:
        assert after == RIS.replace("ER  -", f"DO  - {IZZO}\nER  -")
    assert _without_one_piece(after, text), name
    assert fix(servers, tmp_path, name, after) == after, name
    with_ends_of_windows = fix(servers, tmp_path, name, text.replace("\n", "\r\n"))
    promise = f"{name} with CR LF gets what it gets with LF"
    assert_same(promise, with_ends_of_windows, after.replace("\n", "\r\n"))


def test_fix_says_what_was_sent_and_what_is_left(servers: Site, tmp_path: Path) -> None:
    (tmp_path / "paper.bib").write_text(LIKELY + ENTRY)
    done = run(servers, tmp_path, "fix", "--search", "--unsafe-fixes", "-o", "concise", "paper.bib")
    assert done.stdout.startswith("paper.bib:1:1: info[doi-likely] zhu2016: may be ")
    assert done.stderr.splitlines() == [
        f"Searched for 2 works without a DOI at {BOTH}: 1 found, 1 likely, 0 not found.",
        "Fixed 1 in 1 file; 1 info left.",
    ]


def test_what_is_left_is_named_where_it_is_afterwards(servers: Site, tmp_path: Path) -> None:
    """Each DOI that is written moves the lines that follow."""
    lines = ENTRY.replace("}, ", "},\n  ").replace("{izzo2014, ", "{izzo2014,\n  ")
    (tmp_path / "paper.bib").write_text(lines + LIKELY)
    done = run(servers, tmp_path, "fix", "--search", "--unsafe-fixes", "-o", "concise", "paper.bib")
    assert done.stdout.startswith("paper.bib:7:1: info[doi-likely] zhu2016: ")
    assert (tmp_path / "paper.bib").read_text().splitlines()[6].startswith("@misc{zhu2016")


def test_many_dois_are_proved_together(servers: Site, tmp_path: Path) -> None:
    """One by one would take a time that grows with the square of their number."""
    many = "".join(ENTRY.replace("izzo2014", f"izzo{number}") for number in range(60))
    with mock.patch.object(_fixes, "prove_dois", wraps=_fixes.prove_dois) as prove:
        after = fix(servers, tmp_path, "paper.bib", many)
    assert after.count(IZZO) == 60
    assert prove.call_count == 1


STRANGE = {
    "10.1000/a.": True,
    "10.1000/a<b>;2-#": True,
    '10.1000/a"b': True,
    "10.1000/a b": False,
    "10.1000/a}b": False,
    "10.1000/a{b": False,
    "10.1000/a\\b_c$d&": False,
}


@pytest.mark.parametrize("doi", STRANGE)
def test_a_doi_is_written_only_if_it_is_read_as_the_same(doi: str, tmp_path: Path) -> None:
    others = "".join(
        ENTRY.replace("izzo2014", f"izzo{n}").replace("Lambert", f"{n}") for n in (1, 2)
    )
    registered = [
        {**REGISTERED[0], "DOI": f"10.1000/{n}", "title": [f"Revisiting {n}'s problem"]}
        for n in (1, 2)
    ]
    with search_site([{**REGISTERED[0], "DOI": doi}, *registered]) as running:
        after = fix(running, tmp_path, "paper.bib", ENTRY + others)
    written = doi if STRANGE[doi] else None
    fields = [entry.fields.get("doi") for entry in bibtex.entries(after)]
    assert fields == [written, "10.1000/1", "10.1000/2"], doi


FORMATS = ["concise", "full", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_server_writes_is_no_command(name: str, tmp_path: Path) -> None:
    evil = "\x1b[31mEVIL\x1b[0m\n::error::pwn\r\n##vso[task.logissue]x\x00\u202e\u2028<b>|`x`"
    work = {**REGISTERED[0], "container-title": [evil], "volume": None, "page": None}
    text = ENTRY.replace("volume = {121}", "note = {}")
    with search_site([work]) as running:
        (tmp_path / "paper.bib").write_text(text)
        done = run(running, tmp_path, "check", "--search", "-o", name, "paper.bib")
    assert "EVIL" in done.stdout, name
    assert not re.search("[\x00\x1b\x7f\u202e\u2028]", done.stdout), name
    assert not re.search(r"^::error|##vso", done.stdout, re.MULTILINE), name


def test_what_is_found_is_no_error(servers: Site, tmp_path: Path) -> None:
    """A new registration does not change the result of a build."""
    for severity in ("error", "warning", "never"):
        done = check(
            servers, tmp_path, "paper.bib", ENTRY + LIKELY, "--search", "--fail-on", severity
        )
        assert done.returncode == 0, severity


def test_standard_input(servers: Site, tmp_path: Path) -> None:
    variables: dict[str, Any] = {
        f"DOIURI_{name}": servers.url for name in ("CROSSREF", "DATACITE", "RESOLVER")
    }
    done = doiuri("fix", "--search", "--unsafe-fixes", "--stdin-filename", "paper.bib", "-",
                  cwd=tmp_path, stdin=ENTRY.encode(), DOIURI_CACHE=":memory:", **variables)  # fmt: skip
    assert f"doi = {{{IZZO}}}" in done.stdout


def test_two_files_with_one_entry(servers: Site, tmp_path: Path) -> None:
    for name in ("one.bib", "two.bib"):
        (tmp_path / name).write_text(ENTRY)
    done = run(servers, tmp_path, "fix", "--search", "--unsafe-fixes", "-o", "concise", ".")
    assert "Searched for 2 works without a DOI" in done.stderr
    assert (tmp_path / "one.bib").read_text() == (tmp_path / "two.bib").read_text()
    assert IZZO in (tmp_path / "two.bib").read_text()


def test_the_rule_says_what_is_sent_to_whom() -> None:
    said = " ".join(doiuri("rule", "doi-found").stdout.split())
    assert "title, first author, year, container, volume and page" in said
    assert "to Crossref" in said
    assert "the title to DataCite" in said
    assert said.endswith("Fix: doiuri fix --search --unsafe-fixes, if the DOI is registered")
    assert doiuri("rule", "doi-likely").stdout.endswith("Fix: none\n")


def test_an_interrupted_search_changes_no_file(tmp_path: Path) -> None:
    def interrupted(*_args: object, **_options: object) -> Iterator[object]:
        raise KeyboardInterrupt

    (tmp_path / "paper.bib").write_text(ENTRY)
    with search_site(REGISTERED) as running, mock.patch.object(Search, "find", interrupted):
        done = run(running, tmp_path, "fix", "--search", "--unsafe-fixes", "paper.bib")
    assert done.returncode == 130
    assert (tmp_path / "paper.bib").read_text() == ENTRY
