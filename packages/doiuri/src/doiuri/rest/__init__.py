"""The DOI proxy's REST API and Which RA without IO: which URL to request, and what the answer means."""

from doiuri.rest._client import (
    Agency,
    agency_batches,
    agency_url,
    read_agencies,
    read_record,
    record_url,
    retry_after,
)

__all__ = [
    "Agency",
    "agency_batches",
    "agency_url",
    "read_agencies",
    "read_record",
    "record_url",
    "retry_after",
]
