"""The pytest fixture ``registered_dois``. pytest imports this in every run: keep that cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def registered_dois() -> Callable[..., None]:
    """The function `doiuri.testing.assert_registered`, as in `registered_dois(["10.1000/182"])`."""
    from doiuri.testing import assert_registered

    return assert_registered
