"""Safe fixes keep the name, however it is spelled and wherever it stands."""

from __future__ import annotations

import html
import json
import re
from itertools import product
from urllib.parse import unquote

import pytest
from support.cli.command import fixed

SICI = "10.1002/(SICI)1097-4679(199901)55:1<89::AID-JCLP9>3.0.CO;2-"
# A query or a fragment that links really have may go; none of these is one
NAMES = [
    f"{SICI}#",
    f"{SICI}#/abstract",
    f"{SICI}A",
    "10.1000/456#789",
    "10.1000/a&b_c;d#1",
    "10.1000/a'b(c)%e",
]
HEADS = ["", "doi:", "https://doi.org/", "http://dx.doi.org/", "https://doi.org/doi:", "https://example.org/"]
SPELLINGS: dict[str, dict[str, str]] = {
    "raw": {},
    "percent": {"<": "%3C", ">": "%3E"},
    "percent in lower case": {"<": "%3c", ">": "%3e", ":": "%3a", ";": "%3b"},
    "percent for all": {character: f"%{ord(character):02X}" for character in "<>#?&;:()-"},
    "entities": {"<": "&lt;", ">": "&gt;", "&": "&amp;"},
    "numeric entities": {character: f"&#{ord(character)};" for character in "<>#?&;"},
    "entities escaped twice": {"<": "&amp;lt;", ">": "&amp;gt;"},
    "entity and percent": {"<": "&lt;", ">": "%3E"},
    "TeX": {"<": "\\textless{}", ">": "\\textgreater{}", "#": "\\#", "&": "\\&", "_": "\\_"},
    "TeX in math": {"<": "$<$", ">": "$>$", "#": "{\\#}", "&": "{\\&}"},
    "percent in TeX": {"<": "\\%3C", ">": "\\%3E", "#": "\\#"},
    "percent for all in TeX": {character: f"\\%{ord(character):02X}" for character in "<>#?&"},
    "backslashes": {character: f"\\{character}" for character in "<>#?&_"},
}
FORMS = {
    "doi.bib": ("", "@a{{k{n},\n  doi = {{{}}}\n}}\n", ""),
    "url.bib": ("", "@a{{k{n},\n  url = {{{}}}\n}}\n", ""),
    "do.ris": ("", "TY  - JOUR\nDO  - {}\nER  - \n", ""),
    "ur.ris": ("", "TY  - JOUR\nUR  - {}\nER  - \n", ""),
    "csl.json": ("[", '{{"id": "k{n}", "type": "book",\n "DOI": "{}"\n}},', "0]"),
    "CITATION.cff": ("references:\n", '- doi: "{}"\n', ""),
    "a.yml": ("", '- doi: "{}"\n', ""),
    "field.md": ("---\nx:\n", '- doi: "{}"\n', "---\n"),
    "link.md": ("", "[x]({})\n\n", ""),
    "a.rst": ("", "`x <{}>`__\n\n", ""),
    "a.html": ("", '<a href="{}">x</a>\n', ""),
    "a.tex": ("", "\\href{{{}}}{{x}}\n", ""),
    "a.txt": ("", "{}\n", ""),
}
"""What a file begins with, an entry in it, and what it ends with."""


def plain(line: str) -> str:
    """Return the name in a line and what follows it, without escapes."""
    text = line[line.index("10.1") :]
    text = unquote(unquote(re.sub(r"\\(?=%)", "", text)))
    text = re.sub(r"[\\{}$\"]", "", text).replace("textless", "<").replace("textgreater", ">")
    return html.unescape(html.unescape(text))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", FORMS)
def test_the_name_stays(path: str, spelling: str) -> None:
    before, form, after = FORMS[path]
    entries = []
    for number, (head, name) in enumerate(product(HEADS, NAMES)):
        value = head + "".join(SPELLINGS[spelling].get(character, character) for character in name)
        entries.append(form.format(json.dumps(value)[1:-1] if '"{}"' in form else value, n=number))
    text = f"{before}{''.join(entries)}{after}"
    lines, better = text.split("\n"), fixed(path, text).split("\n")
    wrong = [
        f"{new} instead of {old}"
        for old, new in zip(lines, better, strict=True)
        if old != new and plain(old) != plain(new)
    ]
    assert not wrong, "\n".join(wrong)
    assert better != lines or path == "a.txt"
