"""Agencies that do not send metadata: citations are links."""

import logging

import pytest
from support.references import RECORDS
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency

from ..conftest import Render

KAHN, THREE = "10.5555/kahn-2006", "10.5555/three"
SOURCE = f"[@doi:{KAHN}; @doi:{THREE}] and @doi:{THREE}\n\ndoi:10.5555/kahn-a"


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="doiuri")


@pytest.mark.parametrize("details", [False, True])  # no page needs its cards
@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_metadata_that_cannot_be_had_is_counted_once(
    fault: Fault, details: bool, render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    with faulty_agency(RECORDS, fault) as proxy:
        rendered = render(SOURCE, resolve=True, resolver=proxy.url, budget=15, details=details)
    assert rendered.html == render(SOURCE).html
    assert rendered.html.count('<a class="doi" href="https://doi.org/') == 6  # two of them in the list
    assert rendered.problems == []
    [message] = caplog.messages
    assert message.startswith("2 of 3 DOIs could not be checked: ")


def test_a_web_page_is_no_metadata(render: Render, caplog: pytest.LogCaptureFixture) -> None:
    with faulty_agency(RECORDS, WEB_PAGE) as proxy:
        rendered = render(SOURCE, resolve=True, resolver=proxy.url)
    assert rendered.html == render(SOURCE).html.partition("\n<div")[0]
    assert [str(problem) for problem in rendered.problems] == [
        f"line 1: doi:{name}: cited without its author and year: its agency has no metadata"
        for name in (KAHN, THREE)
    ]
    assert caplog.messages == []


def test_a_captive_portal_is_no_registry(render: Render, caplog: pytest.LogCaptureFixture) -> None:
    with WEB_PAGE.serve() as portal:
        rendered = render(SOURCE, resolve=True, resolver=portal.url)
    assert (rendered.html, rendered.problems) == (render(SOURCE).html, [])
    [message] = caplog.messages
    assert message.startswith("3 of 3 DOIs could not be checked: ")
