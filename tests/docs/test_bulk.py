"""The examples of the manual and the README for millions of DOIs, on small files and local servers."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest
from distributed import Client, LocalCluster
from support.servers.rest import handling, proxy, targets

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 on pandas 3.1

ROOT = Path(__file__).parents[2]
MANUAL = "".join(
    dedent(block)
    for block in re.findall(
        r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)",
        (ROOT / "docs/howto/bulk.rst").read_text(),
        re.MULTILINE,
    )
)
README = "".join(
    re.findall(
        r"^```python\n((?:.*\n)*?)```",
        (ROOT / "packages/dask-doiuri/README.md").read_text(),
        re.MULTILINE,
    )
)
DUMPS = {
    "crossref/0.jsonl.gz": {"DOI": "10.1000/crossref"},
    "crossref/1.jsonl.gz": {"DOI": "10.1000/other"},
    "datacite/dois/updated_2026-01/0.jsonl.gz": {"id": "10.1000/datacite"},
    "s3/openalex/data/works/2026-01-01/0.gz": {"doi": "https://doi.org/10.1000/openalex"},
}


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What stands for the addresses of the examples; the works and dumps are in the current folder."""
    for name, record in DUMPS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(record).encode() + b"\n"))
    (tmp_path / "works").mkdir()
    for number, name in enumerate(("10.1000/Crossref", "10.1000/datacite", "10.1000/new", "x")):
        pd.DataFrame({"doi": [name]}).to_parquet(tmp_path / "works" / f"{number}.parquet")
    monkeypatch.chdir(tmp_path)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        handling(proxy(None, lambda _name: {"RA": "asked"})) as server,
    ):
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        yield {
            "tcp://scheduler:8786": cluster.scheduler_address,
            "redis://cache:6379/0": f"{tmp_path}/cache.sqlite3",
            "s3://": f"{tmp_path}/s3/",
        }
        asked = [target.removeprefix("/doiRA/").split(",") for target in targets(server)]
        assert "10.1000/new" in chain(*asked)


def checked(folder: Path) -> dict[str, tuple[str, str | None]]:
    rows = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    agencies = rows["doi_agency"].astype(object).where(rows["doi_agency"].notna(), None)
    return dict(zip(rows["doi"], zip(rows["doi_status"], agencies, strict=True), strict=True))


@pytest.mark.parametrize(
    ("text", "dumps"), [(MANUAL, True), (README, False)], ids=["manual", "README"]
)
def test_the_examples_run(tmp_path: Path, places: dict[str, str], text: str, dumps: bool) -> None:
    assert text.count("check(") >= 1
    for address, ours in places.items():
        text = text.replace(address, ours)
    names: dict[str, object] = {}
    try:
        exec(compile(text, "example", "exec"), names)
    finally:
        if isinstance(client := names.get("client"), Client):
            client.close()
    assert checked(tmp_path / "checked") == {
        "10.1000/Crossref": ("found", "Crossref" if dumps else "asked"),
        "10.1000/datacite": ("found", "DataCite" if dumps else "asked"),
        "10.1000/new": ("found", "asked"),
        "x": ("invalid", None),
    }
    if "duckdb" in names:
        assert names["statuses"] == {
            "10.1000/datacite": "found",
            "10.1000/new": "found",
            "x": "invalid",
        }
    if dumps:
        keys = pd.concat(
            [pd.read_parquet(path) for path in sorted((tmp_path / "keys/openalex").glob("*"))]
        )
        assert [*keys["doi_key"]] == ["10.1000/openalex"]


def test_the_function_for_spark_and_ray_makes_links() -> None:
    page = (ROOT / "docs/howto/bulk.rst").read_text()
    source = dedent(page.partition("   :caption: links.py\n")[2].partition("\n.. code-block::")[0])
    names: dict[str, Any] = {}
    exec(compile(source, "links.py", "exec"), names)
    table = pd.Series(["10.1000/456#789", "10.1000/../x"], index=[7, 9])
    assert names["links"](table).to_dict() == {
        7: "https://doi.org/10.1000/456%23789",
        9: "https://doi.org/10.1000/..%2Fx",
    }
