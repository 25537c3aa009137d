"""The options: their effects, and the errors for invalid values."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sphinx_build import Build, build, write


def page(tmp_path: Path, conf: str, *options: str) -> Build:
    base = f'extensions = ["sphinx_doiuri"]\ndoi_resolve = False\n{conf}\n'
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:`10.1000/a#b`\n", "conf.py": base})
    return build(source, tmp_path / "out", "html", *options)


def test_a_wrong_variable_stops_the_build_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_OFFLINE", "perhaps")
    built = page(tmp_path, "")
    assert built.status == 2
    assert "reading sources" not in built.said
    assert "DOIURI_OFFLINE: 'perhaps' is neither true" in built.warnings


def test_a_misspelt_option_is_named_with_the_right_one(tmp_path: Path) -> None:
    built = page(tmp_path, "doi_resolvr = 'https://doi.org'\ndoi_detail = 1\ndoi_prefix = '10.1000'")
    assert built.status == 0
    assert built.warnings.splitlines() == [
        "WARNING: doi_resolvr is not an option; did you mean doi_resolver? [doi.option]",
        "WARNING: doi_detail is not an option; did you mean doi_details? [doi.option]",
    ]


def test_what_other_extensions_call_doi_is_no_mistake(tmp_path: Path) -> None:
    theirs = "def setup(app):\n    app.add_config_value('doi_links', 'a', '')"
    assert page(tmp_path, f"{theirs}\ndoi_links = 'b'").warnings == ""


@pytest.mark.parametrize(
    ("conf", "href", "text"),
    [
        ("doi_text = 'link'", "https://doi.org/10.1000/a%23b", "https://doi.org/10.1000/a%23b"),
        ("doi_text = 'DOI {name}'", "https://doi.org/10.1000/a%23b", "DOI 10.1000/a#b"),
        ("doi_text = 'link'\ndoi_link = 'https://dx.example'", *["https://dx.example/10.1000/a%23b"] * 2),
        ("doi_link = 'https://dx.example/'", "https://dx.example/10.1000/a%23b", "doi:10.1000/a#b"),
    ],
)
def test_text_and_link(tmp_path: Path, conf: str, href: str, text: str) -> None:
    (link,) = page(tmp_path, conf).links()
    assert (link.href, link.text) == (href, text)


def test_options_on_the_command_line(tmp_path: Path) -> None:
    words = (
        "doi_resolve=0 doi_budget=2.5 doi_timeout=3 doi_details=1 doi_linkcheck=no doi_hardcoded_links=True"
    )
    words += " doi_offline=yes doi_lock= doi_resolver=http://127.0.0.1:9"
    built = page(tmp_path, "", "-W", *(word for option in words.split() for word in ("-D", option)))
    assert (built.status, built.warnings) == (0, "")


def test_none_is_off_and_a_path_may_be_a_path(tmp_path: Path) -> None:
    conf = "from pathlib import Path\ndoi_resolve = doi_lock = None\ndoi_cache = Path('cache')"
    assert page(tmp_path, conf, "-W").warnings == ""


def test_text_rereads_the_documents_and_network_options_do_not(tmp_path: Path) -> None:
    page(tmp_path, "doi_text = 'link'")
    assert page(tmp_path, "doi_text = 'name'").links()[0].text == "doi:10.1000/a#b"
    built = page(tmp_path, "doi_text = 'name'\ndoi_timeout = 3\ndoi_budget = 7\ndoi_mailto = 'a@example.org'")
    assert "0 added, 0 changed, 0 removed" in built.said
    assert built.links()[0].text == "doi:10.1000/a#b"
