"""The exit status of ``mkdocs build --strict``."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.ports import refusing
from support.servers.faults import FAULTS, Fault

from .conftest import RECORDS, MakeSite

pytestmark = pytest.mark.newest


def strict(folder: os.PathLike[str], resolver: str) -> tuple[int, str]:
    """Build a site from the command line; the exit status and the output."""
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=folder,
        env={
            **os.environ,
            "DOIURI_RESOLVER": resolver,
            "DOIURI_CACHE": ":memory:",
            "NO_MKDOCS_2_WARNING": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return run.returncode, run.stdout + run.stderr


CONFIG = "site_name: Test\nplugins:\n  - doiuri:\n      budget: 20\n"
TEXTS = {"index.md": "doi:10.1000/182", "a.md": "doi:10.1000/456 doi:10.1000/none", "b.md": "doi:10.1000/182"}
PAGES = {name: f"# A\n\n{text}\n" for name, text in TEXTS.items()}


def test_a_doi_that_does_not_exist_fails_the_build(site: MakeSite, doi_proxy: Proxies) -> None:
    folder = site(PAGES).folder
    (folder / "mkdocs.yml").write_text(CONFIG)
    status, output = strict(folder, doi_proxy(RECORDS).url)
    assert status == 1
    assert "WARNING -  doiuri: a.md:3: doi:10.1000/none: not found" in output
    (folder / "docs" / "a.md").write_text("")
    assert strict(folder, doi_proxy(RECORDS).url)[0] == 0


def test_without_a_network_the_build_passes(site: MakeSite) -> None:
    folder = site(PAGES).folder
    (folder / "mkdocs.yml").write_text(CONFIG)
    with refusing() as port:
        status, output = strict(folder, f"http://127.0.0.1:{port}")
    assert status == 0, output
    assert output.count("could not be checked") == 1
    assert "INFO    -  doiuri: 3 of 3 DOIs could not be checked: " in output
    assert "WARNING" not in output


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if str(fault).startswith(("429", "403"))], ids=str
)
def test_a_resolver_that_refuses_fails_no_build(fault: Fault, site: MakeSite) -> None:
    folder = site(PAGES).folder
    (folder / "mkdocs.yml").write_text(CONFIG)
    with fault.serve() as server:
        status, output = strict(folder, server.url)
    assert status == 0, output
    assert output.count("could not be checked") == 1
    assert "WARNING" not in output
