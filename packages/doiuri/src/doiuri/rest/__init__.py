"""The DOI proxy's REST API, Which RA and content negotiation, without IO.

It says which URL to request and what the answer means.
"""

from doiuri.records._negotiation import BIBTEX, CSL_JSON, media_ranges, reference_type
from doiuri.rest._client import (
    Agency,
    AgencyStatus,
    ResponseCode,
    agency_batches,
    agency_url,
    read_agencies,
    read_record,
    record_url,
    retry_after,
)

__all__ = [
    "BIBTEX",
    "CSL_JSON",
    "Agency",
    "AgencyStatus",
    "ResponseCode",
    "agency_batches",
    "agency_url",
    "media_ranges",
    "read_agencies",
    "read_record",
    "record_url",
    "reference_type",
    "retry_after",
]
