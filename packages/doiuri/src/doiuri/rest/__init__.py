"""The DOI proxy's REST API, Which RA and content negotiation, without IO.

The client's half says which URL to request and what the answer means; the server's half selects values and
writes answers.
"""

from doiuri.records._negotiation import (
    BIBTEX,
    CSL_JSON,
    check_locale,
    check_style,
    read_metadata,
    reference_type,
    write_metadata,
)
from doiuri.records._record import ascii_upper
from doiuri.rest._answer import ResponseCode
from doiuri.rest._client import (
    Agency,
    AgencyStatus,
    agency_batches,
    agency_url,
    read_agencies,
    read_record,
    record_url,
    retry_after,
)
from doiuri.rest._server import (
    JSON_TYPE,
    agency_of,
    name_in_path,
    prefixes,
    read_indexes,
    select,
    write_agencies,
    write_error,
    write_json,
    write_record,
    write_stored_record,
)

__all__ = [
    "BIBTEX",
    "CSL_JSON",
    "JSON_TYPE",
    "Agency",
    "AgencyStatus",
    "ResponseCode",
    "agency_batches",
    "agency_of",
    "agency_url",
    "ascii_upper",
    "check_locale",
    "check_style",
    "name_in_path",
    "prefixes",
    "read_agencies",
    "read_indexes",
    "read_metadata",
    "read_record",
    "record_url",
    "reference_type",
    "retry_after",
    "select",
    "write_agencies",
    "write_error",
    "write_json",
    "write_metadata",
    "write_record",
    "write_stored_record",
]
