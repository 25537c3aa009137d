"""What type checkers infer in a reader of another package; mypy reads this, pytest runs it."""

from collections.abc import Iterator, Sequence
from typing import assert_type

import pytest
from doiuri_cli import Part, Reader, ReadError, Source


def read(source: Source) -> Iterator[Part]:
    """Return the lines that are not comments."""
    if not source.text:
        raise ReadError("the file is empty")
    start = 0
    for line in source.text.splitlines(keepends=True):
        if not line.startswith("# "):
            yield Part(line, "text", start)
        start += len(line)


def test_a_function_is_a_reader() -> None:
    reader: Reader = read
    (part,) = reader(Source.from_bytes("a.org", b"# 10.1000/1\nSee 10.1000/182.\n"))
    assert_type(part, Part)
    assert_type((part.text, part.syntax), tuple[str, str])
    assert_type(part.places, Sequence[int] | None)
    assert part.span(4, 15) == (16, 27)
    with pytest.raises(ReadError):
        list(reader(Source("a.org", "")))
