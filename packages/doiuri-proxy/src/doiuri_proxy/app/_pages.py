"""The HTML pages: accessible, all text escaped, no scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from typing import TYPE_CHECKING

from doiuri import LINK, encode

from doiuri_proxy.app._http import Response
from doiuri_proxy.app._targets import header_url
from doiuri_proxy.records._validation import is_handle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.records import Value

MAX_INDENTATION = 1_000_000  # spaces

# Only data cells wrap; on a narrow screen, others would break into single letters.
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "overflow-wrap:anywhere}h1{line-height:1.25}input,button{font:inherit;max-width:100%}"
    "[role=region]{overflow-x:auto}table{border-collapse:collapse;width:100%}"
    "th,td{border:1px solid #767676;padding:.3rem .6rem;text-align:start;vertical-align:top;"
    "white-space:nowrap}td:last-child{white-space:normal;min-width:14rem}"
    "caption{text-align:start;padding:.5rem 0}pre{margin:0;white-space:pre-wrap}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

# Browsers also apply form-action to redirects of the form's response, so it allows all sites.
SECURITY = (
    (
        "Content-Security-Policy",
        (
            f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
            "form-action 'self' http: https:; frame-ancestors 'none'"
        ),
    ),
    ("X-Content-Type-Options", "nosniff"),
)


def path_of(handle: str) -> str:
    """Return the path of a handle on this proxy, encoded as in links."""
    return "/" + encode(handle.lstrip("/"), LINK)


def page(status: int, title: str, *body: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Return a page; ``title`` is text, ``body`` HTML."""
    html = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )
    return Response(status, html.encode("utf-8", "replace"), headers=(*SECURITY, *headers))


def error(status: int, title: str, message: str) -> Response:
    """Return an error page."""
    return page(status, title, f"<p>{escape(message)}</p>")


def front() -> Response:
    """Return the front page, with a form to resolve a DOI."""
    return page(
        200,
        "Resolve a DOI Name",
        '<form method="post" action="/">\n<label for="hdl">DOI name</label>\n'
        '<input id="hdl" name="hdl" required autocapitalize="off" spellcheck="false" size="40">\n'
        '<button type="submit">Resolve</button>\n</form>',
    )


def not_found(handle: str) -> Response:
    """Return "DOI Name Not Found"; if the name ends in a slash, with a link to the name without it.

    DOI resolution documentation §1.
    """
    parts = [f"<p>{_name(handle)} is not registered here.</p>"]
    shorter = handle.removesuffix("/")
    if shorter != handle and is_handle(shorter):
        parts.append(
            "<p><strong>The name ends in a slash</strong>, which is rarely intended. "
            f'Did you mean <a href="{escape(path_of(shorter))}">{_name(shorter)}</a>?</p>'
        )
    return page(404, "DOI Name Not Found", *parts)


def no_values(handle: str) -> Response:
    """Return "No Values Found": the name exists, but has no values of the types and indices requested."""
    return page(
        200,
        "No Values Found",
        f"<p>{_name(handle)} is registered, but has no values of the requested types and indices.</p>",
    )


def moved(status: int, target: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Return a redirect, with a page for clients that do not follow it."""
    link = f'<p>This DOI leads to <a href="{escape(target)}">{escape(target)}</a>.</p>'
    return page(status, "Handle Redirect", link, headers=(("Location", target), *headers))


def values_table(handle: str, values: Sequence[Value]) -> Response:
    """Return a handle's values as a table."""
    head = "".join(f'<th scope="col">{title}</th>' for title in ("Index", "Type", "Timestamp", "TTL", "Data"))
    rows = "\n".join(_row(value) for value in values)
    return page(
        200,
        f"Handle Values for: {handle}",
        '<div role="region" aria-labelledby="values" tabindex="0">\n'  # tabindex: scrolls by keyboard
        f'<table>\n<caption id="values">Values of {_name(handle)}</caption>\n<thead>\n<tr>{head}</tr>\n'
        f"</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>",
    )


def _row(value: Value) -> str:
    cells = (str(value.index), escape(value.type), escape(value.timestamp or ""), escape(str(value.ttl)))
    first, *rest = (*cells, _data(value))
    return f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"


def _data(value: Value) -> str:
    data = value.data.value
    if not isinstance(data, str):
        indent = 2 if is_shallow(data) else None
        return f"<pre>{escape(json.dumps(data, ensure_ascii=False, indent=indent))}</pre>"
    target = None
    if value.type.upper() == "URL":
        target = header_url(data)
    elif value.type.upper() == "HS_ALIAS":
        target = path_of(data)
    text = f"<bdi>{escape(data)}</bdi>"
    return f'<a href="{escape(target)}" rel="nofollow noopener noreferrer">{text}</a>' if target else text


def is_shallow(data: object) -> bool:
    """Return whether JSON data is nested so little that indenting it does not multiply its size."""
    items, depth, indentation = [data], 0, 0
    while items and indentation <= MAX_INDENTATION:
        children: list[object] = []
        for item in items:
            children += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        items, depth = children, depth + 1
        indentation += 2 * depth * len(items)
    return not items


def _name(handle: str) -> str:
    return f"<bdi>{escape(handle)}</bdi>"
