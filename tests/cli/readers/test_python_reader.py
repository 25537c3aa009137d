"""The reader of Python finds comments, and the docstrings that ast finds."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest
from support.cli.command import doiuri, names, places

FILES = sorted(Path(__file__).parents[3].glob("packages/doiuri-cli/src/**/*.py"))


def marked(text: str) -> tuple[str, list[int]]:
    """Return a program with a DOI in each comment and long string, and the lines of comments."""
    comments = []
    lines = text.splitlines(keepends=True)
    for token in reversed([*tokenize.generate_tokens(io.StringIO(text).readline)]):
        is_docstring = token.type == tokenize.STRING and token.string.lstrip("r").startswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            row, column = token.start
            comments += [] if is_docstring else [row]
            column += token.string.index('"""') + 3 if is_docstring else 1
            lines[row - 1] = f"{lines[row - 1][:column]}doi:10.9999/1 {lines[row - 1][column:]}"
    return "".join(lines), comments


def test_all_docstrings_of_our_own_files_are_found_and_no_other_strings() -> None:
    assert FILES
    wrong = []
    for file in FILES:
        text, comments = marked(file.read_text("utf-8"))
        strings = [
            node.lineno
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]
        found = [one["line"] for one in places("a.py", text) if one["doi"] == "10.9999/1"]
        if found != sorted(strings + comments):
            wrong.append(f"{file.name}: {found} instead of {sorted(strings + comments)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = '10.1000/1'", []),
        ("f(\n'10.1000/1'\n)", []),
        ("x = \\\n'10.1000/1'", []),
        ("x = \\\r\n'10.1000/1'", []),
        ("f'10.1000/1'\nb'10.1000/2'", []),
        ("# '\n'10.1000/1'", ["10.1000/1"]),
        ("def f(): '10.1000/1'", ["10.1000/1"]),
        ("'a' '10.1000/1'", []),
        ("'10.1000/1'; x = '# 10.1000/2'", ["10.1000/1"]),
        (
            "!ls \"(\n%%bash\ndef f(x):\n    '''10.1000/1'''\nx = '10.1000/2'  # 10.1000/3",
            ["10.1000/1", "10.1000/3"],
        ),
        ("('''10.1000/1\n''')\n'''10.1000/2'''", ["10.1000/2"]),
        ("x = '''10.1000/1'''\n'''10.1000/2", ["10.1000/2"]),
        ("'''It's (10.1000/1'''\n'10.1000/2'", ["10.1000/1", "10.1000/2"]),
        ("x = '\\''  # 10.1000/1 '", ["10.1000/1"]),
        ('"""S::\n\n        10.1/1\n\n    ``10.1/2`` 10.1000/3\n\n    >>> "10.1/4"\n    """', ["10.1000/3"]),
        (r"'10.1000/\101\u00e9\U0001F600\N{DIGIT ONE}'", ["10.1000/Aé\U0001f6001"]),
        ('"""10.1000/a\\\nb"""', ["10.1000/ab"]),
        (r"r'10.1000/\_x'", ["10.1000/_x"]),
    ],
)  # fmt: skip
def test_what_is_a_docstring(text: str, found: list[str]) -> None:
    assert names("a.py", text) == found


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("#!/bin/sh\n# vim: set fileencoding=cp1252 :\n# LINK/€".encode("cp1252"), "cp1252"),
        ("# coding: utf-8\n# LINK/€".encode(), "utf-8"),
        ("# coding: none\n# LINK/€".encode(), "utf-8"),
        ("x = 1\n\n# coding: cp1252\n# LINK/€".encode(), "utf-8"),
        ("# coding: ascii\n# LINK/€".encode(), "utf-8"),
        ("# coding: rot13\n# LINK/€".encode(), "utf-8"),
        # decoding it takes quadratic time: minutes for this file
        (b"# coding: punycode\n# LINK/182 -" + b"abc" * 300_000, "utf-8"),
    ],
    ids=["cp1252", "utf-8", "unknown", "third line", "ascii", "rot13", "punycode"],
)
def test_the_encoding_that_a_comment_names_is_that_of_what_is_read_and_written(
    content: bytes, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(content.replace(b"LINK", b"http://doi.org/10.1000"))
    assert "/€" in doiuri("find", path).stdout or b"182" in content
    assert doiuri("fix", "--isolated", path).stderr == "Fixed 1 in 1 file; 0 left.\n"
    assert path.read_bytes() == content.replace(b"LINK", b"https://doi.org/10.1000")
