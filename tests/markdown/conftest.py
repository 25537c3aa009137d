from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import markdown
import markdown_doiuri
import pytest


@dataclass
class Rendered:
    html: str
    problems: list[markdown_doiuri.Problem] = field(default_factory=list)


Render = Callable[..., Rendered]


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache and an unreachable resolver; tests that look up DOIs set their own."""
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
    markdown_doiuri.forget()
    yield
    markdown_doiuri.forget()


def convert(
    source: str, /, *extensions: Any, configs: dict[str, Any] | None = None, **options: Any
) -> Rendered:
    """Convert without look-ups by default, after other extensions, or in their order if ours is named."""
    problems: list[markdown_doiuri.Problem] = []
    given = {"resolve": False, "warn": problems.append, **options}
    loaded = extensions if "doiuri" in extensions else [*extensions, "doiuri"]
    html = markdown.markdown(
        source, extensions=loaded, extension_configs={**(configs or {}), "doiuri": given}
    )
    return Rendered(html, problems)


@pytest.fixture
def render() -> Render:
    return convert
