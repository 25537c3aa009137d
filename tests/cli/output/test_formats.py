"""All formats say the same about the same run, and are valid, whatever files are named and hold."""

from __future__ import annotations

import json
import os
import re
import tempfile
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from support.checks import assert_same
from support.cli.command import doiuri

if TYPE_CHECKING:
    from xmlschema import XMLSchema

SCHEMAS = Path(__file__).parent / "schemas"
FORMATS = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit", "markdown")
# What breaks formats: ends of CDATA, attributes, cells and commands, and what no format can hold as it is
PIECES = [
    *(
        "]]>",
        "<!--",
        '"',
        "'",
        "&amp;",
        "::error::",
        "##vso[task.x]",
        "##[error]",
        "%0A",
        "\t",
        "\x1b[31m",
    ),
    *(
        "\x85",
        "\u2028",
        "\u202e",
        "\udcff",
        "\ufffe",
        "\U0001f600",
        "e\u0301",
        "漢",
        "|",
        "`",
        "\\",
        "*",
    ),
    *("@all", "[x](y)", "a:b,c", " ", "docs", "\n", "\r"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
LINKS = st.sampled_from(
    ["http://doi.org/10.1000/1{}", "https://doi.org/doi:10.1000/1{}", "10.1000/978–{}"]
)
LINES = st.builds(lambda before, link, inner: before + link.format(inner), TEXTS, LINKS, TEXTS)
CONTENTS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
FILES = st.dictionaries(
    st.tuples(TEXTS, st.sampled_from([".txt", ".md", ".ipynb", ".bib"])).map("a".join),
    CONTENTS,
    max_size=3,
)


def schema(name: str) -> Draft202012Validator:
    text = (SCHEMAS / name).read_text("utf-8")
    return Draft202012Validator(
        json.loads(text), format_checker=Draft202012Validator.FORMAT_CHECKER
    )


FINDING, CODE_QUALITY, SARIF = (
    schema("findings.json"),
    schema("code-quality.json"),
    schema("sarif.json"),
)


@cache
def junit() -> XMLSchema:
    from xmlschema import XMLSchema  # takes a second, in each worker of pytest

    return XMLSchema(SCHEMAS / "junit.xsd")


def written(folder: Path, *options: object) -> dict[str, str]:
    """Return what each format says about the files in a folder."""
    with tempfile.TemporaryDirectory() as place:
        outputs = [f"-o{name}:{place}/{name}" for name in FORMATS]
        words = "check", "--isolated", "--offline", "--lock=", "--quiet", *outputs, *options
        run = doiuri(*words, cwd=folder)
        assert run.returncode in {0, 1}, run
        return {name: Path(place, name).read_text("utf-8") for name in FORMATS}


def in_folder(files: dict[str, str], *options: object) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            content = text
            if name.endswith(".ipynb"):
                cell = {"cell_type": "markdown", "source": text.splitlines(keepends=True)}
                content = json.dumps({"cells": [cell], "nbformat": 4}, indent=1)
            Path(folder, name).parent.mkdir(exist_ok=True)
            Path(folder, name).write_bytes(content.encode(errors="surrogateescape"))
        return written(Path(folder), *options)


def escaped(path: str) -> str:
    """Return a path as JSON has it: a byte that is not UTF-8 as an escape."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", path)


def unescaped(text: str) -> str:
    """Return what GitHub's runner reads."""
    for sign, code in ((":", "%3A"), (",", "%2C"), ("\r", "%0D"), ("\n", "%0A"), ("%", "%25")):
        text = text.replace(code, sign)
    return text


def assert_valid_sarif(log: dict[str, Any], driver: dict[str, Any]) -> None:
    """Check a log, whose rules are the same in each."""
    _check_rules(json.dumps(driver["rules"]))
    (run,) = log["runs"]
    short_run = run | {"tool": {"driver": driver | {"rules": []}}}
    SARIF.validate(log | {"runs": [short_run]})


@cache
def _check_rules(rules: str) -> None:
    driver = {"name": "doiuri", "rules": json.loads(rules)}
    SARIF.validate({"version": "2.1.0", "runs": [{"tool": {"driver": driver}}]})


def html(markdown: str) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(markdown))


def properties_of(text: str) -> dict[str, str]:
    """Return the properties of a workflow command."""
    return dict(pair.split("=", 1) for pair in text.split(","))


@example({})
@given(FILES)
def test_all_formats_are_valid_and_say_the_same_of_any_files(files: dict[str, str]) -> None:
    said = in_folder(files)
    listed: list[dict[str, Any]] = json.loads(said["json"])
    assert listed == [json.loads(line) for line in said["jsonl"].splitlines()]
    assert said["json"].isascii()
    for one in listed:
        FINDING.validate(one)
    what = [(one["code"], one["severity"]) for one in listed]
    assert {one["path"] for one in listed} <= {*map(escaped, files)}

    github = said["github"].split("\n")[:-1]
    command = re.compile(r"::(error|warning|notice) ([^:\r]*)::([^\r]*)")
    commands = [command.fullmatch(line) for line in github]
    properties = [properties_of(match[2]) for match in commands if match]
    assert [one["title"] for one in properties] == [f"doiuri ({code})" for code, _ in what]
    assert [match and match[1] for match in commands] == [severity for _, severity in what]
    for one, value in zip(properties, listed, strict=True):
        if value["path"].isprintable():
            assert unescaped(one["file"]) == value["path"]

    gitlab = json.loads(said["gitlab"])
    CODE_QUALITY.validate(gitlab)
    assert [(one["check_name"], one["location"]["path"]) for one in gitlab] == [
        (one["code"], one["path"]) for one in listed
    ]
    assert len({one["fingerprint"] for one in gitlab}) == len(listed)

    sarif = json.loads(said["sarif"])
    ((driver, results),) = ((run["tool"]["driver"], run["results"]) for run in sarif["runs"])
    assert_valid_sarif(sarif, driver)
    assert [driver["rules"][one["ruleIndex"]]["id"] for one in results] == [
        code for code, _ in what
    ]
    assert all("Example: " in rule["help"]["text"] for rule in driver["rules"])
    places = [one["locations"][0]["physicalLocation"] for one in results]
    uris = [os.fsdecode(unquote_to_bytes(one["artifactLocation"]["uri"])) for one in places]
    assert [*map(escaped, uris)] == [one["path"] for one in listed]
    starts = [one["region"]["startLine"] for one in places]
    assert starts == [int(one["line"]) for one in properties]
    assert starts == [one["location"]["lines"]["begin"] for one in gitlab]
    in_files = [n for n, one in enumerate(listed) if one["cell"] is None]
    assert [starts[n] for n in in_files] == [listed[n]["line"] for n in in_files]

    root = ElementTree.fromstring(said["junit"])
    junit().validate(root)
    failed = root.findall(".//failure")
    assert [one.get("type") for one in failed] == [one["severity"] for one in listed]
    for attribute, count in (("tests", len(listed) or 1), ("failures", len(failed))):
        counts = [int(suite.get(attribute, "")) for suite in root]
        assert (int(root.get(attribute, "")), sum(counts)) == (count, count)
    assert len(root) == (len({one["path"] for one in listed}) or 1)

    page = html(said["markdown"])
    assert page.count("<td>") == 4 * len(listed)
    tags = {"table", "thead", "tbody", "tr", "th", "td", "p", "strong", "ul", "li"}
    assert set(re.findall(r"</?(\w+)", page)) <= tags
    assert "@" not in said["markdown"]

    assert len(said["concise"].splitlines()) == len(listed)
    for line, one in zip(said["concise"].splitlines(), listed, strict=True):
        assert line.endswith(" [*]") == bool(one["fix"] and one["fix"]["safe"])
    for name in ("full", "concise"):
        kinds = {unicodedata.category(character) for character in said[name].replace("\n", "")}
        assert kinds.isdisjoint({"Cf", "Cs", "Zl", "Zp"}), name
    for name in said.keys() - {"github"}:
        assert not re.search(r"##(\[|vso\[)|^\s*::", said[name], re.MULTILINE), name


OLD = "é http://dx.doi.org/10.1000/182\n"


def test_each_format_has_its_members(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a,b:c%.md").write_text(f"# T\n\n{OLD}")
    said = written(tmp_path, "./docs/../docs")
    path, message = "./docs/../docs/a,b:c%.md", "http://dx.doi.org/10.1000/182"
    one = {
        "path": path,
        "line": 3,
        "column": 3,
        "end_line": 3,
        "end_column": 32,
        "cell": None,
        "entry": None,
    }
    one |= {"code": "not-https", "severity": "warning", "message": message, "doi": "10.1000/182"}
    fix = {"start": 7, "end": 24, "replacement": "https://doi.org", "safe": True}
    assert json.loads(said["json"]) == [one | {"fix": fix}]
    assert said["github"] == (
        "::warning title=doiuri (not-https),file=docs/a%2Cb%3Ac%25.md,line=3,endLine=3,col=3,endColumn=32"
        f"::./docs/../docs/a,b:c%25.md:3:3: not-https: {message}\n"
    )
    (issue,) = json.loads(said["gitlab"])
    assert issue.pop("fingerprint")
    place = {"path": "docs/a,b:c%.md", "lines": {"begin": 3, "end": 3}}
    about = {"description": message, "check_name": "not-https", "severity": "minor"}
    assert issue == about | {"location": place}
    (run,) = json.loads(said["sarif"])["runs"]
    for rule in run["tool"]["driver"]["rules"]:  # advice on a valid name need not be right
        text, kinds = doiuri("rule", rule["id"]).stdout, rule["properties"]
        is_certain = "(error)" in text or text.endswith(", which keeps the DOI\n")
        assert (kinds["precision"] == "very-high") == is_certain, text
        assert {*re.findall("(?m)^    .*", text)} <= {*rule["help"]["markdown"].splitlines()}, rule
    (result,) = run["results"]
    assert result["level"] == "warning"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/a%2Cb%3Ac%25.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 3, "endLine": 3, "endColumn": 32},
    }
    ((change,),) = (each["replacements"] for each in result["fixes"][0]["artifactChanges"])
    assert change["deletedRegion"] == {"charOffset": 7, "charLength": 17}
    assert change["insertedContent"] == {"text": "https://doi.org"}
    results = json.loads(in_folder({"fixtures/a.md": f"{OLD}10.1000/1–2"})["sarif"])["runs"][0][
        "results"
    ]
    assert [one["fixes"][0]["description"]["text"] for one in results] == [
        "Replace by https://doi.org. The DOI stays the same.",
        "Replace by 10.1000/1-2. The DOI becomes another one.",
    ]
    assert said["full"] == said["concise"] == f"{path}:3:3: warning[not-https] {message} [*]\n"
    assert said["markdown"] == (
        "| Place | Severity | Code | Message |\n| --- | --- | --- | --- |\n"
        f"| {path}:3:3 | warning | not-https | {message} \\[\\*\\] |\n\n"
        "Could not check 1 DOI: offline: request not sent.\n\n"
        "1 warning. \\[\\*\\] 1 can be fixed with doiuri fix. doiuri rule CODE explains a code.\n\n"
    )


def test_a_file_elsewhere_is_named_by_its_address(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for folder in (here, tmp_path):
        (folder / "a b.md").write_text(OLD)
    said = written(here, here / "a b.md", "../a b.md")
    results = json.loads(said["sarif"])["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]
    assert places == ["a%20b.md", "../a%20b.md"]
    said = written(here, tmp_path / "a b.md")
    (result,) = json.loads(said["sarif"])["runs"][0]["results"]
    address = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert address == {"uri": f"file://{tmp_path}/a%20b.md"}


def prints(text: str, name: str = "a.md", *options: object) -> list[str]:
    results = json.loads(in_folder({name: text}, *options)["sarif"])["runs"][0]["results"]
    return [one["partialFingerprints"]["primaryLocationLineHash"] for one in results]


def test_fingerprints_stay_if_lines_move_and_differ_otherwise() -> None:
    assert prints(OLD) == prints(f"more\n\n{OLD}") == prints(f"> 1\n   {OLD}")[-1:]
    assert prints(OLD) == prints(OLD + OLD)[:1] == prints(OLD, "a.md", "./a.md")
    others = prints(OLD, "b.md") + prints(OLD.replace("182", "183")) + prints(f"x {OLD}")
    assert len({*prints(OLD + OLD), *others}) == 5


@pytest.mark.parametrize("before", ["", "é ", "𝒳 ", "e\u0301𝒳𝒳漢 ", "a\t", "𝒳\n𝒳 "])
def test_the_columns_of_sarif_count_what_it_says_that_they_count(before: str) -> None:
    text = f"{before}http://doi.org/10.1000/182 𝒳\n"
    (run,) = json.loads(in_folder({"a.md": text})["sarif"])["runs"]
    (result,) = run["results"]
    region = result["locations"][0]["physicalLocation"]["region"]

    line = text.split("\n")[region["startLine"] - 1]
    units = {"unicodeCodePoints": ("utf-32-le", 4), "utf16CodeUnits": ("utf-16-le", 2)}
    encoding, size = units[run["columnKind"]]
    columns = slice(size * (region["startColumn"] - 1), size * (region["endColumn"] - 1))
    named = line.encode(encoding)[columns].decode(encoding, "replace")

    assert named == "http://doi.org/10.1000/182", f"{region} of {text!r} is {named!r}"


def test_a_finding_in_a_cell_has_the_place_in_the_file_and_the_cell() -> None:
    said = in_folder({"a.ipynb": "# Title\n<http://doi.org/10.1000/182>\n"})
    ((place,),) = (one["locations"] for one in json.loads(said["sarif"])["runs"][0]["results"])
    assert place["logicalLocations"] == [{"name": "cell 1"}]
    assert place["physicalLocation"]["region"]["startLine"] == 7
    assert said["concise"].startswith("a.ipynb:cell 1:2:2: ")
    assert 'name="not-https cell 1:2:2"' in said["junit"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "\ufeffé 𝒳 http://dx.doi.org/10.1000/182\r\nand https://dx.doi.org/10.1000/1\r\n"),
        ("a.bib", "@book{k,\n  doi = {https://doi.org/10.1000/182},\n}\n"),
        (
            "a.ipynb",
            r'{"cells":[{"cell_type":"markdown","source":"\u00e9\nhttp://doi.org/10.1000/1"}]}',
        ),
    ],
)
def test_a_program_that_applies_the_fixes_writes_the_file_that_fix_writes(
    tmp_path: Path, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())

    fixes = [finding["fix"] for finding in json.loads(written(tmp_path)["json"])]

    mark = "\ufeff" if content.startswith("\ufeff") else ""
    text = content.removeprefix(mark)
    for fix in reversed(fixes):
        text = text[: fix["start"]] + fix["replacement"] + text[fix["end"] :]
    assert fixes
    doiuri("fix", "--isolated", path)
    assert path.read_bytes().decode() == mark + text


def test_a_finding_on_several_lines_has_both_and_no_columns_for_github(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("see \\url{http://doi.org/%\n10.1000/–182}\n", "utf-8")
    said = written(tmp_path, "--select=look-alike")
    place, *excerpt = said["full"].splitlines()
    assert excerpt == ["    1 | see \\url{http://doi.org/%", f"      | {' ' * 9}{'^' * 16}"]
    assert place.startswith("a.tex:1:10: ")
    assert "line=1,endLine=2::" in said["github"]
    (issue,) = json.loads(said["gitlab"])
    assert issue["location"]["lines"] == {"begin": 1, "end": 2}


def test_a_summary_stays_below_the_size_that_github_shows(tmp_path: Path) -> None:
    name = "`" * 200 + ".bib"
    (tmp_path / name).write_text(f"@misc{{{'_' * 900}, doi = {{1000/182}}}}\n" * 1500)
    (tmp_path / "~.md").write_text(
        "http://dx.doi.org/10.1000/182\n" * 25
    )  # of these, five have rows

    words = "check", "--isolated", "--offline", "-q", "-o", "markdown"
    summary = doiuri(*words, cwd=tmp_path).stdout

    assert 2**19 < len(summary.encode()) < 2**20
    unlisted = re.findall("\n(.*) more findings are not listed", summary)
    assert_same("how many findings are not listed", unlisted, ["525"])


def test_of_many_findings_of_one_code_in_a_file_people_see_five(tmp_path: Path) -> None:
    link = "<http://doi.org/10.1000/182>\n\n"
    (tmp_path / "a.md").write_text(f"{link * 10}<doi:doi:10.1000/1>\n\n{link * 11}")
    (tmp_path / "b.md").write_text(link * 20)

    said = written(tmp_path)

    for name in ("json", "gitlab"):
        assert len(json.loads(said[name])) == 42
    for name in ("jsonl", "concise"):
        assert len(said[name].splitlines()) == 42
    for name in ("full", "github"):
        lines = said[name].splitlines()
        of_first = [line for line in lines if "not-https" in line and "a.md" in line]
        assert of_first[5:] == ["a.md: 16 more not-https; -o concise lists them all"], name
        assert len(lines) == 6 + 1 + 20, name
    assert said["markdown"].count("| warning | not-https | http") == 25
    assert "| a.md | warning | not-https | 16 more |" in said["markdown"]


def test_errors_are_all_shown(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- doi: 10/?\n" * 30)

    said = written(tmp_path)

    assert said["full"].count("error[syntax]") == 30


@pytest.mark.parametrize(
    ("output", "mark"), [("full", "[*] "), ("concise", "[*] "), ("github", "")]
)
def test_the_summary_explains_marks_only_where_findings_have_them(
    output: str, mark: str, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>\n")

    run = doiuri("check", "--isolated", "--offline", "-o", output, cwd=tmp_path)

    assert ("[*]" in run.stdout) == bool(mark)
    assert f"1 warning. {mark}1 can be fixed with doiuri fix." in run.stderr


# What runners of CI take for commands in the output of a job: GitHub's, Azure's, TeamCity's, GitLab's
RUNNER = re.compile(r"\A\s*::|##\[|##vso\[|##teamcity\[|\x1b", re.IGNORECASE)
OURS = re.compile(r"::(?:error|warning|notice) title=doiuri ")
FOREIGN_COMMANDS = [
    "::error::x",
    "  ::stop-commands::x",
    "::add-mask::x",
    "##[error]x",
    "##[Group]x",
    "##vso[task.complete result=Succeeded;]x",
    "##VSO[task.setvariable variable=a]x",
    "##teamcity[buildStatus status='SUCCESS']",
    "\x1b[0Ksection_start:1:x\r\x1b[0K",
]
WORDS = [
    "check --offline --all",
    "check --offline --max-size=1",
    "check --offline --select={}",
    "check --offline --compare -o markdown",
    "find",
    "find --unique",
    "fix --unsafe-fixes --offline --check",
    "lock --offline",
]


def commands_to_runners(text: str) -> list[str]:
    """Return the lines that a runner would take for a command, but for our own."""
    lines = re.split(r"[\r\n]", text)
    return [line for line in lines if RUNNER.search(line) and not OURS.match(line)]


@pytest.mark.parametrize("command", FOREIGN_COMMANDS)
def test_no_name_text_or_message_is_a_command_to_a_runner(command: str, tmp_path: Path) -> None:
    link = "<http://doi.org/10.1000/182>"
    field = command.replace("\r", "").replace("\x1b", "")
    files = {
        f"{command}.md": f"{command} {link}\n",
        f"a\n{command}.md": f"{link}\n{command}\nhttps://doi.org/10.1000/\n{command}\n",
        f"{command}.ipynb": "no notebook",
        f"a.{command}": "doi:10.1000/182",
        "a.bib": f"@misc{{{field},\n  doi = {{{field}10.1000}}\n}}\n"
        f"@misc{{b, title = {{{field}}}, doi = {{10.1000/{field}}}}}\n",
        "a.yaml": f"- id: '{field}'\n  doi: 10.1000\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    told: list[str] = []

    for name, text in written(tmp_path, "--", *files).items():
        told += [f"-o {name} writes {line!r}" for line in commands_to_runners(text)]
    for words in WORDS:
        options = [word.format(command) for word in words.split()]
        run = doiuri(*options, "--", *files, ".", cwd=tmp_path)
        lines = commands_to_runners(f"{run.stdout}\n{run.stderr}")
        told += [f"doiuri {words} writes {line!r}" for line in lines]

    assert not told, "; ".join(told)
