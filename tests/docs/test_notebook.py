"""The notebook and the manual's page on tables run as they are written, against the local proxy."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from doiuri_proxy import running
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = json.loads((EXAMPLES / "notebook" / "dois.ipynb").read_text("utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
BLOCK = re.compile(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
NUMBER = 2000
TAG = re.compile(
    r"</?(?:a|table|caption|thead|tbody|tr|th|td)>"
    r'|<a href="https://doi\.org/[^"<>]*">'
)
Execute = Callable[[dict[str, Any]], list[str]]


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite3"))


def test_the_notebook_is_stored_without_output() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 4)
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(
        CODE
    )


@pytest.fixture
def execute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Execute:
    """A function that runs cells in a Jupyter kernel; it returns what each shows, as HTML or text."""
    for folder in (
        "IPYTHONDIR",
        *(f"JUPYTER_{kind}_DIR" for kind in ("CONFIG", "DATA", "RUNTIME")),
    ):
        monkeypatch.setenv(folder, str(tmp_path / folder))

    def execute(notebook: dict[str, Any]) -> list[str]:
        with running(EXAMPLES / "records.json") as proxy:
            monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
            client = NotebookClient(
                nbformat.reads(json.dumps(notebook), as_version=4),
                timeout=300,
                startup_timeout=300,
                kernel_name="python3",
            )
            cells = client.execute(cwd=str(tmp_path)).cells
        of_cells = [cell.outputs for cell in cells if cell.cell_type == "code"]
        outputs = [output for [output] in of_cells]
        assert {output.output_type for output in outputs} == {"execute_result"}
        data = [output.data for output in outputs]
        return [shown.get("text/html", shown["text/plain"]) for shown in data]

    return execute


def test_the_notebook_shows_links_and_tables(execute: Execute) -> None:
    link, record, work, reference, outcome, table = execute(NOTEBOOK)
    assert link.startswith(
        '<a href="https://doi.org/10.26321/%C3%81.GUTI%C3%89RREZ.ZARZA.02.2018.03">'
    )
    assert record.startswith("<table><caption>")
    assert "<td>URL</td>" in record
    assert "<th>title</th>" in work
    assert "https://doi.org/10.1038/nphys1170" in reference
    assert "<th>status</th><td>found</td>" in outcome
    assert table.count("<td>found</td>") == 2


NAME = "10.1000/<script>alert(1)</script>&amp;\"'" + "x" * 500
TEXT = f"</td>{NAME}\u202e"
HOSTILE = f"""
from doiuri import DOI, Record
from doiuri.works import Work
from doiuri.resolver import Cause, Outcome

doi, text = DOI({NAME!r}), {TEXT!r}
data = {{"format": "string", "value": text}}
record = Record.from_json({{"handle": doi.name, "values": [{{"index": 1, "type": text, "data": data}}]}})
work = Work(doi, {{"title": text, "author": [{{"family": text}}], "publisher": text, "type": text}})
"""
SHOWN = [
    "doi",
    "record",
    "work",
    "Outcome(doi, 'found', record, agency=text, cause=Cause('', detail=text), work=work)",
    "Outcome(None, 'invalid', text=text)",
]


def test_a_notebook_escapes_what_it_shows(execute: Execute) -> None:
    cells = [{"cell_type": "code", "source": f"{HOSTILE}\n{shown}"} for shown in SHOWN]
    blank: dict[str, Any] = {"execution_count": None, "outputs": [], "metadata": {}}
    shown = execute({**NOTEBOOK, "cells": [{**cell, **blank} for cell in cells]})
    assert all("<" not in TAG.sub("", page) for page in shown)
    assert all("alert(1)" in page for page in shown)
    assert html.unescape(TAG.sub("", shown[0])) == f"doi:{NAME}"


def test_the_page_on_tables_checks_two_thousand_dois(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [f"10.5555/{number}" for number in range(0, NUMBER, 2)]
    forms = [
        "10.5555/{}",
        "https://doi.org/10.5555/{}",
        "(see DOI 10.5555/{}).",
        "\u200b10.5555/{}\xa0",
    ]
    # every second is not registered; the last three rows: a name in another spelling, no DOI, an empty cell
    cells = [forms[number // 2 % 4].format(number) for number in range(NUMBER - 3)]
    with (tmp_path / "works.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerows([["title", "doi"], *([f"Title {cell}", cell] for cell in cells)])
        table.writerows([["Again", "doi:10.5555/0"], ["<i>None</i>", "<script>"], ["", ""]])
    names: dict[str, Any] = {}
    page = (ROOT / "docs" / "howto" / "pandas.rst").read_text("utf-8")
    blocks = BLOCK.findall(page)
    assert len(blocks) == page.count(".. code-block:: python\n") == 4
    with running([{"handle": name, "values": []} for name in known]) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        for block in blocks:
            exec(re.sub("^   ", "", block, flags=re.MULTILINE), names)
    works = names["works"]
    assert len(works) == NUMBER
    assert names["different"] == NUMBER - 3
    assert works["status"].value_counts().to_dict() == {
        "found": 1000,
        "not-found": 998,
        "invalid": 2,
    }
    assert works["status"].tolist()[-3:] == ["found", "invalid", "invalid"]
    assert works["status"].tolist()[:4] == ["found", "not-found", "found", "not-found"]
    assert len((tmp_path / "wrong.csv").read_text("utf-8").splitlines()) == 1001
    assert "2000 of 2000" in capsys.readouterr().out
    page = names["html"]
    assert page.count('<a href="https://doi.org/10.5555/') == NUMBER - 2
    assert '<a href="https://doi.org/10.5555/1996">10.5555/1996</a>' in page
    assert "<td>&lt;i&gt;None&lt;/i&gt;</td>\n      <td>&lt;script&gt;</td>" in page
    assert "NaN" not in page
