"""Which builds ``mkdocs build --strict`` lets pass."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.servers.faults import TYPICAL, Fault

from .conftest import RECORDS, MakeSite

TEXTS = {"index.md": "doi:10.1000/182", "a.md": "doi:10.1000/456 doi:10.1000/none", "b.md": "doi:10.1000/182"}
PAGES = {name: f"# A\n\n{text}\n" for name, text in TEXTS.items()}


def test_in_properdocs_too(tmp_path: Path, doi_proxy: Proxies) -> None:
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    settings = {"site_name": "Test", "theme": "mkdocs", "plugins": [{"doiuri": {"bibliography": "list.md"}}]}
    (tmp_path / "properdocs.yml").write_text(json.dumps(settings))
    words = [sys.executable, "-m", "properdocs", "build", "--strict"]
    resolver = {**os.environ, "DOIURI_RESOLVER": doi_proxy(RECORDS).url}
    done = subprocess.run(
        words, cwd=tmp_path, env=resolver, capture_output=True, text=True, timeout=300, check=False
    )
    assert re.findall("^WARNING .*", done.stderr, re.MULTILINE) == [
        "WARNING -  doiuri: a.md:3: doi:10.1000/none: not found"
    ]
    assert done.returncode == 1
    assert 'href="https://doi.org/10.1000/182"' in (tmp_path / "site" / "index.html").read_text()
    (tmp_path / "docs" / "a.md").write_text("")
    subprocess.run(words, cwd=tmp_path, env=resolver, capture_output=True, timeout=300, check=True)


@pytest.mark.parametrize("fault", TYPICAL, ids=str)
def test_a_resolver_that_does_not_answer_fails_no_build(
    fault: Fault, site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = site(PAGES)
    with fault.serve() as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        built.build(strict=True, plugins=[{"doiuri": {"budget": 0.5 if fault.hangs else 20}}])
    assert built.messages() == []
    [said] = built.messages(logging.INFO)
    assert said.startswith("3 of 3 DOIs could not be checked: ")
