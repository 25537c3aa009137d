"""Records: the typed values that a DOI resolves to, and the locations in 10320/loc values.

Works: the metadata of what a DOI names, the labels of citations, and lists of references.
"""

from doiuri.records._bibliography import (
    Bibliography,
    CitationPart,
    CitationStyle,
    CitationWords,
    Reference,
    plain_reference,
    reference_parts,
    with_year_label,
)
from doiuri.records._csl import Name
from doiuri.records._locations import Location, Locations, choose, parse_locations
from doiuri.records._record import Data, Record, Value, ascii_upper, locations_of
from doiuri.records._work import Work

__all__ = [
    "Bibliography",
    "CitationPart",
    "CitationStyle",
    "CitationWords",
    "Data",
    "Location",
    "Locations",
    "Name",
    "Record",
    "Reference",
    "Value",
    "Work",
    "ascii_upper",
    "choose",
    "locations_of",
    "parse_locations",
    "plain_reference",
    "reference_parts",
    "with_year_label",
]
