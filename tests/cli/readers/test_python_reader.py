"""The reader of Python finds comments, and the docstrings that ast finds."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest
from doiuri_cli import Source
from doiuri_cli.readers._code import parts_of_code
from doiuri_cli.readers._code import read_python as read

FILES = sorted(Path(__file__).parents[3].glob("packages/doiuri-cli/src/**/*.py"))


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


def test_all_docstrings_of_our_own_files_are_found_and_no_other_strings() -> None:
    assert FILES
    for file in FILES:
        text = marked(file.read_text("utf-8"))
        lines = Source("a.py", text).lines
        found = [lines.position(part.start).line for part in parts_of_code(text) if part.syntax == "rst"]
        strings = [
            node.lineno
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]
        assert found == sorted(strings), file


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
        (
            "!ls \"(\n%%bash\ndef f(x):\n    '''10.1000/1'''\nx = '10.1000/2'  # 10.1000/3",
            ["10.1000/1", " 10.1000/3"],
        ),
        ("('''10.1000/1\n''')\n'''10.1000/2'''", ["10.1000/2"]),
        ("x = '''10.1000/1'''\n'''10.1000/2", ["10.1000/2"]),
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
