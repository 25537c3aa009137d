"""Every file in cases/: the source, the output, and the problems reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Render

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['title']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text())
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any], render: Render) -> None:
    others, given = case.get("extensions", ()), {"configs": case.get("configs"), **case.get("options", {})}
    rendered = render(case["markdown"], *others, **given)
    assert rendered.html == case["html"]
    assert [str(problem) for problem in rendered.problems] == case.get("problems", [])
    if others:  # they may be loaded in either order
        assert render(case["markdown"], "doiuri", *others, **given).html == case["html"]
