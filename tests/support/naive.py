"""The codec once more, character by character from the specifications: to compare with, not to use."""

from __future__ import annotations

import unicodedata

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
UNRESERVED = UPPER + LOWER + DIGITS + "-._~"  # RFC 3986 §2.3
# DOI Handbook, encoding rules for URL presentation: mandatory rows, recommended rows
ESCAPED_IN_LINKS = '%"# ?' + "<>{}^[]`|\\+"


def escaped(character: str) -> str:
    """The octets of the character in UTF-8, each as "%" and two upper-case digits (RFC 3986 §2.1)."""
    digits = DIGITS + UPPER[:6]
    return "".join(
        "%" + digits[octet // 16] + digits[octet % 16] for octet in character.encode("utf-8")
    )


def encode_uri(name: str) -> str:
    """The part after "doi:": with all but unreserved and "/" escaped (draft-lemieux-doi-uri-scheme-00 §2)."""
    return escaped_except(UNRESERVED + "/", name)


def escaped_except(kept: str, name: str) -> str:
    """The name with all characters escaped but those that are kept."""
    result = ""
    for character in name:
        result += character if character in kept else escaped(character)
    return result


def encode_link(name: str) -> str:
    """The path of a link: the Handbook's rows, control characters and all beyond ASCII escaped."""
    ascii_characters = {chr(code) for code in range(0x20, 0x7F)}
    readable = "".join(ascii_characters - {*ESCAPED_IN_LINKS})
    return without_dot_segments(escaped_except(readable, name))


def without_dot_segments(path: str) -> str:
    """Escape the slash after each "." and ".." segment (Handbook, note), or before one that ends the path.

    RFC 3986 §5.2.4 removes the segments ".", "..": those between two slashes, or between a slash and the end.
    """
    first, *others = path.split("/")
    result = before = first
    for place, segment in enumerate(others, 1):
        ends_path = place == len(others) and segment in {".", ".."}
        result += ("%2F" if before in {".", ".."} or ends_path else "/") + segment
        before = segment
    return result


def hexadecimal(digit: str) -> int:
    """The value of a digit in either case (RFC 3986 §2.1), or -1."""
    return (
        (DIGITS + UPPER[:6]).index(key(digit)) if digit and key(digit) in DIGITS + UPPER[:6] else -1
    )


def decode(text: str, lenient: bool = False) -> str | None:
    """Undo the escapes once (RFC 3986 §2.4); None if a "%" starts none and must, or they are not UTF-8."""
    octets: list[int] = []
    place = 0
    while place < len(text):
        high = hexadecimal(text[place + 1 : place + 2])
        low = hexadecimal(text[place + 2 : place + 3])
        if text[place] != "%":
            octets += text[place].encode("utf-8", "surrogatepass")
            place += 1
        elif high >= 0 and low >= 0:
            octets.append(16 * high + low)
            place += 3
        elif lenient:
            octets.append(0x25)
            place += 1
        else:
            return None
    try:
        return bytes(octets).decode("utf-8")
    except UnicodeDecodeError:
        return None


def key(name: str) -> str:
    """The name with a to z in upper case, and nothing else changed (Z39.84 §4)."""
    result = ""
    for character in name:
        result += UPPER[LOWER.index(character)] if character in LOWER else character
    return result


def is_name(name: str) -> bool:
    """Whether this is "10.", groups of digits, "/" and a suffix (Z39.84 §4.1 to §4.3, appendix A)."""
    if "/" not in name or name[:3] != "10.":
        return False
    prefix, suffix = name.split("/", maxsplit=1)
    if any(group == "" or not {*group} <= {*DIGITS} for group in prefix[3:].split(".")):
        return False
    return suffix != "" and all(is_graphic(character) for character in name)


def is_graphic(character: str) -> bool:
    """Whether Unicode's basic type is Graphic, or not assigned yet (Z39.84 §4.1)."""
    noncharacter = ord(character) % 0x10000 >= 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    return not noncharacter and unicodedata.category(character) not in {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Zl",
        "Zp",
    }


def name_of_uri(uri: str) -> str | None:
    """The name in a doi: URI, or None: legal characters, no query, no fragment (draft §2; RFC 3986 §3)."""
    if key(uri[:4]) != "DOI:":  # RFC 3986 §3.1: schemes are case-insensitive
        return None
    legal = {*uri[4:]} <= {*UNRESERVED, *"!$&'()*+,;=", *":@", "/", "%"}  # RFC 3986 §3.3, pchar
    name = decode(uri[4:]) if legal else None
    return name if name is not None and is_name(name) else None


def name_of_link(link: str) -> str | None:
    """The name after "https://doi.org/", up to a query or a fragment (RFC 3986 §3.4 and §3.5), or None."""
    head = "https://doi.org/"
    if link[: len(head)] != head:
        return None
    path = link[len(head) :].split("#", maxsplit=1)[0].split("?", maxsplit=1)[0]
    name = decode(path)
    return name if name is not None and is_name(name) else None
