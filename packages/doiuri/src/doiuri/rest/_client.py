"""The DOI proxy's REST API and Which RA without IO: which URL to ask, and what the answer means.

Specifications: draft-lemieux-doi-uri-scheme-00 section 3; DOI resolution documentation sections 4 and 5.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from doiuri._encoding import PATH, encode
from doiuri._resolution_errors import BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri._urls import DOI_ORG
from doiuri.records._json import Malformed, integer, load, shown
from doiuri.records._record import check_echo, read_members
from doiuri.records._values import MAX_TTL, ascii_upper

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri._doi import Handle
    from doiuri.records._json import JSON
    from doiuri.records._record import Record

MAX_URL = 3000
"""Length of a Which RA request in characters: servers answered 5,700 and refused 11,500."""

MAX_MESSAGE = 1000
"""Characters of a server's message that an error repeats."""

AgencyStatus = Literal["found", "not-found", "unknown", "invalid"]

# DOI resolution documentation section 4, error states; in lower case
_STATUSES: dict[str, AgencyStatus] = {"doi does not exist": "not-found", "invalid doi": "invalid"}


@dataclass(frozen=True, slots=True)
class Agency:
    """What Which RA says of a DOI: its registration agency's ``name`` where the ``status`` is ``"found"``."""

    doi: Handle
    name: str | None
    status: AgencyStatus


def record_url(
    doi: Handle,
    *,
    base: str = DOI_ORG,
    type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
    index: int | Sequence[int] = (),
    auth: bool = False,
    cert: bool = False,
    pretty: bool = False,
    callback: str | None = None,
) -> str:
    """The URL of the record of ``doi`` at the proxy ``base``.

    ``type`` and ``index`` ask only for the values that have any of them; ``auth`` asks past the proxy's
    cache, ``cert`` for an authenticated answer, ``pretty`` for indented JSON, ``callback`` for JSONP
    (DOI resolution documentation section 5).
    """
    types = (type,) if isinstance(type, str) else type
    numbers = (index,) if isinstance(index, int) else index
    pairs = [f"type={quote(name, safe='')}" for name in types] + [f"index={number:d}" for number in numbers]
    pairs += [name for name, wanted in (("auth", auth), ("cert", cert), ("pretty", pretty)) if wanted]
    if callback is not None:
        pairs.append(f"callback={quote(callback, safe='')}")
    query = f"?{'&'.join(pairs)}" if pairs else ""
    return f"{base.rstrip('/')}/api/handles/{encode(doi.name, PATH)}{query}"


def read_record(doi: Handle, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Record:
    """Read the answer to ``record_url``: its HTTP status, body and headers.

    Raises DOINotFound and NoValues where the proxy says so, ResolverUnavailable where it refused or failed,
    BadRecord where the answer is not what the API promises: then nothing is known about the DOI.
    """
    if status not in {200, 404}:
        raise _unavailable(doi, status, body, headers)
    try:
        answer = _object(load(body))
        code = _response_code(answer, status)
        if code == 1:
            return read_members(answer, doi)
        check_echo(answer.get("handle", doi.name), doi)
    except ValueError as error:
        raise BadRecord(doi, str(error)) from None
    message = _message(answer)
    if code == 2:
        raise ResolverUnavailable(doi, message or "the proxy failed", status, retry_after(headers or {}))
    raise DOINotFound(doi, message) if code == 100 else NoValues(doi, message)


def agency_url(dois: Iterable[Handle], *, base: str = DOI_ORG) -> str:
    """The URL that asks Which RA about all of ``dois``; a comma inside a name is escaped (section 4)."""
    return f"{base.rstrip('/')}/doiRA/{','.join(encode(doi.name, PATH) for doi in dois)}"


def agency_batches(
    dois: Iterable[Handle], *, base: str = DOI_ORG, limit: int = MAX_URL
) -> Iterator[tuple[list[Handle], str]]:
    """Split ``dois`` into Which RA requests whose URL has at most ``limit`` characters.

    A name too long for that makes a request of its own: it is for the caller to leave out.
    """
    room = limit - len(agency_url((), base=base))
    batch: list[Handle] = []
    left = room
    for doi in dois:
        length = len(encode(doi.name, PATH)) + 1  # with the comma, which the first does not need
        if batch and length > left + 1:
            yield batch, agency_url(batch, base=base)
            batch, left = [], room
        batch.append(doi)
        left -= length
    if batch:
        yield batch, agency_url(batch, base=base)


def read_agencies(
    dois: Sequence[Handle], status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> list[Agency]:
    """Read the answer to ``agency_url``: one Agency for each of ``dois``, in their order.

    What the answer leaves out, or says in two ways, is ``"unknown"``. Raises ResolverUnavailable where the
    proxy refused or failed and BadRecord where the answer is none; both carry the first of ``dois``.
    """
    first = dois[0] if dois else None
    if status != 200:
        raise _unavailable(first, status, body, headers)
    try:
        answers = _by_name(load(body))
    except ValueError as error:
        raise BadRecord(first, str(error)) from None
    return [Agency(doi, *_verdict(answers.get(ascii_upper(doi.name), []))) for doi in dois]


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """How many seconds a Retry-After header asks to wait from ``now`` (Unix seconds), None without one.

    Reads both forms, seconds and an HTTP date (RFC 9110 section 10.2.3); a date in the past is 0.
    """
    text = next((value.strip() for name, value in headers.items() if name.lower() == "retry-after"), "")
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return min(float(text), MAX_TTL)
    try:
        moment = parsedate_to_datetime(text)
        wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - (
            time.time() if now is None else now
        )
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(wait, 0.0), MAX_TTL)


def _by_name(answer: JSON) -> dict[str, list[dict[str, JSON]]]:
    if not isinstance(answer, list):
        raise Malformed(f"the answer of Which RA is {shown(answer)}, not a list")
    items: dict[str, list[dict[str, JSON]]] = {}
    for item in answer:
        name = item.get("DOI") if isinstance(item, dict) else None
        if not isinstance(name, str):
            raise Malformed(f"an answer of Which RA does not name its DOI: {shown(item)}")
        items.setdefault(ascii_upper(name), []).append(item)
    return items


def _verdict(items: list[dict[str, JSON]]) -> tuple[str | None, AgencyStatus]:
    """Agency and state, if all answers about a name agree."""
    verdicts = {_one_verdict(item.get("RA"), item.get("status")) for item in items}
    return verdicts.pop() if len(verdicts) == 1 else (None, "unknown")


def _one_verdict(name: JSON, status: JSON) -> tuple[str | None, AgencyStatus]:
    if name is None and isinstance(status, str):
        return None, _STATUSES.get(status.strip().lower(), "unknown")
    # section 4 does not say which member holds its "Unknown"
    if status is not None or not isinstance(name, str) or name.strip().lower() in {"", "unknown"}:
        return None, "unknown"
    return name, "found"


def _unavailable(
    doi: Handle | None, status: int, body: bytes, headers: Mapping[str, str] | None
) -> ResolverUnavailable:
    try:
        message = _message(_object(load(body[:MAX_MESSAGE])))
    except ValueError:
        message = ""
    reason = f"HTTP status {status}" + (f": {message}" if message else "")
    return ResolverUnavailable(doi, reason, status, retry_after(headers or {}))


def _response_code(answer: dict[str, JSON], status: int) -> int:
    """The response code, if it is one of section 5 and goes with the HTTP status."""
    code = integer(answer.get("responseCode"))
    if code not in {1, 2, 100, 200} or (code in {1, 200} and status != 200):
        raise Malformed(f"responseCode is {shown(answer.get('responseCode'))} with HTTP status {status}")
    return code


def _object(answer: JSON) -> dict[str, JSON]:
    if not isinstance(answer, dict):
        raise Malformed(f"the answer is {shown(answer)}, not an object")
    return answer


def _message(answer: dict[str, JSON]) -> str:
    """The ``message`` of an error, which is optional (section 5, response format)."""
    message = answer.get("message")
    return message[:MAX_MESSAGE] if isinstance(message, str) else ""
