"""The reader of Python finds the comments that tokenize finds, and the docstrings that ast finds."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest
from doiuri_cli import Source
from doiuri_cli.readers._python import parts_of_code, read

ROOT = Path(__file__).parents[3]
FILES = sorted(
    [*ROOT.glob("packages/doiuri/src/doiuri/**/*.py"), *ROOT.glob("packages/doiuri-cli/src/**/*.py")]
)


def marked(text: str) -> str:
    """The program with a DOI in each of its comments and long strings."""
    tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    lines = text.splitlines(keepends=True)
    for token in reversed(tokens):
        is_docstring = token.type == tokenize.STRING and token.string.lstrip("r").startswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            row, column = token.start
            column += token.string.index('"""') + 3 if is_docstring else 1
            lines[row - 1] = f"{lines[row - 1][:column]}doi:10.1000/1 {lines[row - 1][column:]}"
    return "".join(lines)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT / "packages").as_posix())
def test_comments_and_docstrings(file: Path) -> None:
    text = marked(file.read_text("utf-8"))
    parts = [*parts_of_code(text)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string[1:] for token in tokens if token.type == tokenize.COMMENT]
    assert [part.text for part in parts if part.syntax == "text"] == comments
    lines = Source("a.py", text).lines
    found = [lines.position(part.span(0, 0)[0]).line for part in parts if part.syntax == "rst"]
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    strings = [
        node.lineno
        for node in statements
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    assert found == sorted(strings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = '10.1000/1'", []),
        ("f(\n'10.1000/1'\n)", []),
        ("x = \\\n'10.1000/1'", []),
        ("f'10.1000/1'\nb'10.1000/2'", []),
        ("# '\n'10.1000/1'", ["10.1000/1"]),
        ("def f(): '10.1000/1'", ["10.1000/1"]),
        ("'a' '10.1000/1'", []),
        ("'10.1000/1'; x = '# 10.1000/2'", ["10.1000/1"]),
        ("!ls \"(\n%%bash\ndef f(x):\n    '10.1000/1'", ["10.1000/1"]),
        ("('''10.1000/1\n''')\n'''10.1000/2", ["10.1000/2"]),
        ("'''It's (10.1000/1'''\n'10.1000/2'", ["It's (10.1000/1", "10.1000/2"]),
        ("x = '\\''  # 10.1000/1 '", [" 10.1000/1 '"]),
    ],
)
def test_what_is_a_docstring(text: str, found: list[str]) -> None:
    assert [part.text for part in parts_of_code(text)] == found


def test_code_in_docstrings_is_left_out() -> None:
    text = '"""Sum::\n\n        10.1000/1\n\n    ``10.1000/2`` 10.1000/3\n\n    >>> "10.1000/4"\n    """'
    (part,) = parts_of_code(text)
    assert part.text.split() == ["Sum::", "10.1000/3"]
    assert len(part.text) == len(text) - 6


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("#!/bin/sh\n# vim: set fileencoding=cp1252 :\n# 10.1000/€".encode("cp1252"), "cp1252"),
        ("# coding: utf-8\n# 10.1000/€".encode(), "utf-8"),
        ("# coding: none\n# 10.1000/€".encode(), "utf-8"),
        ("x = 1\n\n# coding: cp1252\n# 10.1000/€".encode(), "utf-8"),
        ("# coding: ascii\n# 10.1000/€".encode(), "utf-8"),
        ("# coding: rot13\n# 10.1000/€".encode(), "utf-8"),
        # decoding it takes quadratic time: minutes for this file
        (b"# coding: punycode\n# 10.1000/182 -" + b"abc" * 300_000, "utf-8"),
    ],
)
def test_the_encoding_that_a_comment_names(content: bytes, encoding: str) -> None:
    source = Source.from_bytes("a.py", content)
    assert source.encoding == encoding
    assert [part.text[:9] for part in read(source)] == [" 10.1000/"]
    assert source.to_bytes(source.text) == content
