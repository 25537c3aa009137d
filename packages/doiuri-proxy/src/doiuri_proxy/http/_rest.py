"""The REST API, ``GET /api/handles/<doi>``, and Which RA, ``GET /doiRA/<doi>[,<doi>…]`` or ``/ra/…``.

DOI resolution documentation §4 and §5; draft-lemieux-doi-uri-scheme-00 §3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri import DOISyntaxError, Handle, ShortDOI
from doiuri.records import select
from doiuri.rest import ResponseCode, write_json

from doiuri_proxy.http._http import BadRequestError, Response, unescape
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from doiuri_proxy.http._http import Params, Request
    from doiuri_proxy.records._open import Source
    from doiuri_proxy.records._source import Registration

JSON_TYPE = "application/json;charset=utf-8"

_HANDLES = b"/api/handles"
_INDEX = re.compile(r"[+-]?[0-9]{1,10}")
# Line separators end a JavaScript statement.
_NOT_IN_CALLBACK = re.compile("^[0-9]|[^A-Za-z0-9_$\u00a0-\U0010ffff]|[\u2028\u2029]")


async def answer(request: Request, source: Source) -> Response:
    """Return the answer to a request below ``/api``, errors included."""
    params: Params = {}
    try:
        params = request.params
        if request.path != _HANDLES and not request.path.startswith(_HANDLES + b"/"):
            return error(404, "no such endpoint; records are at /api/handles/<doi>", params)
        return await _record(unescape(request.path[len(_HANDLES) + 1 :]), params, source)
    except BadRequestError as problem:
        return error(400, str(problem), params)
    except SourceError as problem:
        return error(problem.status, str(problem), params).with_headers(*problem.headers)


def error(status: int, message: str, params: Params | None = None) -> Response:
    """Return an error: responseCode 2 for a failure of this server (HTTP status 5xx), else 4 (protocol error)."""
    code = ResponseCode.ERROR if status in {500, 503} else ResponseCode.PROTOCOL_ERROR
    return _response(status, {"responseCode": code, "message": message}, params or {})


def valid_params(request: Request) -> Params:
    """Return the parameters, which decide the form of an error; none if one of them is malformed."""
    try:
        return request.params
    except BadRequestError:
        return {}


async def _record(name: str, params: Params, source: Source) -> Response:
    """Return the values of a handle that the parameters select, or why there are none."""
    if not name:
        return _response(400, {"responseCode": ResponseCode.INVALID_HANDLE, "handle": name}, params)

    indexes = _indexes(params)
    record = await source.lookup(name, auth="auth" in params, cert="cert" in params)
    if record is None:
        missing = {"responseCode": ResponseCode.HANDLE_NOT_FOUND, "handle": name}
        return _response(404, missing, params)
    if not params and record.body != b"[]":  # nothing to select, so the values need not be parsed
        body = b'{"responseCode":1,"handle":%b,"values":%b}' % (write_json(name), record.body)
        return Response(200, body, JSON_TYPE)

    values = [value.to_json() for value in select(record.values, params.get("type", ()), indexes)]
    if values:
        answer = {"responseCode": ResponseCode.SUCCESS, "handle": name, "values": values}
    else:
        answer = {"responseCode": ResponseCode.VALUE_NOT_FOUND, "values": [], "handle": name}
    return _response(200, answer, params)


def _indexes(params: Params) -> set[int]:
    """Return the indexes that parameters select. Raises BadRequestError if one is not a number."""
    texts = params.get("index", ())
    for text in texts:
        if not _INDEX.fullmatch(text):
            raise BadRequestError(f"index {text!r} is not a number")
    return {int(text) for text in texts}


def _response(status: int, answer: object, params: Params) -> Response:
    """Return a response with JSON, or with JSONP if the parameter ``callback`` is given."""
    body = write_json(answer, pretty="pretty" in params)
    # An empty parameter counts as none.
    callback = next(filter(None, params.get("callback", ())), "")
    if not callback:
        return Response(status, body, JSON_TYPE)
    function = _NOT_IN_CALLBACK.sub("_", callback)
    script = b"%b(%b);" % (function.encode(), body)
    return Response(status, script, "application/javascript;charset=utf-8")


async def which_ra(request: Request, source: Source) -> Response:
    """Return the registration agency of each DOI or prefix, in the order asked. Raises BadRequestError."""
    _, _, path = request.path.split(
        b"/", 2
    )  # "10.1000/182,10.1000" of "/doiRA/10.1000/182,10.1000"
    names = [unescape(name) for name in path.split(b",")]
    valid_names = list(dict.fromkeys(filter(_has_agency, names)))
    registrations = await source.registrations(valid_names)
    by_name = dict(zip(valid_names, registrations, strict=True))
    items = [{"DOI": name, **_agency(by_name.get(name))} for name in names]
    return Response(200, write_json(items), "application/json;charset=UTF-8")


def _has_agency(name: str) -> bool:
    """Return whether ``name`` is a DOI or a bare prefix. Which RA does not answer for short DOIs."""
    try:
        return not isinstance(Handle.from_name(name), ShortDOI)
    except DOISyntaxError:
        return False


def _agency(registration: Registration | None) -> dict[str, str]:
    """Return the agency, or why there is none (§4, error states).

    :param registration: None for what is neither a DOI nor a prefix.
    """
    if registration is None:
        return {"status": "Invalid DOI"}
    if registration.exists is False:
        return {"status": "DOI does not exist"}
    if not registration.agency:
        return {"status": "Unknown"}
    return {"RA": registration.agency}
