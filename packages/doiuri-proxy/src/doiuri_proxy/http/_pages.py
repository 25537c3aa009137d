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
_STYLE_FILE = files(__package__) / _FOLDER / "style.css"
_STYLE = "".join(_STYLE_FILE.read_text(encoding="utf-8").splitlines())
_STYLE_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

# Browsers also apply form-action to redirects of the form's response, so it allows all sites.
HEADERS = (
    (
        "Content-Security-Policy",
        (
            f"default-src 'none'; style-src 'sha256-{_STYLE_DIGEST}'; base-uri 'none'; "
            "form-action 'self' http: https:; frame-ancestors 'none'"
        ),
    ),
    ("X-Content-Type-Options", "nosniff"),
    # not the request's Origin: a cache may serve the answer to a page of any origin
    ("Access-Control-Allow-Origin", "*"),
)

# The headers of metadata: if another server sent a page with scripts instead, browsers must not run them.
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
    page = str(escape(target)).join(_moved_parts())
    headers = [*HEADERS, ("Location", target)]
    if links:
        headers.append(("Link", links))
    return Response(status, page.encode("utf-8", "replace"), headers=tuple(headers))


def values_table(handle: str, values: Sequence[Value]) -> Response:
    """Return a handle's values as a table."""
    rows = [(value, _target(value), _structure(value)) for value in values]
    return _page(200, "values", f"Handle Values for: {handle}", handle=handle, rows=rows)


def _page(status: int, name: str, title: str, **texts: object) -> Response:
    return Response(status, _render(name, title=title, **texts), headers=HEADERS)


def _target(value: Value) -> str | None:
    """Return where a value's text links to, if anywhere."""
    text = value.data.value
    if not isinstance(text, str):
        return None
    if value.has_type("URL"):
        return header_url(text)
    if value.has_type("HS_ALIAS"):
        return path_of(text)
    return None


def _structure(value: Value) -> str | None:
    """Return a value's data as JSON, unless it is text."""
    data = value.data.value
    if isinstance(data, str):
        return None
    return json.dumps(data, ensure_ascii=False, indent=2)


def _render(name: str, **texts: object) -> bytes:
    html: str = _environment().get_template(f"{name}.html").render(texts)
    return html.encode("utf-8", "replace")


@cache  # to render the page takes longer than to look up where a redirect leads
def _moved_parts() -> list[str]:
    """Return the page of a redirect, split where the target belongs."""
    return _render("moved", title="Handle Redirect", target=_SLOT).decode().split(_SLOT)


@cache
def _environment() -> Environment:
    """Return Jinja's environment, which escapes all values, and raises an exception for one that is missing."""
    # Imported with the first page: a proxy that only serves the REST API does without.
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
