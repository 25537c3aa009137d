"""Safe fixes keep the name, however it is spelled and wherever it stands."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import unquote

import pytest
from doiuri_cli._config import Config
from doiuri_cli._fixes import FixPolicy, mend
from doiuri_cli.files import Source

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
    "doi.bib": "@a{{k,\n  doi = {{{}}}\n}}\n",
    "url.bib": "@a{{k,\n  url = {{{}}}\n}}\n",
    "do.ris": "TY  - JOUR\nDO  - {}\nER  - \n",
    "ur.ris": "TY  - JOUR\nUR  - {}\nER  - \n",
    "csl.json": '[{{"id": "k", "type": "book",\n "DOI": "{}"\n}}]',
    "CITATION.cff": 'doi: "{}"\n',
    "a.yml": 'doi: "{}"\n',
    "field.md": '---\ndoi: "{}"\n---\n',
    "link.md": "[x]({})\n",
    "a.rst": "`x <{}>`__\n",
    "a.html": '<a href="{}">x</a>\n',
    "a.tex": "\\href{{{}}}{{x}}\n",
    "a.txt": "{}\n",
}


def plain(text: str) -> str:
    """Return the line of the name, from the name on and without escapes."""
    text = text[text.index("10.1") :].partition("\n")[0]
    text = unquote(unquote(re.sub(r"\\(?=%)", "", text)))
    text = re.sub(r"[\\{}$\"]", "", text).replace("textless", "<").replace("textgreater", ">")
    return html.unescape(html.unescape(text))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", FORMS)
def test_the_name_stays(path: str, spelling: str) -> None:
    for name in NAMES:
        for head in HEADS:
            value = head + "".join(SPELLINGS[spelling].get(character, character) for character in name)
            written = json.dumps(value)[1:-1] if '"{}"' in FORMS[path] else value
            text = FORMS[path].format(written)
            fixed = mend(Source(path, text), Config(), None, FixPolicy()).after
            assert fixed is None or plain(fixed.text) == plain(text), (text, fixed.text)
