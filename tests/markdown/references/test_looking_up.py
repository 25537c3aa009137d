"""Where works come from: lock file, resolver, budget; and what is said if there are none."""

import logging
import re
from pathlib import Path
from typing import Any

import markdown_doiuri
import pytest
from support.references import RECORDS, RETRACTED

from ..conftest import Render
from .conftest import Serve

KAHN, NOTHING, DEAD = "10.5555/kahn-2006", "10.5555/no-metadata", "10.5555/dead"
SOURCE = f"[@doi:{KAHN}; @doi:{NOTHING}]\n\n@doi:{DEAD} and doi:{KAHN}\n\n[@doi:{NOTHING}; @doi:{DEAD}]"


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="doiuri")


def test_what_has_no_metadata_is_a_plain_link_with_one_warning(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    rendered = render(SOURCE, resolve=True)
    plain = f'<a class="doi" href="https://doi.org/{NOTHING}">doi:{NOTHING}</a>'
    dead = (
        f'<a class="doi doi-not-found" href="https://doi.org/{DEAD}" title="This DOI was not found.">'
        f"<s>doi:{DEAD}</s></a>"
    )
    assert rendered.html.count(plain) == 2
    assert f'<p><span class="doi-citation">{dead}</span> and' in rendered.html
    assert rendered.html.count(dead) == 2
    assert [str(problem) for problem in rendered.problems] == [
        f"line 1: doi:{NOTHING}: cited without its author and year: its agency has no metadata",
        f"line 3: doi:{DEAD}: not found",
        f"line 5: doi:{DEAD}: not found",
    ]


def test_a_retracted_work_is_marked_with_one_warning(serve: Serve, render: Render) -> None:
    serve([RETRACTED])
    rendered = render("[@doi:10.5555/gone] and @doi:10.5555/gone", resolve=True)
    mark = '<a class="doi" href="https://doi.org/10.5555/notice">[retracted 2020-06-05]</a>'
    assert f"https://doi.org/10.5555/gone</a> {mark}" in rendered.html
    assert rendered.html.count("[retracted") == 1
    assert [str(problem) for problem in rendered.problems] == [
        "line 1: doi:10.5555/gone: retracted 2020-06-05; notice 10.5555/notice"
    ]


def test_what_is_unknown_is_a_link_in_its_brackets_and_in_the_list_and_counted(
    render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    rendered = render(SOURCE, resolve=True, offline=True)
    assert rendered.html == render(SOURCE).html
    links = [f'<a class="doi" href="https://doi.org/{name}">doi:{name}</a>' for name in (KAHN, NOTHING, DEAD)]
    assert f'<span class="doi-citation">({links[0]}; {links[1]})</span>' in rendered.html
    assert re.findall("<li>(.*)</li>", rendered.html) == links
    assert rendered.problems == []
    assert caplog.messages == ["3 of 3 DOIs could not be checked: offline: request not sent"]


@pytest.mark.parametrize("options", [{"resolve": True, "offline": True}, {"resolve": False}], ids=str)
def test_a_lock_file_gives_the_same_bytes_offline(
    options: dict[str, Any], tmp_path: Path, serve: Serve, render: Render
) -> None:
    lock = tmp_path / "doi.lock.json"
    serve(RECORDS)
    first = render(SOURCE, resolve=True, lock=lock)
    assert first.html.count("#ref-") == 1
    content = lock.read_bytes()
    markdown_doiuri.forget()
    serve([])  # whoever asks now hears that no DOI exists
    second = render(SOURCE, lock=str(lock), **options)
    assert second == first
    assert lock.read_bytes() == content


@pytest.mark.parametrize("source", ["[](doi:{})", "[](<https://doi.org/{}>)", "[](https://dx.doi.org/{})"])
def test_texts_may_use_the_work(source: str, serve: Serve, render: Render) -> None:
    serve(RECORDS)
    options = {"resolve": True, "text": "{authors} ({year}): {title}"}
    assert ">Kahn et al. (2001): Three authors</a>" in render(source.format("10.5555/three"), **options).html
    assert f">doi:{NOTHING}</a>" in render(source.format(NOTHING), **options).html
    # the author's own links are not marked
    marked = f"<s>doi:{DEAD}</s></a>" if "doi:" in source else f">doi:{DEAD}</a>"
    assert marked in render(source.format(DEAD), **options).html
    assert ">doi:10.5555/three</a>" in render(source.format("10.5555/three"), text=options["text"]).html
