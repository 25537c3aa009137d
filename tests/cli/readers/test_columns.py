"""``--columns``: cells of tables and values of keys, at their places."""

from __future__ import annotations

import csv
import io
import json
from operator import itemgetter
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from hypothesis import given
from hypothesis import strategies as st
from support.checks import assert_same
from support.cli.command import doiuri, doiuri_process, findings
from support.cli.library import BAD, BARE, GONE, KAHN, RECORDS
from support.growth import is_linear

CASES = json.loads(Path(__file__).with_name("columns.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lock file without answers, so that each DOI is told at its place."""
    path = tmp_path_factory.mktemp("lock") / "doi.lock.json"
    path.write_text('{"doiuri-lock": 1}')
    return path


def read(lock: Path, name: str, text: str) -> list[list[str | None]]:
    options = "--columns=doi", "--locked", "--lock", lock, "--select=lock-missing,syntax"
    form = "{line}:{column} {end_line}:{end_column}".format_map
    return [
        [*form(one).split(), one["entry"], one["doi"]] for one in findings(name, text, *options)
    ]


@pytest.mark.parametrize("case", CASES)
def test_cells_are_fields_at_their_places(case: str, lock: Path) -> None:
    assert read(lock, CASES[case]["path"], CASES[case]["text"]) == CASES[case]["cells"]


OTHER = st.text('a,;\t"\r\n é', max_size=5)
DOI = st.text('a,;"é', max_size=5).map("10.1000/{}z".format)


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
@given(st.lists(st.tuples(OTHER, DOI, OTHER, st.lists(DOI, max_size=5)), max_size=4))
def test_a_table_is_read_as_the_csv_module_writes_it(
    name: str, delimiter: str, lock: Path, rows: list[tuple[str, str, str, list[str]]]
) -> None:
    """Cells beyond the header belong to no column."""
    table = io.StringIO()
    writer = csv.writer(table, delimiter=delimiter)
    writer.writerow(["x", "doi", "y,;"])
    writer.writerows([first, doi, last, *beyond] for first, doi, last, beyond in rows)

    found = [doi for _, _, _, doi in read(lock, name, table.getvalue())]

    assert_same(f"the DOIs of {table.getvalue()!r}", found, [doi for _, doi, _, _ in rows])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            'doi\n10.1000/1\n"10.1000/2\n',
            "line 3, column 1: this quotation mark is not closed",
        ),
        ("a.jsonl", '{"doi": "10.1000/1"}\n{"doi": }\n', "line 2, column 9: Expecting value"),
        ("a.json", "", "line 1, column 1: Expecting value"),
        ("a.md", "doi", "no columns in this type of file: not CSV, "),
    ],
)
def test_what_is_no_table_is_said_with_its_place(name: str, text: str, message: str) -> None:
    run = doiuri(
        "check", "--offline", "--columns=doi", "-", "--stdin-filename", name, stdin=text.encode()
    )
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith(f"doiuri: {name}: {message}")


@pytest.mark.parametrize("unit", ['"', " ", '" ', ',"', "\r"])
def test_a_table_is_read_in_linear_time(unit: str) -> None:
    words = "check", "-q", "--offline", "--columns=doi", "-", "--stdin-filename=a.csv"
    assert is_linear(
        lambda size: doiuri(*words, stdin=b"doi\n" + unit.encode() * size), 6_000, 50_000
    )


def write(folder: Path) -> None:
    (folder / "a.csv").write_text(
        f"paper,data,also\n{KAHN},{BARE},\n{BARE},{KAHN},{BARE}\n{GONE},{BARE},{BAD}\n"
    )
    (folder / "b.jsonl").write_text(f'{{"data": "{KAHN}"}}\n')
    (folder / "read.me.md").write_text("doi:10.5555/nope\n")


@pytest.mark.doi_records(RECORDS)
def test_works_of_columns_are_looked_up_with_records_only(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    write(tmp_path)

    def check(*arguments: str) -> list[tuple[object, ...]]:
        options = "--resolver", doi_proxy.url, "--cache", ":memory:", "-o", "json"
        run = doiuri("check", *options, *arguments, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        members = itemgetter("path", "line", "column", "entry", "code", "message")
        return [members(finding) for finding in json.loads(run.stdout)]

    columns = "--columns=paper,data", "--columns", "also"
    assert check(*columns) == []
    assert not {one.target for one in doi_proxy.log if one.target.startswith("/10.")}
    gone = (
        "a.csv",
        4,
        1,
        "paper",
        "retracted",
        f"{GONE}: retracted 2013-06-05; notice 10.5555/third",
    )
    bad = ("a.csv", 4, 27, "also", "retracted", f"{BAD}: retracted")
    assert check(*columns, "--compare", "-j2") == [gone, bad]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns=dio"], "no file has the column 'dio'; known are also, data, paper"),
        (["--columns=paper,dat"], "no file has the column 'dat'; known are also, data, paper"),
        (
            ["--columns=paper:article"],
            "no file has the column 'paper:article'; known are also, data, paper",
        ),
        (["--columns="], "the name of a column is empty"),
        (["--columns=paper,"], "the name of a column is empty"),
        (["--columns=paper", "read.me.md", "a.csv"], "read.me.md: no columns in this type of file"),
        (["--columns=paper", "gone.csv"], "gone.csv: no such file or folder"),
    ],
)
def test_wrong_columns_and_files(tmp_path: Path, arguments: list[str], message: str) -> None:
    write(tmp_path)
    for command in ("check", "fix"):
        run = doiuri(command, *arguments, cwd=tmp_path, DOIURI_OFFLINE="1")
        assert (run.returncode, run.stdout) == (2, ""), command
        assert message in run.stderr, command


def test_names_with_commas_and_colons(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"DOI, if any",dc:id,x\n10.5555/a b,10.5555/c d,10.5555/e f\n')
    columns = '"DOI, if any", dc:id'
    run = doiuri("check", "--offline", "-o", "concise", "--columns", columns, cwd=tmp_path)
    assert [line.split()[:2] for line in run.stdout.splitlines()] == [
        ["a.csv:2:1:", "warning[field-form]"],
        ["a.csv:2:13:", "warning[field-form]"],
    ]


def test_fixes_keep_the_table(tmp_path: Path) -> None:
    """A cell with quotation marks takes any name; one without takes none that would end it."""
    links = '"https://doi.org/10.5555/a%22,b";https://doi.org/10.5555/a%3Bb;doi:10.5555/c;https://doi.org/10.5555/d'
    (tmp_path / "a.csv").write_bytes(f"\ufeffa;b;c;other\r\n{links}\r\n".encode())
    run = doiuri_process("fix", "--columns", "a,b,c", "a.csv", cwd=tmp_path)
    assert "Fixed 2 in 1 file; 1 warning left." in run.stderr
    fixed = '"10.5555/a"",b";https://doi.org/10.5555/a%3Bb;10.5555/c;https://doi.org/10.5555/d'
    assert (tmp_path / "a.csv").read_bytes() == f"\ufeffa;b;c;other\r\n{fixed}\r\n".encode()
