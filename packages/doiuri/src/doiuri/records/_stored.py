"""Records as ``Record.to_json`` writes nearly all of them: checked, and their URL read, without parsing.

This is what makes a batch of stored answers fast. Whatever the pattern does not describe is parsed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri.records._values import ascii_upper

if TYPE_CHECKING:
    from doiuri._doi import Handle

_TEXT = r'"[^"\\\x00-\x1f]*+"'  # without escapes, so a quote always ends it
_INTEGER = r"-?+(?:0|[1-9][0-9]{0,8}+)"
_STRING = rf'\{{"format":"string","value":{_TEXT}\}}'
_FLAG = r'(?:,"legacyByteLength":(?:true|false)|)'
_RIGHTS = rf'\{{"handle":{_TEXT},"index":{_INTEGER},"permissions":{_TEXT}{_FLAG}\}}'
_ADMIN = rf'\{{"format":"admin","value":{_RIGHTS}\}}'
_REST = rf'(?:,"permissions":{_TEXT}|)(?:,"ttl":(?:{_INTEGER}|{_TEXT})|)(?:,"timestamp":{_TEXT}|)'
_START = rf'\{{"index":{_INTEGER},"type":'
_END = rf"{_REST}\}}(?:,(?=\{{)|(?=\]))"
_OTHER = rf'(?!"(?i:URL|HS_ALIAS|10320/LOC)"){_TEXT},"data":(?:{_STRING}|{_ADMIN})'
_URL = r'"[Uu][Rr][Ll]","data":\{"format":"string","value":"([^"\\\x00-\x1f]*+)"\}'
_PLAIN = re.compile(
    r'\{"responseCode":1,"handle":"([^"\\\x00-\x1f]*+)","values":\['
    rf"(?>(?:{_START}{_OTHER}{_END})*)(?:{_START}{_URL}{_END}|)(?>(?:{_START}{_OTHER}{_END})*)\]\}}"
)


def read_plain(doi: Handle, source: bytes) -> re.Match[str] | None:
    """Return the plain record of a DOI, which can be parsed; None if it is anything else.

    Its second group is the URL value. A record with an alias, several URLs or a 10320/loc value is not plain.
    """
    try:
        plain = _PLAIN.fullmatch(source.decode())
    except UnicodeDecodeError:
        return None
    if plain is None or (plain[1] != doi.name and ascii_upper(plain[1]) != doi.key):
        return None
    return plain
