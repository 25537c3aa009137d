"""The REST API: ``GET /api/handles/<doi>`` (DOI resolution documentation §5, the scheme's draft §3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doiuri_proxy.app._http import JSON, BadRequestError, Response, unescape
from doiuri_proxy.records._source import SourceError, dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.records import Value

    from doiuri_proxy.app._http import Params, Request
    from doiuri_proxy.records._source import Found, Source

_HANDLES = b"/api/handles"
_INDEX = re.compile(r"[+-]?[0-9]{1,10}")
# Line separators would end a JavaScript statement.
_NOT_IN_CALLBACK = re.compile("^[0-9]|[^A-Za-z0-9_$\u00a0-\U0010ffff]|[\u2028\u2029]")


async def answer(request: Request, source: Source) -> Response:
    """Answer a request below ``/api``, failures included."""
    params: Params = {}
    try:
        params = request.params
        if request.path != _HANDLES and not request.path.startswith(_HANDLES + b"/"):
            return error(404, "no such endpoint: records are at /api/handles/<doi>", params)
        return await _record(unescape(request.path[len(_HANDLES) + 1 :]), params, source)
    except BadRequestError as problem:
        return error(400, str(problem), params)
    except SourceError as problem:
        return error(500, str(problem), params, code=2)


def error(status: int, message: str, params: Params | None = None, *, code: int = 4) -> Response:
    """Write an error: by default with code 4, a protocol error."""
    return _write(status, {"responseCode": code, "message": message}, params or {})


def wanted(values: Sequence[Value], types: Sequence[str], indices: Sequence[int]) -> list[Value]:
    """Choose the values of any of these types or indices, all where none is asked for (§5)."""
    if not types and not indices:
        return list(values)
    return [v for v in values if v.index in indices or any(v.has_type(name) for name in types)]


async def _record(handle: str, params: Params, source: Source) -> Response:
    if not handle:
        return _write(400, {"responseCode": 102, "handle": handle}, params)
    types, indices = params.get("type", ()), [_index(text) for text in params.get("index", ())]
    found = await source.find(handle, auth="auth" in params, cert="cert" in params)
    if found is None:
        return await _not_found(handle, params, source)
    if not params and found.body != b"[]":
        return _whole(handle, found)
    values = [value.to_json() for value in wanted(found.values, types, indices)]
    if not values:
        return _write(200, {"responseCode": 200, "values": [], "handle": handle}, params)
    return _write(200, {"responseCode": 1, "handle": handle, "values": values}, params)


def _whole(handle: str, found: Found) -> Response:
    """Write the usual answer without parsing what is kept as it is sent."""
    return Response(200, b'{"responseCode":1,"handle":%b,"values":%b}' % (dump(handle), found.body), JSON)


async def _not_found(handle: str, params: Params, source: Source) -> Response:
    body: dict[str, Any] = {"responseCode": 100}
    prefix = handle.partition("/")[0]
    if await source.knows_prefix(prefix) is False:
        body["message"] = f"the prefix {prefix} is not known here"
    return _write(404, {**body, "handle": handle}, params)


def _index(text: str) -> int:
    if not _INDEX.fullmatch(text):
        raise BadRequestError(f"index {text!r} is not a number")
    return int(text)


def _write(status: int, body: dict[str, Any], params: Params) -> Response:
    text = dump(body, indent=2 if "pretty" in params else None)
    callback = next((name for name in params.get("callback", ()) if name), "")
    if not callback:
        return Response(status, text, JSON)
    # These two are legal in JSON, but not in the JavaScript of older browsers.
    script = text.decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    name = _NOT_IN_CALLBACK.sub("_", callback)
    return Response(status, f"{name}({script});".encode(), "application/javascript;charset=utf-8")
