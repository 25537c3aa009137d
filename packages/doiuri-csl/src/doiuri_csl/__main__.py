"""``python -m doiuri_csl``: print a list of references."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri_csl import (
    CSLError,
    Locale,
    Processor,
    Style,
    list_to_html,
    to_latex,
    to_markdown,
    to_text,
)
from doiuri_csl._errors import naming_file
from doiuri_csl.data._json import read_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_csl import BibliographyEntry
    from doiuri_csl.data._json import LocatedItem

FORMATS = ("text", "html", "markdown", "latex")

# The same as those of the command doiuri
_PROBLEMS = 1
_FAILED = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141

_EXIT_CODES = """\
exit code:
  0  the list was printed
  1  the list was printed, but parts of items could not be read; standard error names them
  2  nothing was printed: wrong arguments, or a file that cannot be read or written
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the list of references of a file of CSL-JSON.

    :param arguments: those of the command line; by default, of this process
    :return: the exit code
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            style = _read_style(options.style)
            items = _read_items(options.items)
            processor = Processor(style, [item for item, _ in items], _read_locale(options.locale))
        for warning in caught:
            _report(f"{options.style}: {warning.message}")

        processor.set_citations([], uncited=[item["id"] for item, _ in items])
        entries = processor.bibliography()
        print(_written(entries, style, options.to), flush=True)  # noqa: T201 (its output)
    except CSLError as error:
        _report(str(error))
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:  # such as a full disk
        _discard_output()
        _report(f"cannot write the list: {error.strerror}")
        return _FAILED
    return _report_problems(entries, items, options.items)


def _discard_output() -> None:
    """Let the flush at exit not fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> ArgumentParser:
    """Return the parser of the command line: a style, a file of items, and how to write the list."""
    parser = ArgumentParser(
        prog="python -m doiuri_csl",
        description="Print a list of references in any CSL style.",
        epilog=_EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("style", metavar="STYLE", help="a CSL style, such as apa.csl")
    add("items", metavar="ITEMS", help="a CSL-JSON file, or - for standard input")
    add(
        "--to",
        metavar="FORMAT",
        choices=FORMATS,
        default="text",
        help="text, html, markdown or latex (default: text)",
    )
    add(
        "--locale",
        metavar="LANG",
        help="a language such as de, or a CSL locale file (default: the language of the style)",
    )
    return parser


def _read_style(path: str) -> Style:
    """Return a style.

    :raises CSLError: if it cannot be read, or has no list of references
    """
    style = Style.load(path)
    if not style.has_bibliography:
        raise CSLError("the style has no list of references, only citations", path=path)
    return style


def _read_locale(name: str | None) -> Locale | None:
    """Return the locale of a file or a language; None for that of the style.

    :raises CSLError: if it cannot be read, or the language is not there
    """
    if name is None:
        return None
    is_file = name.endswith(".xml")
    return Locale.read(name) if is_file else Locale.load(name)


def _read_items(path: str) -> list[LocatedItem]:
    """Return the items of a file.

    :raises CSLError: if it cannot be read
    """
    with naming_file(path):
        if path != "-":
            content = Path(path).read_bytes()
        elif sys.stdin is None:  # closed, as by "<&-"
            raise CSLError("standard input is closed")
        else:
            content = sys.stdin.buffer.read()
        return read_items(content)


def _written(entries: Sequence[BibliographyEntry], style: Style, name: str) -> str:
    """Return a list in a format; in those of text, entries are paragraphs or lines."""
    if name == "html":
        return list_to_html(entries, style)
    texts = [entry.whole for entry in entries if entry.whole]
    if name == "markdown":
        return "\n\n".join(map(to_markdown, texts))
    if name == "latex":
        return "\n\n".join(map(to_latex, texts))
    return "\n".join(map(to_text, texts))


def _report_problems(
    entries: Sequence[BibliographyEntry], items: Sequence[LocatedItem], path: str
) -> int:
    """Say what could not be read of items, and return the exit code."""
    lines = {item["id"]: line for item, line in items}
    code = 0
    for entry in entries:
        if entry.problem:
            _report(f"{path}:{lines[entry.id]}: {entry.id}: {entry.problem}")
            code = _PROBLEMS
    return code


def _report(message: str) -> None:
    print(f"doiuri_csl: {message}", file=sys.stderr)  # noqa: T201 (its output)


if __name__ == "__main__":
    sys.exit(main())
