"""The HTML pages: accessible, all text escaped, no scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from doiuri import LINK, encode
from markupsafe import Markup, escape

from doiuri_proxy.http._http import Response
from doiuri_proxy.http._targets import header_url
from doiuri_proxy.records._files import is_handle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri.records import Value
    from jinja2 import Environment

_FOLDER = "templates"
_SLOT = "\N{OBJECT REPLACEMENT CHARACTER}"  # where a page that is rendered once gets its text
_STYLE = "".join(
    (files(__package__) / _FOLDER / "style.css").read_text(encoding="utf-8").splitlines()
)

#: the source of the pages' only style sheet in a Content-Security-Policy
_STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"

# Browsers also apply form-action to redirects of the form's response, so it allows all sites.
HEADERS = (
    (
        "Content-Security-Policy",
        (
            f"default-src 'none'; style-src {_STYLE_SOURCE}; base-uri 'none'; "
            "form-action 'self' http: https:; frame-ancestors 'none'"
        ),
    ),
    ("X-Content-Type-Options", "nosniff"),
    (
        "Access-Control-Allow-Origin",
        "*",
    ),  # not the request's Origin: caches keep the answer for any
)

# Of metadata: another server may have sent a page with scripts in its place, which browsers must not run.
CONTENT_HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
    ),
    *HEADERS[1:],
)


def path_of(handle: str) -> str:
    """Return the path of a handle on this proxy, encoded as in links."""
    return "/" + encode(handle.lstrip("/"), LINK)


def error(status: int, title: str, message: str) -> Response:
    """Return an error page."""
    return _page(status, "error", title, message=message)


def front() -> Response:
    """Return the front page, with a form to resolve a DOI."""
    return _page(200, "front", "Resolve a DOI Name")


def not_found(handle: str) -> Response:
    """Return "DOI Name Not Found"; if the name ends in a slash, with a link to the name without it.

    DOI resolution documentation §1.
    """
    shorter = handle.removesuffix("/")
    if shorter == handle or not is_handle(shorter):
        shorter = ""
    return _page(
        404,
        "not_found",
        "DOI Name Not Found",
        handle=handle,
        shorter=shorter,
        path=path_of(shorter),
    )


def not_acceptable(handle: str, media_types: Iterable[str]) -> Response:
    """Return "Not Acceptable", with the media types that the metadata is available in."""
    types = list(media_types)
    return _page(406, "not_acceptable", "Not Acceptable", handle=handle, media_types=types)


def no_values(handle: str) -> Response:
    """Return "No Values Found": the name exists, but has no values of the types and indices requested."""
    return _page(200, "no_values", "No Values Found", handle=handle)


def moved(status: int, target: str, links: str = "") -> Response:
    """Return a redirect with a Link header, if any, and a page for clients that do not follow it."""
    body = str(escape(target)).join(_moved_parts()).encode("utf-8", "replace")
    link = (("Link", links),) if links else ()
    return Response(status, body, headers=(*HEADERS, ("Location", target), *link))


def values_table(handle: str, values: Sequence[Value]) -> Response:
    """Return a handle's values as a table."""
    rows = [(value, _target(value), _structure(value)) for value in values]
    return _page(200, "values", f"Handle Values for: {handle}", handle=handle, rows=rows)


def _page(status: int, name: str, title: str, **texts: object) -> Response:
    return Response(status, _render(name, title=title, **texts), headers=HEADERS)


def _target(value: Value) -> str | None:
    """Return where a value's text links to, if anywhere."""
    text = value.data.value
    if isinstance(text, str) and value.has_type("URL"):
        return header_url(text)
    return path_of(text) if isinstance(text, str) and value.has_type("HS_ALIAS") else None


def _structure(value: Value) -> str | None:
    """Return a value's data as JSON, unless it is text."""
    data = value.data.value
    return None if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=2)


def _render(name: str, **texts: object) -> bytes:
    html: str = _environment().get_template(f"{name}.html").render(texts)
    return html.encode("utf-8", "replace")


@cache  # rendering takes longer than looking up where a redirect leads
def _moved_parts() -> list[str]:
    return _render("moved", title="Handle Redirect", target=_SLOT).decode().split(_SLOT)


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
