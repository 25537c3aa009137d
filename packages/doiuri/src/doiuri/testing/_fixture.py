"""The pytest fixture ``registered_dois``, in a module of its own since it imports pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from doiuri.testing._registered import assert_registered

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def registered_dois() -> Callable[..., None]:
    """The function `doiuri.testing.assert_registered`, as in `registered_dois(["10.1000/182"])`."""
    return assert_registered
