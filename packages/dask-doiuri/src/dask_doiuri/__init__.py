"""Parse and verify millions of DOIs on Dask."""

from dask_doiuri._parse import parse
from dask_doiuri._verify import verify

__all__ = ["parse", "verify"]
