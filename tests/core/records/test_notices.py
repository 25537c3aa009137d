"""Notices about a work, such as retractions, and the published version of a preprint."""

from __future__ import annotations

from typing import Any

import pytest
from doiuri import DOI
from doiuri.records import Work

NAME = "10.1016/S0140-6736(20)31180-6"
NOTICE = "10.1016/s0140-6736(20)31324-6"
WATCH = "retraction-watch"


def update(kind: object, name: object = NOTICE, source: str = "publisher", *date: int) -> dict[str, object]:
    return {"type": kind, "DOI": name, "source": source, "updated": {"date-parts": [list(date)]}}


RETRACTED = update("retraction", NOTICE, WATCH, 2020, 6, 5)
OF_ARTICLE = update("retraction", NOTICE, "publisher", 2020, 5, 22)  # the date is that of the article


def read(title: str = "On cold fusion", name: str = NAME, **metadata: Any) -> Work:
    work = Work(DOI(name), {"type": "article-journal", "title": title, "DOI": name, **metadata})
    again = Work(DOI(name), work.csl)
    assert (again.notices, again.published_version, again.csl) == (
        work.notices,
        work.published_version,
        work.csl,
    )
    return work


@pytest.mark.parametrize(
    ("metadata", "first"),
    [
        ({"updated-by": [RETRACTED]}, f"retracted 2020-06-05; notice {NOTICE}"),
        ({"updated-by": [OF_ARTICLE, RETRACTED]}, f"retracted 2020-06-05; notice {NOTICE}"),
        ({"updated-by": [update("erratum"), RETRACTED]}, f"retracted 2020-06-05; notice {NOTICE}"),
        ({"updated-by": [RETRACTED], "update-to": [OF_ARTICLE]}, f"retracted 2020-06-05; notice {NOTICE}"),
        ({"updated-by": [update("retraction", "10.5555/b")]}, "retracted; notice 10.5555/b"),
        ({"updated-by": [update("Removal", None, WATCH, 2010)]}, "removed 2010"),
        ({"updated-by": [update("withdrawal", "no DOI", WATCH, 2010, 2)]}, "withdrawn 2010-02"),
        ({"update-to": [update("partial_retraction", NAME.lower())]}, "partially retracted"),
        ({"updated-by": [update("partial_retraction", NAME.lower())]}, "partially retracted"),
        ({"title": "RETRACTED: On cold fusion"}, "retracted"),
        ({"title": "Retracted Article: On cold fusion", "updated-by": [update("correction")]}, "retracted"),
        ({"title": "RETRACTED: X", "updated-by": [RETRACTED]}, f"retracted 2020-06-05; notice {NOTICE}"),
        ({"title": "[Retracted] On cold fusion"}, "retracted"),
        ({"title": "WITHDRAWN: On cold fusion"}, "withdrawn"),
        ({"title": "Removed chapter : On cold fusion"}, "removed"),
        ({"status": "retracted"}, "retracted"),
    ],
)  # fmt: skip
def test_a_retracted_work_has_its_date_and_notice(metadata: dict[str, Any], first: str) -> None:
    work = read(**metadata)
    assert (str(work.notices[0]), work.retraction) == (first, work.notices[0])


@pytest.mark.parametrize(
    ("metadata", "notices"),
    [
        ({"updated-by": [update("correction"), update("expression_of_concern", "10.5555/b", WATCH, 2020)]},
         ["expression of concern 2020; notice 10.5555/b", f"correction; notice {NOTICE}"]),
        ({"updated-by": [update("corrigendum"), update("new_version", "10.5555/b")]},
         [f"correction; notice {NOTICE}"]),
        ({"updated-by": [update("correction")] * 1000 + [update("retraction", "10.5555/b")]},
         [f"correction; notice {NOTICE}"]),
        ({"title": "Retraction: On cold fusion"}, []),
        ({"title": "Retracted papers and their citations"}, []),
        ({"title": "On [retracted] work"}, []),
        ({"title": "Withdrawn"}, []),
        ({"update-to": [update("retraction", "10.5555/other")]}, []),  # this work is the notice
        ({"updated-by": [update("retraction", "10.5555/other")],  # and here, too: the publisher has both ways
          "update-to": [update("retraction", "10.5555/OTHER", WATCH)]}, []),
        ({"updated-by": [None, 5, "retraction", [], {}, update(None), update([])]}, []),
        ({"updated-by": {"type": "retraction"}, "custom": 5}, []),
        ({"updated-by": "retraction", "update-to": 7, "custom": {"updated-by": 5}}, []),
        ({"update-to": [update("retraction", None), update("retraction", ["x"])]}, []),
        ({"status": "published"}, []),
        ({"status": ["retracted"]}, []),
    ],
)  # fmt: skip
def test_other_notices_and_damaged_metadata_retract_nothing(
    metadata: dict[str, Any], notices: list[str]
) -> None:
    work = read(**metadata)
    assert ([*map(str, work.notices)], work.retraction) == (notices, None)


def test_a_notice_says_who_says_so() -> None:
    metadata: dict[str, Any] = {"updated-by": [OF_ARTICLE | {"DOI": "10.5555/b"}, RETRACTED]}
    both = read(**metadata).notices
    assert [(one.type, one.date, one.source, one.doi and one.doi.name) for one in both] == [
        ("retraction", "2020-06-05", "Retraction Watch", NOTICE),
        ("retraction", "2020-05-22", "publisher", "10.5555/b"),
    ]


@pytest.mark.parametrize(
    ("relation", "published"),
    [
        ({"is-preprint-of": [{"id-type": "doi", "id": "10.5555/A%25"}]}, "10.5555/A%25"),
        ({"is-preprint-of": [{"id": "PMC1"}, {"id": "https://doi.org/10.5555/%25"}]}, "10.5555/%"),
        ({"has-preprint": [{"id-type": "doi", "id": "10.5555/a"}]}, None),
        ({"is-preprint-of": "10.5555/a"}, None),
        ([], None),
    ],
)  # fmt: skip
def test_a_preprint_names_its_published_version(relation: object, published: str | None) -> None:
    found = read(relation=relation).published_version
    assert (found and found.name) == published
