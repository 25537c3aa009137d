"""The examples in the README: each command is run, and prints what the README shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.cli.library import CSL, item

README = Path(__file__).parents[2] / "packages" / "doiuri-cli" / "README.md"
NOTES = """\
# Notes

The handbook is at http://dx.doi.org/10.1000/182 and short.

The article is gone:

https://doi.org/10.1371/journal.pone.013187
"""
PAPER = "@book{handbook,\n  title = {DOI Handbook},\n  doi = {https://doi.org/10.1000/182},\n}\n"
WORK = {
    "title": "DOI Handbook",
    "author": [{"literal": "DOI Foundation"}],
    "issued": {"date-parts": [[2019]]},
}
HANDBOOK = item("10.1000/182", metadata={CSL: WORK})
HANDBOOK["values"][0]["data"]["value"] = "https://www.doi.org/the-identifier/resources/handbook/"
RECORDS = {"records": [HANDBOOK], "agencies": {"10.1000": "Crossref", "10.1371": "Crossref"}}


@pytest.mark.doi_records(RECORDS)
def test_examples_print_what_the_readme_shows(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text(NOTES)
    (tmp_path / "paper.bib").write_text(PAPER)
    environ = {"DOIURI_RESOLVER": doi_proxy.url, "DOIURI_CACHE": "", "XDG_CACHE_HOME": f"{tmp_path}/.cache"}
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", README.read_text("utf-8"))
    assert len(blocks) >= 3
    for block in blocks:
        printed = ""
        for line in re.findall(r"(?m)^\$ doiuri (.*)$", block):
            run = doiuri(*shlex.split(line), cwd=tmp_path, stdin=b"", **environ)
            shown = (run.stdout + run.stderr).replace(str(tmp_path), "~")
            printed += f"$ doiuri {line}\n{shown}"
        assert printed == block
