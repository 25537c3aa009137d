"""A Resolver in asynchronous code, as the manual shows it: in threads, while the event loop goes on."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOINotFound
from doiuri.resolver import Resolver
from support.servers.web import Answer, Asked, Site, resolver, site, speaking

MANUAL = Path(__file__).parents[3] / "docs" / "howto" / "values.rst"
NAMES = [f"10.1000/{number}" for number in range(1, 8)]
WAIT = 0.3


def recipe() -> dict[str, Any]:
    """Return the functions of the manual's example."""
    section = MANUAL.read_text("utf-8").partition(".. _async:")[2].partition(".. _works:")[0]
    (code,) = re.findall(r"\.\. code-block:: python\n\n((?: {3}.*\n|\n)+)", section)
    names: dict[str, Any] = {}
    exec(re.sub(r"^ {3}", "", code, flags=re.MULTILINE), names)
    return names


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A resolver that thinks; it knows every second name."""
    known = resolver(dict.fromkeys(NAMES[::2], "https://x.example/"))

    def answer(asked: Asked) -> Answer:
        time.sleep(WAIT)
        return known(asked)

    with site(answer) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
        yield server


async def ticks(seen: list[float]) -> None:
    while True:
        seen.append(time.monotonic())
        await asyncio.sleep(0.01)


def test_the_event_loop_goes_on(slow: Site) -> None:
    async def main() -> tuple[Any, Any, list[float]]:
        seen: list[float] = []
        clock = asyncio.create_task(ticks(seen))
        record, outcomes = await recipe()["look_up"](NAMES)
        clock.cancel()
        return record, outcomes, seen

    record, outcomes, seen = asyncio.run(main())
    assert record.url == "https://x.example/"
    assert [outcome.doi.name for outcome in outcomes] == NAMES
    assert seen[-1] - seen[0] >= WAIT
    assert max(later - earlier for earlier, later in pairwise(seen)) < WAIT


def test_outcomes_one_by_one(slow: Site) -> None:
    async def main() -> list[Any]:
        with Resolver(slow.url) as own:
            return [outcome async for outcome in recipe()["verify"](own, NAMES)]

    assert [outcome.doi.name for outcome in asyncio.run(main())] == NAMES


def test_errors_come_through(slow: Site) -> None:
    with pytest.raises(DOINotFound, match=r"10\.1000/2"):
        asyncio.run(recipe()["look_up"](NAMES[1:]))


def test_a_cancelled_task_does_not_wait_and_its_thread_keeps_to_the_budget() -> None:
    async def main(own: Resolver) -> float:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.to_thread(own.resolve, NAMES[0])
        return time.monotonic() - began

    with speaking(None) as silent, Resolver(silent, timeout=100, budget=3) as own:
        began = time.monotonic()
        assert asyncio.run(main(own)) < 2.5
        assert time.monotonic() - began < 50  # run() waits for the thread
