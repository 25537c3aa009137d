"""What DOIs resolve to: records, their typed values, and the locations that a 10320/loc value lists."""

from doiuri.records._locations import Location, Locations, choose, parse_locations
from doiuri.records._record import Record, locations_of
from doiuri.records._values import Data, Value

__all__ = ["Data", "Location", "Locations", "Record", "Value", "choose", "locations_of", "parse_locations"]
