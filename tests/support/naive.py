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
    result = ""
    for octet in character.encode("utf-8"):
        result += "%" + "0123456789ABCDEF"[octet // 16] + "0123456789ABCDEF"[octet % 16]
    return result


def encode_uri(name: str) -> str:
    """The part after "doi:": with all but unreserved and "/" escaped (draft-lemieux-doi-uri-scheme-00 §2)."""
    result = ""
    for character in name:
        result += character if character in UNRESERVED + "/" else escaped(character)
    return result


def encode_link(name: str) -> str:
    """The path of a link: the Handbook's rows, control characters and all beyond ASCII escaped."""
    result = ""
    for character in name:
        readable = " " <= character <= "~" and character not in ESCAPED_IN_LINKS
        result += character if readable else escaped(character)
    return without_dot_segments(result)


def without_dot_segments(path: str) -> str:
    """Escape the slash after each "." and ".." segment (Handbook, note), or before one that ends the path.

    RFC 3986 §5.2.4 removes the segments ".", "..": those between two slashes, or between a slash and the end.
    """
    result = ""
    segment = ""
    for place, character in enumerate(path):
        if character != "/":
            segment += character
            result += character
            continue
        rest = path[place + 1 :]
        result += "%2F" if segment in {".", ".."} or rest in {".", ".."} else "/"
        segment = ""
    return result


def hexadecimal(digit: str) -> int:
    """The value of a digit in either case (RFC 3986 §2.1), or -1."""
    for value, digits in enumerate([*DIGITS, "aA", "bB", "cC", "dD", "eE", "fF"]):
        if digit != "" and digit in digits:
            return value
    return -1


def decode(text: str, lenient: bool = False) -> str | None:
    """Undo the escapes once (RFC 3986 §2.4); None if a "%" starts none and must, or they are not UTF-8."""
    octets: list[int] = []
    place = 0
    while place < len(text):
        high, low = hexadecimal(text[place + 1 : place + 2]), hexadecimal(text[place + 2 : place + 3])
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
    slash = name.index("/")
    for group in name[3:slash].split("."):
        if group == "" or any(character not in DIGITS for character in group):
            return False
    return slash + 1 < len(name) and all(is_graphic(character) for character in name)


def is_graphic(character: str) -> bool:
    """Whether Unicode's basic type is Graphic, or not assigned yet (Z39.84 §4.1)."""
    noncharacter = ord(character) % 0x10000 >= 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    return not noncharacter and unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def name_of_uri(uri: str) -> str | None:
    """The name in a doi: URI, or None: legal characters, no query, no fragment (draft §2; RFC 3986 §3)."""
    if key(uri[:4]) != "DOI:":  # RFC 3986 §3.1: schemes are case-insensitive
        return None
    path = uri[4:]
    for character in path:
        if character not in UNRESERVED + "!$&'()*+,;=" + ":@" + "/" + "%":  # RFC 3986 §3.3, pchar
            return None
    name = decode(path)
    return name if name is not None and is_name(name) else None


def name_of_link(link: str) -> str | None:
    """The name after "https://doi.org/", up to a query or a fragment (RFC 3986 §3.4 and §3.5), or None."""
    head = "https://doi.org/"
    if link[: len(head)] != head:
        return None
    path = link[len(head) :].split("#", maxsplit=1)[0].split("?", maxsplit=1)[0]
    name = decode(path)
    return name if name is not None and is_name(name) else None
