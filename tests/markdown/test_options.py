"""The options, and the errors for invalid ones."""

import logging
from pathlib import Path

import markdown
import markdown_doiuri
import pytest
from support.checks import only


@pytest.mark.parametrize("name", ["doiuri", "markdown_doiuri", "markdown_doiuri:DOIExtension"])
def test_names_of_the_extension(name: str) -> None:
    html = markdown.markdown(
        "<doi:10.1000/182>", extensions=[name], extension_configs={name: {"resolve": False}}
    )
    assert html == '<p><a class="doi" href="https://doi.org/10.1000/182">doi:10.1000/182</a></p>'


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(KeyError, match="unknown option 'resolvr'; did you mean resolver"):
        markdown_doiuri.makeExtension(resolvr="https://doi.org")
    with pytest.raises(
        KeyError, match="unknown option 'x'; known are abbreviations, bare, bare_links, "
    ):
        markdown.markdown("", extensions=["doiuri"], extension_configs={"doiuri": {"x": 1}})


def test_a_file_that_is_no_lock_file_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "doi.lock.json"
    lock.write_text("[]")
    with pytest.raises(ValueError, match="lock"):
        markdown.markdown(
            "x", extensions=["doiuri"], extension_configs={"doiuri": {"lock": str(lock)}}
        )


@pytest.mark.parametrize("off", [False, "False", "no", "off", "0", None])
def test_an_option_is_off_by_any_no(off: object) -> None:
    options = markdown_doiuri.makeExtension(resolve=off, bare=off, tidy_links=off).options
    assert options.shared.budget == 20
    assert (options.shared.resolve, options.mentions.labelled, options.tidy_links) == (
        False,
        False,
        False,
    )


def test_an_option_takes_precedence_over_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_OFFLINE", "yes")
    given: list[dict[str, object]] = [{}, {"offline": ""}, {"offline": False}, {"offline": "no"}]
    made = [markdown_doiuri.makeExtension(**options).options.shared for options in given]
    assert [shared.offline for shared in made] == [True, True, False, False]
    monkeypatch.setenv("DOIURI_OFFLINE", "perhaps")
    with pytest.raises(ValueError, match="DOIURI_OFFLINE: 'perhaps'"):
        markdown_doiuri.makeExtension()


def test_the_logger_is_told_by_default(caplog: pytest.LogCaptureFixture) -> None:
    options = {"doiuri": {"resolve": False}}
    with caplog.at_level(logging.WARNING, "doiuri"):
        markdown.markdown(
            "x\n\n<doi:10.1000/a%zzb#>", extensions=["doiuri"], extension_configs=options
        )
    entry = only("entry", caplog.records)
    assert (entry.name, entry.levelname) == ("doiuri", "WARNING")
    assert entry.getMessage().startswith("line 3: doi:10.1000/a%zzb#: ")
