"""The translations are complete, compiled, and match the source; all warnings are documented."""

from __future__ import annotations

import gettext
import json
import re
from io import BytesIO
from pathlib import Path

import pytest
import sphinx_doiuri
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from support.cases import DATA

HOME = Path(sphinx_doiuri.__file__).parent
README = Path(__file__).parents[2] / "packages" / "sphinx-doiuri" / "README.md"
PO = sorted(HOME.glob("locale/*/LC_MESSAGES/sphinx_doiuri.po"))


def in_source() -> set[str]:
    keywords = {"_": None, "__": None}
    found = extract_from_dir(HOME, [("**.py", "python")], keywords=keywords)
    return {message for _, _, message, _, _ in found if isinstance(message, str)}


def test_the_template_has_every_message() -> None:
    template = read_po(BytesIO((HOME / "locale" / "sphinx_doiuri.pot").read_bytes()))
    assert {message.id for message in template if message.id} == in_source()


@pytest.mark.parametrize("path", PO, ids=lambda path: path.parts[-3])
def test_translation_is_complete_and_compiled(path: Path) -> None:
    translated = {message.id: message.string for message in read_po(BytesIO(path.read_bytes())) if message.id}
    assert translated.keys() == in_source()
    assert all(translated.values())
    assert not [message for message in read_po(BytesIO(path.read_bytes())) if list(message.check())]
    compiled = {
        message.id: message.string for message in read_mo(BytesIO(path.with_suffix(".mo").read_bytes()))
    }
    assert {key: text for key, text in compiled.items() if key} == translated


def test_there_is_german() -> None:
    german = gettext.translation("sphinx_doiuri", HOME / "locale", ["de"])
    assert german.gettext("DOI not found: %s") == "DOI nicht gefunden: %s"


def test_every_kind_of_warning_is_documented() -> None:
    documented = set(re.findall(r"`doi\.([a-z-]+)`", README.read_text("utf-8")))
    source = "".join(path.read_text("utf-8") for path in HOME.glob("*.py"))
    ours = set(re.findall(r'subtype="([a-z-]+)"', source))
    ours |= set(re.findall(r'_warn\(\s*\w+,\s*"([a-z-]+)"', source))
    cases = json.loads((DATA / "advice.json").read_text("utf-8"))["cases"]
    codes = {code for case in cases for code in case["advice"]}
    assert {"syntax", "not-found", "lock-missing"} <= ours
    assert documented >= ours | codes
