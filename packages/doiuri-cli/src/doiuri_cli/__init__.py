"""Check, fix and look up the DOIs of a whole tree: the command ``doiuri``.

One module or folder for each step; what stands further left never imports what stands further right::

    bytes of a file
    └─ files        Source: text, encoding and lines; SourceLocation; which files to read
      └─ readers      Part: a piece of text in one syntax, with the place of every character
        └─ _mentions    Mention: a DOI in a part, or what stands in the place of one
          └─ rules        Finding: what is wrong and where, with a Fix if one is known
            └─ _examine     FileReport: all of this for one file; pure
              └─ _run         CheckResult: all files in processes; their DOIs, each once,
                │           go to registry (lock file, then cache, then the resolver)
                ├─ output       FindingsReport: the formats and the summary
                └─ _fixes       each fix is proved before the file is replaced

``commands`` has a module for each subcommand, which reads its options and calls these steps.

The public names are for readers of further types of files, which other packages provide as entry points
``doiuri.readers``.
"""

from doiuri_cli.files import LineColumn, Lines, Source
from doiuri_cli.readers import Part, Reader, ReadError

__all__ = ["LineColumn", "Lines", "Part", "ReadError", "Reader", "Source"]

for _public in (LineColumn, Lines, Part, ReadError, Reader, Source):
    _public.__module__ = __name__  # for tracebacks and pickles
