"""A Resolver in asynchronous code, as the manual shows it: in threads, while the event loop goes on."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOINotFound
from doiuri.resolver import Resolver
from support.servers.web import Answer, Asked, Site, resolver, site

MANUAL = Path(__file__).parents[3] / "docs" / "howto" / "values.rst"
NAMES = [f"10.1000/{number}" for number in range(1, 8)]


def recipe() -> dict[str, Any]:
    """Return the functions of the manual's example."""
    section = MANUAL.read_text("utf-8").partition(".. _async:")[2].partition(".. _works:")[0]
    (code,) = re.findall(r"\.\. code-block:: python\n\n((?: {3}.*\n|\n)+)", section)
    names: dict[str, Any] = {}
    exec(re.sub(r"^ {3}", "", code, flags=re.MULTILINE), names)
    return names


@pytest.fixture
def ticked() -> threading.Event:
    """Set by the event loop."""
    return threading.Event()


@pytest.fixture
def slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ticked: threading.Event
) -> Iterator[Site]:
    """A resolver that answers when the event loop has ticked; it knows every second name."""
    known = resolver(dict.fromkeys(NAMES[::2], "https://x.example/"))

    def answer(asked: Asked) -> Answer:
        ticked.wait(60)
        return known(asked)

    with site(answer) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
        yield server


@pytest.mark.usefixtures("slow")
def test_the_event_loop_goes_on(ticked: threading.Event) -> None:
    async def tick() -> bool:
        before = ticked.is_set()
        ticked.set()
        return before

    async def main() -> tuple[Any, Any, bool]:
        clock = asyncio.create_task(tick())
        record, outcomes = await recipe()["look_up"](NAMES)
        return record, outcomes, await clock

    record, outcomes, before = asyncio.run(main())
    assert record.url == "https://x.example/"
    assert [outcome.doi.name for outcome in outcomes] == NAMES
    assert not before


def test_outcomes_one_by_one_and_errors(slow: Site, ticked: threading.Event) -> None:
    async def main() -> list[Any]:
        with Resolver(slow.url) as own:
            return [outcome async for outcome in recipe()["check"](own, NAMES)]

    ticked.set()
    assert [outcome.doi.name for outcome in asyncio.run(main())] == NAMES
    with pytest.raises(DOINotFound, match=r"10\.1000/2"):
        asyncio.run(recipe()["look_up"](NAMES[1:]))


def test_a_cancelled_task_does_not_wait_for_its_request(
    slow: Site, ticked: threading.Event
) -> None:
    async def main(own: Resolver) -> bool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.to_thread(own.resolve, NAMES[0])
        early = not ticked.is_set()
        ticked.set()  # run() waits for the thread
        return early

    with Resolver(slow.url) as own:
        assert asyncio.run(main(own))
