"""Every test begins without settings in the environment."""

import pytest
from support.environment import without_settings


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    without_settings(monkeypatch)
