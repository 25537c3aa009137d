"""Parse and check millions of DOIs on Dask."""

from dask_doiuri._check import check
from dask_doiuri._parse import parse

__all__ = ["check", "parse"]
