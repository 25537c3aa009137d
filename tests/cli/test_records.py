"""``doiuri check --records``: entries compared with the registry's metadata."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.cli.library import BAD, BARE, KAHN, RECORDS

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


def test_comments_ignore_them(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "a.bib").write_text(BIB.replace(f"{BAD}}}}}", f"{BAD}}}}} % doiuri: ignore[retracted]"))
    found = check(tmp_path, doi_proxy, "--records")[1]
    assert [code for _, code, _ in found] == ["author-differs", "title-differs", "year-differs"]
