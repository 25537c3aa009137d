"""Open the files of data sets by their DOIs, in everything that speaks fsspec.

>>> import fsspec
>>> fs = fsspec.filesystem("doi")
>>> fs.ls("doi://10.5281/zenodo.4924875", detail=False)  # doctest: +SKIP
['10.5281/zenodo.4924875/store.zip', '10.5281/zenodo.4924875/tiny-data.txt']
"""

from fsspec_doiuri._filesystem import DOIFileSystem, lock

__all__ = ["DOIFileSystem", "lock"]

DOIFileSystem.__module__ = __name__  # for tracebacks and pickles
