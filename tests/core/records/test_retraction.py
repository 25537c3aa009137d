"""Whether metadata says that a work is retracted."""

from __future__ import annotations

from typing import Any

import pytest
from doiuri import DOI
from doiuri.records import Work

NAME = "10.5555/Gone"


def notice(kind: object, name: object = "10.5555/notice") -> dict[str, object]:
    return {"type": kind, "DOI": name}


def is_retracted(title: str = "On cold fusion", **metadata: Any) -> bool:
    work = Work(DOI(NAME), {"type": "article-journal", "title": title, "DOI": NAME, **metadata})
    assert (work.csl.get("status") == "retracted") == work.is_retracted
    assert Work(DOI(NAME), work.csl).is_retracted == work.is_retracted
    return work.is_retracted


@pytest.mark.parametrize("kind", ["retraction", "removal", "withdrawal"])
def test_a_notice_about_the_work(kind: str) -> None:
    by: dict[str, Any] = {"updated-by": [notice("correction"), notice(kind)]}
    to: dict[str, Any] = {"update-to": [notice(kind, NAME.lower())]}
    assert is_retracted(**by)
    assert is_retracted(**to)


@pytest.mark.parametrize(
    "title",
    [
        "RETRACTED: On cold fusion",
        "Retracted Article: On cold fusion",
        "[Retracted] On cold fusion",
        "WITHDRAWN: On cold fusion",
        "Removed chapter : On cold fusion",
    ],
)
def test_a_word_before_the_title(title: str) -> None:
    assert is_retracted(title)


def test_the_status_of_csl() -> None:
    assert is_retracted(status="retracted")


@pytest.mark.parametrize(
    "title",
    [
        "Retraction: On cold fusion",
        "Retracted papers and their citations",
        "On [retracted] work",
        "Withdrawn",
    ],
)
def test_notices_and_works_about_retraction_are_not_retracted(title: str) -> None:
    assert not is_retracted(title)


@pytest.mark.parametrize(
    "metadata",
    [
        {"updated-by": [notice("correction"), notice("erratum"), notice("expression_of_concern")]},
        {"update-to": [notice("retraction", "10.5555/other")]},  # the notice itself
        {"updated-by": [notice("correction")] * 1000 + [notice("retraction")]},
        {"updated-by": [None, 5, "retraction", [], {}, notice(None), notice([])]},
        {"updated-by": {"type": "retraction"}},
        {"updated-by": "retraction", "update-to": 7},
        {"update-to": [notice("retraction", None), notice("retraction", ["x"])]},
        {"status": "published"},
        {"status": ["retracted"]},
    ],
)
def test_other_and_damaged_metadata(metadata: dict[str, Any]) -> None:
    assert not is_retracted(**metadata)
