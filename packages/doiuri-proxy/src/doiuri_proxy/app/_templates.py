"""HTML from templates, which escape all text."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = "templates"
_STYLE = "".join((files(__package__) / _FOLDER / "style.css").read_text(encoding="utf-8").splitlines())

#: the source of the pages' only style sheet in a Content-Security-Policy
STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"


def render(name: str, **texts: object) -> bytes:
    """Return the page that a template makes of texts, in UTF-8."""
    html: str = _environment().get_template(f"{name}.html").render(texts)
    return html.encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    # Loaded with the first page: a proxy that serves the REST API only does without.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(str(__package__), _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["style"] = Markup(_STYLE)  # noqa: S704 - our own file
    return environment
