from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import docutils_doiuri
import pytest
from docutils.parsers.rst import roles


@pytest.fixture(autouse=True)
def role() -> Iterator[None]:
    """Register the role for each test."""
    with mock.patch.dict(vars(roles)["_roles"]):
        docutils_doiuri.register()
        yield
