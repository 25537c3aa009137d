"""More new names than the budget allows one by one: every DOI gets an answer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from doiuri.resolver import _arguments
from doiuri_proxy import running
from support.sphinx_build import build, write

NAMES = [f"10.1000/{number}" for number in range(300)]
URL = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
RATE, BUDGET = 20, 5.0  # requests per second, and seconds: 100 requests


@pytest.mark.once
def test_every_doi_gets_an_answer_within_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proportions of 1,800 names with the default rate and budget."""
    roles = "\n\n".join(f":doi:`{name}`" for name in NAMES)
    source = write(tmp_path / "src", {"index.rst": f"T\n=\n\n{roles}\n"})
    monkeypatch.setattr(_arguments, "default_rate", lambda _: RATE)
    records = [{"handle": name, "values": [URL]} for name in NAMES[:-3]]
    with running({"agencies": {"10.1000": "Crossref"}, "records": records}) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        built = build(source, tmp_path, "html", "-D", f"doi_budget={BUDGET}")
        asked = Counter("existence" if b"doiRA" in bytes(request.path) else "record" for request in proxy.log)
    assert "could not be checked" not in built.said
    assert built.warnings.count("DOI not found") == built.warnings.count("WARNING") == 3
    assert sum("doi-not-found" in link.classes for link in built.links()) == 3
    assert 0 < asked["existence"] < 30
    assert 3 <= asked["record"] <= RATE * BUDGET + RATE
