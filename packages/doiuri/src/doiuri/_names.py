"""The base class of the values, and the syntax of DOI names, prefixes and short DOIs (Z39.84-2005 §4).

What is wrong with a name is its flaw: the position in the name, and the reason. The functions whose names end in
``_flaw`` return the first one, or None if the name is valid.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, TypeAlias

    Flaw: TypeAlias = tuple[int, str]  # position in the name, and reason

# A name may have characters of Unicode's basic type Graphic. These are the other types, by general category
# (Cc, Cs, Zl Zp, Co, noncharacters, Cf), in Unicode 4.0 to 17.0: spelled out so that the result does not
# depend on the interpreter's version of Unicode.
_NOT_GRAPHIC = {
    "line break": r"\n\r",  # control characters, but users know them by this name
    "control character": r"\x00-\x1f\x7f-\x9f",
    "surrogate": r"\ud800-\udfff",
    "line or paragraph separator": r"\u2028\u2029",
    "private use character": r"\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",
    "noncharacter": r"\ufdd0-\ufdef"  # and the last two of each plane
    + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(17)),
    "format character": (
        r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
        r"\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
        r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    ),
}
NOT_GRAPHIC = "".join(_NOT_GRAPHIC.values())
"""The characters that no name may have, as a pattern's character class."""

INVISIBLE = _NOT_GRAPHIC["format character"] + r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
"""Those of them that nobody sees, and that separate nothing."""

PLAIN_REST = (
    r"(?!1145/[0-9]+0000/)"  # not the path of a file at ACM: 10.1145/3290000/3290605.pdf
    r"[0-9]{4,9}+/"
    r"(?![0-9.]++[eE][-+])"  # not a quotient of two numbers: 10.5000/5e-3
    r"(?>(?:"
    r"[._/-]*+[A-Za-z0-9À-ÿ]++"
    r"|\([0-9A-Z]++\)"
    r"|:[0-9]++(?:/[0-9]++)?<[0-9]++::[0-9A-Z-]++>|;[0-9]-(?=[0-9A-Z])"  # of a SICI
    r"){1,200})"
)
"""The source of a pattern for what follows "10." in a plain name, one that nothing has to look closer at.

Nearly all names are plain: letters, digits, what joins them, what a SICI has. To ``find`` and ``advise`` they
are the same with and without a closer look, in a fraction of the time.
"""

PLAIN_NAME = rf"10\.{PLAIN_REST}"
"""The source of a pattern for a plain name."""

_NO_PREFIX = 'a DOI begins with "10."'
OTHER_HANDLE = f"{_NO_PREFIX}; this is a Handle, link to it at https://hdl.handle.net/"
"""What the reason begins with if a name is that of a Handle, and no DOI; the Handle follows."""

_LONGEST_HANDLE = 300  # characters that a message repeats
_RESERVED = 'a suffix of one character followed by "/" is reserved (Z39.84 §4.3)'


class Immutable:
    """A value whose attributes cannot be set or deleted; copies are the value itself."""

    __slots__ = ()

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {attribute!r}")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {attribute!r}")

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, memo: object) -> "Self":
        return self


def exact(text: str) -> str:
    """Return ``text`` as a plain ``str``; raise TypeError if it is not text."""
    if not isinstance(text, str):
        raise TypeError(f"expected str, not {type(text).__name__}")
    return str.__str__(text)  # drop any str subclass


def doi_flaw(name: str, strict: bool = False) -> "Flaw | None":
    """Return where and why ``name`` is not a DOI, or None.

    >>> doi_flaw("10.1000/182"), doi_flaw("10.1000")
    (None, (7, 'no "/" after the prefix'))

    :param strict: whether a reserved suffix is a flaw, such as that of 10.1000/a/b (Z39.84 §4.3).
    """
    prefix, slash, suffix = name.partition("/")
    flaw = prefix_flaw(prefix)
    if flaw is not None:
        return _beginning_flaw(name) or flaw
    if not slash:
        return len(name), 'no "/" after the prefix'
    if not suffix:
        return len(name), "nothing after the slash"
    flaw = None if suffix.isprintable() else not_graphic(name)
    if flaw is not None:
        return flaw
    if strict and suffix[1:2] == "/":
        return len(prefix) + 1, _RESERVED
    return None


def _beginning_flaw(name: str) -> "Flaw | None":
    """Return the flaw of a name that begins with something else than a prefix; None if it is not known what.

    Known are the missing name, "/10.1000/182", the short DOI 10/abcd and the Handle 11681/5671.
    """
    prefix, slash, suffix = name.partition("/")
    if not name:
        return 0, "the name is missing"
    if not prefix and suffix.lstrip("/").startswith("10."):
        return 0, 'no slash may precede "10."'
    if prefix == "10" and slash:
        return 0, 'a DOI begins with "10."; this is a short DOI, use Handle.parse'
    if suffix and is_handle_prefix(prefix):
        return 0, other_handle(name)
    return None


def other_handle(name: str) -> str:
    """Return why the name of a Handle such as 11681/5671 is not a DOI, with the link to the Handle."""
    if name[1:2] in {".", "/"}:  # no Handle: of 0.1000/182, a digit is missing
        return _NO_PREFIX
    if len(name) > _LONGEST_HANDLE:
        return OTHER_HANDLE
    from urllib.parse import quote  # slow to import, and rarely needed

    return OTHER_HANDLE + quote(name, safe="/!$&'()*,:;=@", errors="replace")


def prefix_flaw(prefix: str) -> "Flaw | None":
    """Return where and why ``prefix`` is not the prefix of a DOI, or None (Z39.84 §4.2 and appendix A).

    "10.1000" and "10.1000.10" are prefixes; "10.", "10.1000." and "10.a" are not.
    """
    registrant = prefix[3:]
    if prefix[:3] != "10.":
        return 0, _NO_PREFIX
    if registrant.isdecimal() and registrant.isascii():
        return None
    if not registrant:
        return 3, 'digits must follow "10."'
    position = 3
    for group in registrant.split("."):
        after_digits = group.lstrip("0123456789")
        if after_digits or not group:
            reason = "the registrant code is numeric, in groups separated by single dots"
            return position + len(group) - len(after_digits), reason
        position += len(group) + 1
    return None


def lone_prefix_flaw(name: str) -> "Flaw | None":
    """Return where and why ``name`` is not the prefix of a DOI and nothing else, or None."""
    if not name:
        return 0, "the prefix is missing"
    if "/" in name:
        return name.index("/"), "a prefix has no slash; for a whole name use DOI or Handle.parse"
    return prefix_flaw(name)


def is_handle_prefix(prefix: str) -> bool:
    """Return whether this may be the prefix of a handle that is not a DOI, such as 20.500.12345."""
    if prefix == "10" or prefix.startswith("10."):
        return False
    if prefix.count(".") == 3:  # four numbers: an IP address
        return False
    return all(group.isdecimal() for group in prefix.split("."))


def short_doi_flaw(name: str) -> "Flaw | None":
    """Return where and why ``name`` is not a short DOI such as 10/abcd, or None."""
    code = name.removeprefix("10/")
    if code == name:
        return 0, 'a short DOI begins with "10/"'
    if not code:
        return 3, "nothing after the slash"
    if not (code.isascii() and code.isalnum()):
        return 3, 'only ASCII letters and digits may follow "10/"'
    return None


def not_graphic(text: str) -> "Flaw | None":
    """Return where and why ``text`` has a character that no name may have, or None (Z39.84 §4.1).

    Call it only if ``str.isprintable`` is false: that is faster, and true for nearly every name.
    """
    import re  # slow to import, and rarely needed

    match = re.search(f"[{NOT_GRAPHIC}]", text)
    if match is None:
        return None
    character = match[0]
    kinds = (kind for kind, ranges in _NOT_GRAPHIC.items() if re.match(f"[{ranges}]", character))
    return match.start(), f"a name cannot contain U+{ord(character):04X} ({next(kinds)})"
