"""The notebook and the manual's page on tables run as they are written, against the local proxy."""

from __future__ import annotations

import ast
import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from doiuri_proxy import running

pytestmark = pytest.mark.newest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = json.loads((EXAMPLES / "notebook" / "dois.ipynb").read_text("utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
BLOCK = re.compile(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
NUMBER = 2000


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite3"))


def run_cell(source: str, names: dict[str, Any]) -> object:
    """Run a cell, and return the value of its last line, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def test_the_notebook_is_stored_without_output() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 4)
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(CODE)


def test_the_notebook_shows_links_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    with running(EXAMPLES / "records.json") as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        values = [run_cell(source, names) for source in CODE]
        names["resolver"].close()
    shown = [value._repr_html_() if hasattr(value, "_repr_html_") else repr(value) for value in values]
    link, record, work, reference, outcome, table = shown
    assert link.startswith('<a href="https://doi.org/10.26321/%C3%81.GUTI%C3%89RREZ.ZARZA.02.2018.03">')
    assert record.startswith("<table><caption>")
    assert "<td>URL</td>" in record
    assert "<th>title</th>" in work
    assert "https://doi.org/10.1038/nphys1170" in reference
    assert "<th>status</th><td>found</td>" in outcome
    assert table.count("<td>found</td>") == 2


def test_the_page_on_tables_checks_two_thousand_dois(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [f"10.5555/{number}" for number in range(0, NUMBER, 2)]
    forms = ["10.5555/{}", "https://doi.org/10.5555/{}", "doi:10.5555/{}", "DOI 10.5555/{}"]
    # every second is not registered; the other three rows: no DOI, a name in another spelling, an empty cell
    cells = [forms[number // 2 % 4].format(number) for number in range(NUMBER - 3)]
    with (tmp_path / "works.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerows([["title", "doi"], ["None", "n/k"], *([f"Title {cell}", cell] for cell in cells)])
        table.writerows([["Again", "doi:10.5555/0"], ["Empty", ""]])
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
    assert works["status"].value_counts().to_dict() == {"found": 1000, "not-found": 998, "invalid": 2}
    assert works["status"].tolist()[-2:] == ["found", "invalid"]
    assert works["status"].tolist()[:5] == ["invalid", "found", "not-found", "found", "not-found"]
    assert len((tmp_path / "wrong.csv").read_text("utf-8").splitlines()) == 1001
    assert "2000 of 2000" in capsys.readouterr().out
    assert names["html"].count('<a href="https://doi.org/10.5555/') == 20
