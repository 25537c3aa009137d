"""The options, and the errors for invalid ones."""

import logging
import pickle
from pathlib import Path

import markdown
import markdown_doiuri
import pytest

from .conftest import Render


@pytest.mark.parametrize("name", ["doiuri", "markdown_doiuri", "markdown_doiuri:DOIExtension"])
def test_names_of_the_extension(name: str) -> None:
    html = markdown.markdown(
        "<doi:10.1000/182>", extensions=[name], extension_configs={name: {"resolve": False}}
    )
    assert html == '<p><a class="doi" href="https://doi.org/10.1000/182">doi:10.1000/182</a></p>'


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(KeyError, match="unknown option 'resolvr'; did you mean resolver"):
        markdown_doiuri.makeExtension(resolvr="https://doi.org")
    with pytest.raises(KeyError, match="unknown option 'x'; known are bare, bare_links, "):
        markdown.markdown("", extensions=["doiuri"], extension_configs={"doiuri": {"x": 1}})


def test_a_file_that_is_no_lock_file_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "doi.lock.json"
    lock.write_text("[]")
    with pytest.raises(ValueError, match="lock"):
        markdown.markdown("x", extensions=["doiuri"], extension_configs={"doiuri": {"lock": str(lock)}})


@pytest.mark.parametrize("name", ["resolve", "bare", "tidy_links"])
@pytest.mark.parametrize("off", [False, "False", "no", "off", "0", None])
def test_an_option_is_off_by_any_no(name: str, off: object) -> None:
    options = markdown_doiuri.makeExtension(**{name: off}).options
    assert getattr(options.shared if name == "resolve" else options, name) is False


def test_an_option_takes_precedence_over_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_OFFLINE", "yes")
    given: list[dict[str, object]] = [{}, {"offline": ""}, {"offline": False}, {"offline": "no"}]
    made = [markdown_doiuri.makeExtension(**options).options.shared for options in given]
    assert [shared.settings.offline for shared in made] == [True, True, False, False]
    monkeypatch.setenv("DOIURI_OFFLINE", "perhaps")
    with pytest.raises(ValueError, match="DOIURI_OFFLINE: 'perhaps'"):
        markdown_doiuri.makeExtension()


def test_the_logger_is_told_by_default(caplog: pytest.LogCaptureFixture) -> None:
    options = {"doiuri": {"resolve": False}}
    with caplog.at_level(logging.WARNING, "doiuri"):
        markdown.markdown("x\n\n<doi:10.1000/a%zzb#>", extensions=["doiuri"], extension_configs=options)
    [entry] = caplog.records
    assert (entry.name, entry.levelname) == ("doiuri", "WARNING")
    assert entry.getMessage().startswith("line 3: doi:10.1000/a%zzb#: ")


def test_a_problem_is_its_message_and_its_parts(render: Render) -> None:
    [problem] = render("one\n\ntwo <doi:10.1000/a#b> three").problems
    assert (problem.doi, problem.line) == ("doi:10.1000/a#b", 3)
    assert problem.suggestion == "doi:10.1000/a%23b"
    assert str(problem) == f"line 3: doi:10.1000/a#b: {problem.reason}; write doi:10.1000/a%23b"
    copy = pickle.loads(pickle.dumps(problem))
    assert (copy, copy.doi, copy.line, copy.suggestion) == (problem, problem.doi, 3, problem.suggestion)


LINES = [
    ("<doi:foo>", [1]),
    ("\n\n<doi:foo>", [3]),
    ("a\r\nb <doi:foo>", [2]),
    ("<doi:foobar>\n<doi:foo>", [1, 2]),
    ("- a\n- b\n\n    <doi:foo>", [4]),
    ("[x]\n\n[x]: doi:foo", [3]),
    ("a\n<doi:f\\_oo>", [2]),
    ("a\n\n\n<doi:f\\_oo>", [4]),
    ("a\n<doi:f&amp;oo>", [2]),
    ("a\n<doi:f\noo>", [2]),
    ("<doi:foo> [x](doi:foo) <doi:foo>", [1]),
    ("///References Go Here///\n\n///References Go Here///", [3]),
    ("///References Go Here///", []),
    ("doi:foo", []),
    ("10.5 or 10.1000, but doi:10.1000", [1]),
]


def test_each_problem_of_each_document_is_told_once_with_its_line() -> None:
    """One instance of Markdown converts all of them, with a reset between them and without."""
    problems: list[markdown_doiuri.Problem] = []
    md = markdown.Markdown(extensions=[markdown_doiuri.makeExtension(resolve=False, warn=problems.append)])
    for source, lines in LINES * 2:
        problems.clear()
        md.convert(source)
        assert [problem.line for problem in problems] == lines, source
        problems.clear()
        md.reset().convert(source)
        assert [problem.line for problem in problems] == lines, source
