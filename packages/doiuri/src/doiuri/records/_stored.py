"""Records as ``Record.to_json`` writes nearly all of them: checked, and their URLs read, without parsing.

This is what makes a batch of stored answers fast. Whatever these patterns do not describe is parsed.
"""

from __future__ import annotations

import re

from doiuri.records._values import ascii_upper

_TEXT = r'"[^"\\\x00-\x1f]*+"'  # without escapes, so a quote always ends it
_INTEGER = r"-?+(?:0|[1-9][0-9]{0,8}+)"
_STRING = rf'\{{"format":"string","value":{_TEXT}\}}'
_FLAG = r'(?:,"legacyByteLength":(?:true|false))?+'
_RIGHTS = rf'\{{"handle":{_TEXT},"index":{_INTEGER},"permissions":{_TEXT}{_FLAG}\}}'
_ADMIN = rf'\{{"format":"admin","value":{_RIGHTS}\}}'
_REST = rf'(?:,"permissions":{_TEXT})?+(?:,"ttl":(?:{_INTEGER}|{_TEXT}))?+(?:,"timestamp":{_TEXT})?+'
_VALUE = rf'\{{"index":{_INTEGER},"type":{_TEXT},"data":(?:{_STRING}|{_ADMIN}){_REST}\}}'
_PLAIN = re.compile(
    rf'\{{"responseCode":1,"handle":"([^"\\\x00-\x1f]*+)","values":\[(?:{_VALUE}(?:,(?=\{{)|(?=\])))*+\]\}}'
)
_TYPE_AND_TEXT = re.compile(r'"type":"([^"]*+)","data":\{"format":"string","value":"([^"]*+)"')


def is_plain(key: str, source: bytes) -> bool:
    """Return whether this is the plain record of the name with this key: if so, it can be parsed."""
    try:
        plain = _PLAIN.fullmatch(source.decode())
    except UnicodeDecodeError:
        return False
    return plain is not None and ascii_upper(plain[1]) == key


def plain_urls(source: bytes) -> list[str] | None:
    """Return the URL values of a plain record; None if it has a 10320/loc value, which may overrule them."""
    strings = [(ascii_upper(name), text) for name, text in _TYPE_AND_TEXT.findall(source.decode())]
    if any(name == "10320/LOC" for name, _ in strings):
        return None
    return [text for name, text in strings if name == "URL"]
