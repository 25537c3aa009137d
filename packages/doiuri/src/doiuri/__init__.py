"""DOIs as values: a codec for doi: URIs and a polite resolver over the DOI proxy's REST API."""

from doiuri._doi import DOI, Prefix, ShortDOI, parse_handle
from doiuri._encoding import FINAL, LINK, PATH, URI, Profile, decode, encode, encode_many
from doiuri._errors import (
    BadRecord,
    DOIError,
    DOINotFound,
    DOISyntaxError,
    NoValues,
    ResolutionError,
    ResolverUnavailable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri._accept import wants_record
    from doiuri._advice import Advice, advise
    from doiuri._display import check_display, display
    from doiuri._find import Match, find
    from doiuri._locations import Location, Locations, choose, parse_locations
    from doiuri._options import Options
    from doiuri._record import Data, Record, Value, locations_of
    from doiuri._rest import (
        Agency,
        agency_batches,
        agency_url,
        read_agencies,
        read_record,
        record_url,
        retry_after,
    )
    from doiuri._settings import Settings, user_agent

__version__ = "0.1.0"

__all__ = [
    "DOI",
    "FINAL",
    "LINK",
    "PATH",
    "URI",
    "Advice",
    "Agency",
    "BadRecord",
    "DOIError",
    "DOINotFound",
    "DOISyntaxError",
    "Data",
    "Location",
    "Locations",
    "Match",
    "NoValues",
    "Options",
    "Prefix",
    "Profile",
    "Record",
    "ResolutionError",
    "ResolverUnavailable",
    "Settings",
    "ShortDOI",
    "Value",
    "__version__",
    "advise",
    "agency_batches",
    "agency_url",
    "check_display",
    "choose",
    "decode",
    "display",
    "encode",
    "encode_many",
    "find",
    "locations_of",
    "parse_handle",
    "parse_locations",
    "read_agencies",
    "read_record",
    "record_url",
    "retry_after",
    "user_agent",
    "wants_record",
]

# What the codec does not need loads on first use, so that ``from doiuri import DOI`` stays fast.
_MODULES = {
    "_accept": ("wants_record",),
    "_advice": ("Advice", "advise"),
    "_display": ("check_display", "display"),
    "_find": ("Match", "find"),
    "_locations": ("Location", "Locations", "choose", "parse_locations"),
    "_options": ("Options",),
    "_record": ("Data", "Record", "Value", "locations_of"),
    "_rest": (
        "Agency",
        "agency_batches",
        "agency_url",
        "read_agencies",
        "read_record",
        "record_url",
        "retry_after",
    ),
    "_settings": ("Settings", "user_agent"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
