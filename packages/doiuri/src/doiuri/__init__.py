"""DOIs as values, their URIs and links, finding them in text, and the errors of resolution.

The rest is in ``doiuri.records``, ``doiuri.works``, ``doiuri.rest``, ``doiuri.resolver``,
``doiuri.plugins`` and ``doiuri.testing``.
"""

from doiuri._doi import DOI, Handle, Prefix, ShortDOI
from doiuri._encoding import FINAL, LINK, PATH, URI, Profile, encode, encode_many
from doiuri._errors import (
    BadRecord,
    DOIError,
    DOINotFound,
    DOISyntaxError,
    NoValues,
    ResolutionError,
    ResolverUnavailable,
)
from doiuri._parse import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri._advice import Advice, advise, suggest
    from doiuri._cell import find_one
    from doiuri._find import Match, find
    from doiuri._pydantic import DOIForm
    from doiuri.records import Record

    __version__: str

__all__ = [
    "DOI",
    "FINAL",
    "LINK",
    "PATH",
    "URI",
    "Advice",
    "BadRecord",
    "DOIError",
    "DOIForm",
    "DOINotFound",
    "DOISyntaxError",
    "Handle",
    "Match",
    "NoValues",
    "Prefix",
    "Profile",
    "Record",
    "ResolutionError",
    "ResolverUnavailable",
    "ShortDOI",
    "__version__",
    "advise",
    "decode",
    "encode",
    "encode_many",
    "find",
    "find_one",
    "suggest",
]

for _public in (
    BadRecord,
    DOI,
    DOIError,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    Profile,
    ResolutionError,
    ResolverUnavailable,
    ShortDOI,
):
    _public.__module__ = __name__  # for tracebacks and pickles

# Loaded on first use, so that "from doiuri import DOI" stays fast: these need re, unicodedata, json.
_LAZY = {
    "Advice": "doiuri._advice",
    "advise": "doiuri._advice",
    "suggest": "doiuri._advice",
    "Match": "doiuri._find",
    "find": "doiuri._find",
    "find_one": "doiuri._cell",
    "DOIForm": "doiuri._pydantic",
    "Record": "doiuri.records",
}


def __getattr__(name: str) -> object:
    """Import a public name that needs a slow module when it is first used."""
    from importlib import import_module

    value: object
    if name == "__version__":
        from importlib import metadata  # slow to import

        value = metadata.version("doiuri")
    elif name in _LAZY:
        value = getattr(import_module(_LAZY[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
