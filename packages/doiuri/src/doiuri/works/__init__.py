"""Works: what DOIs name, as CSL-JSON, and the notices about them, such as retractions.

``same_title`` and ``same_author`` compare a work with what people write about it.
"""

from doiuri.works._csl import Name
from doiuri.works._likeness import same_author, same_title
from doiuri.works._notices import Notice
from doiuri.works._work import Work

__all__ = ["Name", "Notice", "Work", "same_author", "same_title"]

for _public in (Name, Notice, Work):
    _public.__module__ = __name__  # for tracebacks and pickles
