"""httpx cannot be extended for doi: URIs; the subclass that the README shows works."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from doiuri import DOI, DOISyntaxError
from doiuri_proxy import running
from support.cases import ODD_NAMES
from support.servers.web import record

README = Path(__file__).parents[2] / "packages" / "requests-doiuri" / "README.md"


def recipe(client: str = "Client") -> Any:
    """Return the README's class, derived from this kind of client."""
    found = re.search(r"```python\n(import httpx\n.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1].replace("httpx.Client", f"httpx.{client}"), names)
    return names["DOIClient"]


def test_the_recipe_asks_for_each_name_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with running([record(name, "http://x.example/") for name in ODD_NAMES]) as proxy, recipe()() as client:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        for name in ODD_NAMES:
            assert client.get(DOI(name).uri).json()["handle"] == name
        assert client.get("doi:10.1000/182", params={"type": "EMAIL"}).json()["responseCode"] == 200
        assert client.get(f"{proxy.url}/api/handles/10.1000/182").json()["handle"] == "10.1000/182"


@pytest.mark.parametrize(
    "uri", ["doi:10.1000/456#789", "doi:10.1000/a?b", "doi:10.1000/a b", "doi://10.1000/x"]
)
def test_the_recipe_refuses_what_is_no_uri(uri: str) -> None:
    with recipe()() as client, pytest.raises(DOISyntaxError, match="position"):
        client.get(uri)


def test_the_recipe_for_an_async_client(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> str:
        async with recipe("AsyncClient")() as client:
            return str((await client.get("doi:10.1000/456%23789")).json()["handle"])

    with running([record("10.1000/456#789", "http://x.example/")]) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        assert asyncio.run(ask()) == "10.1000/456#789"


def test_why_it_is_no_mount() -> None:
    mounts = {"doi://": httpx.MockTransport(lambda _: httpx.Response(200))}
    with httpx.Client(mounts=mounts) as client, pytest.raises(httpx.UnsupportedProtocol):
        client.get("doi:10.1000/182")
    assert httpx.URL("doi://10.1000/../x").path == "/x"
