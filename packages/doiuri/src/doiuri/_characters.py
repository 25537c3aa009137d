"""The characters that a name may have: those of Unicode's basic type Graphic."""

import re
from functools import cache

# The other basic types, by general category (Cc, Cs, Zl Zp, Co, noncharacters, Cf), in Unicode 4.0 to 17.0:
# spelled out so that the result does not depend on the interpreter's version of Unicode.
_OTHERS = {
    "line break": r"\n\r",  # control characters, but users know them by this name
    "control character": r"\x00-\x1f\x7f-\x9f",
    "surrogate": r"\ud800-\udfff",
    "line or paragraph separator": r"\u2028\u2029",
    "private use character": r"\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",
    "noncharacter": r"\ufdd0-\ufdef" + "".join(rf"\U{p:04x}fffe\U{p:04x}ffff" for p in range(17)),
    "format character": (
        r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
        r"\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
        r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    ),
}
NOT_GRAPHIC = "".join(_OTHERS.values())  # as a pattern's character class


def not_graphic(name: str) -> tuple[int, str] | None:
    """Return position and reason for the first character that is not graphic, or None (Z39.84 §4.1).

    Call it only if ``str.isprintable`` is false: that is faster, and true for nearly every name.
    """
    match = _pattern().search(name)
    if match is None:
        return None
    kind = next(kind for kind, ranges in _OTHERS.items() if re.match(f"[{ranges}]", match[0]))
    return match.start(), f"a name cannot contain U+{ord(match[0]):04X} ({kind})"


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"[{NOT_GRAPHIC}]")  # takes 5 ms
