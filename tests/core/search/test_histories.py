"""Histories of searches: an answer is that of the server, or what it was when it was stored."""

from __future__ import annotations

import time
from typing import Any

import pytest
from doiuri.resolver import MemoryStore, Resolver
from doiuri.search import Search
from doiuri.works import Work
from hypothesis import given
from hypothesis import strategies as st
from support.servers.search import searchable, searches
from support.servers.web import Answer, Asked, site

TITLES = ["Orbits of many bodies", "Excitons in cuprous oxide", "A grammar of rivers"]
DAY = 86400.0

steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["register", "edit", "wait 1", "wait 8", "wait 31", "search", "search offline"]
        ),
        st.integers(0, 2),
    ),
    max_size=30,
)


def work(number: int, volume: str) -> Work:
    item = {
        "type": "article-journal",
        "title": TITLES[number],
        "author": [{"family": "Weber"}],
        "issued": {"date-parts": [[2010]]},
        "volume": volume,
    }
    return Work.from_item(f"weber{number}", item)


def record(number: int) -> dict[str, Any]:
    return {
        "DOI": f"10.1000/{number}",
        "title": [TITLES[number]],
        "author": [{"family": "Weber"}],
        "issued": {"date-parts": [[2010]]},
        "volume": "7",
    }


@given(steps)
def test_an_answer_is_what_the_server_said_when_it_was_asked(
    history: list[tuple[str, int]],
) -> None:
    """An edited work is another question. An answer counts for a week, or for 30 days if the work is in it."""
    registered: set[int] = set()
    volumes = ["7", "7", "7"]
    answers: dict[
        tuple[int, str], tuple[bool, float]
    ] = {}  # whether it was there, and until when that counts
    now = time.time()
    store = MemoryStore()

    def answer(asked: Asked) -> Answer:
        return searchable([record(number) for number in sorted(registered)])(asked)

    with site(answer) as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now)
        for step, number in history:
            kind, _, rest = step.partition(" ")
            if kind == "register":
                registered.add(number)
            elif kind == "edit":
                volumes[number] = "8" if volumes[number] == "7" else "7"
            elif kind == "wait":
                now += int(rest) * DAY
            else:
                question = (number, volumes[number])
                is_known = question in answers and now < answers[question][1]
                before = len(searches(running))
                resolver = Resolver(running.url, store=store, offline=rest == "offline")
                search = Search(resolver, crossref=running.url, datacite=running.url)
                [found] = search.find([work(*question)])

                sent = len(searches(running)) - before
                assert sent == (0 if is_known or rest else 1), (step, question)
                assert (found.cause is None) == (is_known or not rest), (step, question)
                if not is_known and not rest:
                    is_there = number in registered and volumes[number] == "7"
                    answers[question] = (is_there, now + (30 if is_there else 7) * DAY)
                expected = answers[question][0] if is_known or not rest else False
                assert (found.doi is not None) == expected, (step, question)
