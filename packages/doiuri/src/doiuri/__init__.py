"""DOIs as values: a codec for doi: URIs and a polite resolver over the DOI proxy's REST API."""

from doiuri._doi import DOI, Handle, Prefix, ShortDOI
from doiuri._encoding import FINAL, LINK, PATH, URI, Profile, decode, encode, encode_many
from doiuri._errors import DOIError, DOISyntaxError
from doiuri._resolution_errors import (
    BadRecord,
    DOINotFound,
    NoValues,
    ResolutionError,
    ResolverUnavailable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri._advice import Advice, advise, suggest
    from doiuri._find import Match, find
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
    "suggest",
]

# Loaded on first use, so that ``from doiuri import DOI`` stays fast.
_LAZY = {
    "Advice": "_advice",
    "advise": "_advice",
    "suggest": "_advice",
    "Match": "_find",
    "find": "_find",
    "Record": "records",
}


def __getattr__(name: str) -> object:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("doiuri")
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
