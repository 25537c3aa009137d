from __future__ import annotations

from collections.abc import Iterator

import docutils_doiuri
import pytest
from docutils.parsers.rst import roles


@pytest.fixture(autouse=True)
def role() -> Iterator[None]:
    """Register the role for each test."""
    before = dict(vars(roles)["_roles"])
    docutils_doiuri.register()
    yield
    vars(roles)["_roles"].clear()
    vars(roles)["_roles"].update(before)
