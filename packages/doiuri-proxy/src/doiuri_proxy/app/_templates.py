"""HTML from templates, which escape all text."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = "templates"
_SLOT = "\N{OBJECT REPLACEMENT CHARACTER}"  # where a page that is rendered once gets its text
_STYLE = "".join((files(__package__) / _FOLDER / "style.css").read_text(encoding="utf-8").splitlines())

#: the source of the pages' only style sheet in a Content-Security-Policy
STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"


def render(name: str, **texts: object) -> bytes:
    """Return the page that a template makes of texts, in UTF-8."""
    html: str = _environment().get_template(f"{name}.html").render(texts)
    return html.encode("utf-8", "replace")


def fill(name: str, title: str, slot: str, text: str) -> bytes:
    """Return the page that a template makes of a title and one text, named ``slot``.

    The template is rendered once for all texts: that takes longer than looking up where a redirect leads.
    """
    return str(escape(text)).join(_parts(name, title, slot)).encode("utf-8", "replace")


@cache
def _parts(name: str, title: str, slot: str) -> list[str]:
    return render(name, title=title, **{slot: _SLOT}).decode().split(_SLOT)


@cache
def _environment() -> Environment:
    # Loaded with the first page: a proxy that serves the REST API only does without.
    from jinja2 import Environment, PackageLoader, StrictUndefined

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
