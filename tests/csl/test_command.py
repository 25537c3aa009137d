"""The command: a list of references from files, and what it says of those that it cannot read."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from csl.styles import AUTHOR_DATE, BAK, DOE, NUMERIC, style_of
from doiuri_csl.__main__ import main

ITALIC = NUMERIC.replace('<text variable="title"/>', '<text variable="title" font-style="italic"/>')


class Printed(NamedTuple):
    """The exit code, standard output and standard error."""

    code: int
    output: str
    errors: str


class Command:
    """The command in this process, with files in a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture
        self.write("style.csl", ITALIC)
        self.write("items.json", json.dumps([DOE, BAK]))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8")

    def errors(self) -> str:
        return self._capture.readouterr().err

    def __call__(self, *arguments: str) -> Printed:
        code = main(arguments)
        output, errors = self._capture.readouterr()
        return Printed(code, output, errors)


@pytest.fixture
def command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)


FORMATS = {
    "text": "[1] Ann Doe, Ants.\n[2] Per Bak, Chao Tang, Self-organized criticality.\n",
    "markdown": (
        "\\[1\\] Ann Doe, *Ants*.\n\n\\[2\\] Per Bak, Chao Tang, *Self-organized criticality*.\n"
    ),
    "latex": (
        "{[}1{]} Ann Doe, \\textit{Ants}.\n\n"
        "{[}2{]} Per Bak, Chao Tang, \\textit{Self-organized criticality}.\n"
    ),
}


@pytest.mark.parametrize(("name", "expected"), FORMATS.items(), ids=FORMATS)
def test_it_prints_the_list_in_a_format(command: Command, name: str, expected: str) -> None:
    assert command("style.csl", "items.json", "--to", name) == (0, expected, "")


def test_it_prints_plain_text_by_default(command: Command) -> None:
    assert command("style.csl", "items.json") == (0, FORMATS["text"], "")


def test_it_prints_html_with_the_classes_of_lists(command: Command) -> None:
    code, output, errors = command("style.csl", "items.json", "--to=html")

    assert (code, errors) == (0, "")
    assert output.startswith('<div class="csl-bib-body">\n<div class="csl-entry"')
    assert ">Ann Doe, <i>Ants</i>.</div></div>\n" in output


def test_it_reads_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "\ufeff" + json.dumps({"title": "Über Ameisen"}, ensure_ascii=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))

    assert command("style.csl", "-") == (0, "[1] Über Ameisen.\n", "")


@pytest.mark.parametrize("locale", ["de", "locales-xx.xml"])
def test_the_language_is_a_tag_or_a_file(command: Command, locale: str) -> None:
    terms = '<terms><term name="no date" form="short">o. J.</term></terms>'
    namespace = 'xmlns="http://purl.org/net/xbiblio/csl"'
    command.write("locales-xx.xml", f'<locale {namespace} xml:lang="xx">{terms}</locale>')
    command.write("style.csl", AUTHOR_DATE)
    command.write("items.json", '[{"title": "Ants"}]')

    code, output, _ = command("style.csl", "items.json", "--locale", locale)

    assert (code, output.split()) == (0, ["O.", "J.", "Ants."])


def test_items_without_ids_are_all_in_the_list(command: Command) -> None:
    command.write("items.json", '[{"title": "A"}, {"title": "B"}, {"title": "C", "id": 7}]')

    assert command("style.csl", "items.json").output == "[1] A.\n[2] B.\n[3] C.\n"


def test_items_of_zoteros_web_api_are_those_of_the_object(command: Command) -> None:
    command.write(
        "items.json", '{"items":\n[{"id": "a", "title": "A"},\n{"id": "b", "author": 5}]}'
    )

    assert command("style.csl", "items.json") == (
        1,
        "[1] A.\n[2] .\n",
        "doiuri_csl: items.json:3: b: author: cannot be read: 5\n",
    )


class FullDisk(io.StringIO):
    """Standard output that cannot be written."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def fileno(self) -> int:
        return self._number

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_named(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open("wb") as file:
        monkeypatch.setattr(sys, "stdout", FullDisk(file.fileno()))
        code = main(["style.csl", "items.json"])

    message = "doiuri_csl: cannot write the list: No space left on device\n"
    assert (code, command.errors()) == (2, message)


def test_closed_standard_input_is_named(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    message = "doiuri_csl: -: standard input is closed\n"
    assert command("style.csl", "-") == (2, "", message)


def test_a_problem_of_an_item_is_named_with_its_line(command: Command) -> None:
    command.write(
        "items.json", '[\n{"id": "a",\n"title": "A"},\n\n{"id": "b", "title": "B", "author": 5}]'
    )

    assert command("style.csl", "items.json") == (
        1,
        "[1] A.\n[2] B.\n",
        "doiuri_csl: items.json:5: b: author: cannot be read: 5\n",
    )


BAD: dict[str, tuple[str, str, str]] = {
    "no style": ("style.csl", "<a/>", "style.csl:1: <a>: is not an element of CSL"),
    "no list": (
        "style.csl",
        style_of(""),
        "style.csl: the style has no list of references, only citations",
    ),
    "not JSON": ("items.json", '[\n{"id" 1}]', "items.json:2: not JSON: Expecting ':' delimiter"),
    "more than JSON": ("items.json", "[]\n[]", "items.json:2: not JSON: Extra data"),
    "empty": ("items.json", "", "items.json:1: not JSON: Expecting value"),
    "too deep": (
        "items.json",
        "[" * 100_000,
        "items.json: not JSON that can be read: maximum recursion",
    ),
    "too long a number": (
        "items.json",
        "[" + "1" * 5000 + "]",
        "items.json: not JSON that can be read: ",
    ),
    "no item": ("items.json", '[{},\n"x"]', "items.json:2: item 2: expected an object of CSL-JSON"),
    "a list in a list": ("items.json", "[[[1]], {}]", "items.json:1: item 1: expected an object"),
    "no item alone": ("items.json", "\n7", "items.json:2: item 1: expected an object"),
    "a wrong id": (
        "items.json",
        '[{"id": {}}]',
        "items.json:1: item 1: its id is neither a text nor a number",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_named_with_its_line(
    command: Command, name: str, content: str, message: str
) -> None:
    command.write(name, content)

    code, output, errors = command("style.csl", "items.json")

    assert (code, output) == (2, "")
    assert errors.startswith(f"doiuri_csl: {message}")
    assert errors.count("\n") == 1


def test_a_file_that_is_not_in_utf_8_is_named(command: Command) -> None:
    (command.folder / "items.json").write_bytes(b'[{"title": "\xff"}]')

    assert command("style.csl", "items.json") == (
        2,
        "",
        "doiuri_csl: items.json: not in UTF-8\n",
    )


@pytest.mark.parametrize(
    "arguments", [("no.csl", "items.json"), ("style.csl", "no.json"), ("style.csl", ".")]
)
def test_a_file_that_is_not_there_is_named(command: Command, arguments: tuple[str, str]) -> None:
    code, output, errors = command(*arguments)

    assert (code, output) == (2, "")
    assert ": cannot be read: " in errors


def test_an_unknown_language_names_those_that_there_are(command: Command) -> None:
    code, _, errors = command("style.csl", "items.json", "--locale", "tlh")

    assert code == 2
    assert "there is no locale 'tlh', only " in errors


def test_a_style_in_a_language_that_is_not_there_is_read_in_english(command: Command) -> None:
    command.write("style.csl", NUMERIC.replace("<style", '<style default-locale="tlh"'))

    code, output, errors = command("style.csl", "items.json")

    assert (code, output) == (0, FORMATS["text"])
    assert errors.startswith("doiuri_csl: style.csl: there is no locale 'tlh' for the style")


@pytest.mark.parametrize("arguments", [(), ("style.csl",), ("style.csl", "items.json", "--to=rtf")])
def test_wrong_use_ends_with_the_code_of_the_command_doiuri(
    command: Command, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as exit_info:
        command(*arguments)

    assert exit_info.value.code == 2


def test_it_runs_as_a_process_in_any_encoding_and_ends_quietly_if_nobody_reads(
    command: Command,
) -> None:
    environment: dict[str, Any] = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command.write("items.json", json.dumps([{"title": "Über\ud800"}] * 2))
    words = [sys.executable, "-m", "doiuri_csl", "style.csl", "items.json"]

    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as unread:
        assert unread.stdout
        unread.stdout.close()
        unread_errors = unread.communicate()[1]

    assert (done.returncode, done.stdout.decode(), done.stderr) == (
        0,
        "[1] Über\\ud800.\n[2] Über\\ud800.\n",
        b"",
    )
    assert (unread.returncode, unread_errors) == (141, b"")
