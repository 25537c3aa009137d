"""The options, whose values ``tests/test_options.py`` tries in every host, and translations of messages."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
import sphinx_doiuri
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from support.checks import only
from support.sphinx_build import page

TEXT = ":doi:`10.1000/a#b`"
HOME = Path(sphinx_doiuri.__file__).parent
PO = sorted(HOME.glob("locale/*/LC_MESSAGES/sphinx_doiuri.po"))


def test_what_is_wrong_stops_the_build_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = page(tmp_path, TEXT, r"doi_works = 'refs\0.bib'")
    assert built.status == 2
    assert r"doi_works: " in built.warnings
    assert r"refs\x00.bib' is not a path" in built.warnings
    monkeypatch.setenv("DOIURI_OFFLINE", "perhaps")
    built = page(tmp_path, TEXT)
    assert built.status == 2
    assert "reading sources" not in built.said
    assert "DOIURI_OFFLINE: 'perhaps' is neither true" in built.warnings


def test_a_misspelt_option_is_named_with_the_right_one(tmp_path: Path) -> None:
    theirs = "def setup(app):\n    app.add_config_value('doi_links', 'a', '')\ndoi_links = 'b'\n"
    built = page(
        tmp_path, TEXT, f"{theirs}doi_resolvr = 'x'\ndoi_detail = 1\ndoi_prefix = '10.1000'"
    )
    assert built.status == 0
    assert built.warnings.splitlines() == [
        "WARNING: doi_resolvr is not an option; did you mean doi_resolver? [doi.option]",
        "WARNING: doi_detail is not an option; did you mean doi_details? [doi.option]",
    ]


LATER = """
def later(app, config):
    config.doi_text = "link"
def setup(app):
    app.connect("config-inited", later)
"""


@pytest.mark.parametrize(
    ("conf", "href", "text"),
    [
        ("doi_text = 'link'", "https://doi.org/10.1000/a%23b", "https://doi.org/10.1000/a%23b"),
        ("doi_text = 'DOI {name}'", "https://doi.org/10.1000/a%23b", "DOI 10.1000/a#b"),
        (
            "doi_text = 'link'\ndoi_link = 'https://dx.example'",
            *["https://dx.example/10.1000/a%23b"] * 2,
        ),
        (LATER, *["https://doi.org/10.1000/a%23b"] * 2),
        ("doi_link = 'https://dx.example/'", "https://dx.example/10.1000/a%23b", "doi:10.1000/a#b"),
    ],
)
def test_text_and_link(tmp_path: Path, conf: str, href: str, text: str) -> None:
    link = only("link", page(tmp_path, TEXT, conf).links())
    assert (link.href, link.text) == (href, text)


def test_options_on_the_command_line_and_paths_and_none(tmp_path: Path) -> None:
    words = "resolve=0 budget=2.5 timeout=3 details=1 linkcheck=no hardcoded_links=True offline=yes lock="
    words += " resolver=http://127.0.0.1:9"
    options = [word for option in words.split() for word in ("-D", f"doi_{option}")]
    assert page(tmp_path, TEXT, "", "-W", *options).told == []
    conf = "from pathlib import Path\ndoi_resolve = doi_lock = None\ndoi_cache = Path('cache')"
    assert page(tmp_path, TEXT, conf, "-W").told == []


def test_network_options_reread_no_document(tmp_path: Path) -> None:
    page(tmp_path, TEXT)
    built = page(tmp_path, TEXT, "doi_timeout = 3\ndoi_budget = 7\ndoi_mailto = 'a@example.org'")
    assert "0 added, 0 changed, 0 removed" in built.said


def in_source() -> set[str]:
    keywords = {"_": None, "__": None}
    found = extract_from_dir(HOME, [("**.py", "python")], keywords=keywords)
    return {message for _, _, message, _, _ in found if isinstance(message, str)}


def test_the_template_has_every_message() -> None:
    template = read_po(BytesIO((HOME / "locale" / "sphinx_doiuri.pot").read_bytes()))
    assert {message.id for message in template if message.id} == in_source()


@pytest.mark.parametrize("path", PO, ids=lambda path: path.parts[-3])
def test_translation_is_complete_and_compiled(path: Path) -> None:
    translated = {
        message.id: message.string for message in read_po(BytesIO(path.read_bytes())) if message.id
    }
    assert translated.keys() == in_source()
    assert all(translated.values())
    assert not [message for message in read_po(BytesIO(path.read_bytes())) if list(message.check())]
    compiled = {
        message.id: message.string
        for message in read_mo(BytesIO(path.with_suffix(".mo").read_bytes()))
    }
    assert {key: text for key, text in compiled.items() if key} == translated
