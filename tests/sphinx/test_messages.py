"""The translations are complete and compiled, and match the source."""

from __future__ import annotations

import gettext
from io import BytesIO
from pathlib import Path

import pytest
import sphinx_doiuri
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

HOME = Path(sphinx_doiuri.__file__).parent
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
