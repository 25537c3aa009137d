"""What reads a file reads the same after a safe fix, but for the spelling of the DOI; read here by other means."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import yaml
from support.checks import assert_same
from support.cli.command import codes, fixed, fixed_files, remember

SICI = "10.1175/1520-0493(2002)130{}1913:EDAWPO{}2.0.CO;2"
RAW = SICI.format("<", ">")
NAMES = [RAW, SICI.format("%3C", "%3E"), "10.1000/182", "10.1000/a_b", "10.1000/50%off"]
HEADS = ["https://doi.org/", "http://dx.doi.org/", "doi:doi:", "https://doi.org/doi:"]
MENTION = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)+")


def docstring(text: str) -> str:
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return ast.get_docstring(function) or ""


def yaml_value(text: str) -> str:
    return str(yaml.safe_load(text)["a"])


def json_value(text: str) -> str:
    return str(json.loads(text)["a"])


def toml_value(text: str) -> str:
    return str(tomllib.loads(text)["a"])


def element(text: str) -> str:
    return ElementTree.fromstring(text).text or ""


def manual_page(text: str) -> str:
    r"""Return roxygen's lines as R reads them: "%" begins a comment, "\%" is itself (Parsing Rd files, 2.3)."""
    lines = [line.removeprefix("#' ") for line in text.split("\n") if line.startswith("#'")]
    shown = [re.sub(r"(?<!\\)%.*", "", line) for line in lines]
    return "\n".join(shown).replace("\\%", "%")


def string_of_r(text: str) -> str:
    return text.split("'")[1]


class Form(NamedTuple):
    """A file with a mention."""

    path: str
    text: str  # {} is the mention
    read: Callable[[str], str]  # what the program that the file is for reads
    arguments: object = ()  # what is filled in


FORMS = [
    Form("a.py", 'def f():\n    """Fit it.\n\n    See {}\n    """\n', docstring),
    Form("a.py", 'def f():\n    """Fit %(w)s.\n\n    See {}\n    """\n', docstring, {"w": "x"}),
    Form("a.py", 'def f():\n    """Fit %.3f, %s. See {}"""\n', docstring, (1.5, "x")),
    Form("a.pyi", 'def f():\n    """Fit %02d: {}"""\n', docstring, (1,)),
    Form("a.yml", "a: see {} here\n", yaml_value),
    Form("a.yml", 'a: "%s: see {}"\n', yaml_value, ("x",)),
    Form("a.yml", "a: '%5d: {}'\n", yaml_value, (1,)),
    Form("a.yaml", "a: |\n  %(w)s\n  see {}\n", yaml_value, {"w": "x"}),
    Form("a.json", '{{"a": "%-5d: see {}"}}', json_value, (1,)),
    Form("a.xml", "<r>%s: {}</r>", element, ("x",)),
    Form("a.html", "<p>%(w)s</p>\n<p>{}</p>\n", str, {"w": "x"}),
    Form("a.toml", 'a = "%s {}"\n', toml_value, ("x",)),
    Form("a.R", "#' \\url{{{}}}\n#' @export\nf <- 1\n", manual_page),
    Form("a.R", "#' See {} for it.\n##' Text.\nf <- 1\n", manual_page),
    Form("a.R", "t <- '\n# See {}\n%s\n'\ncat(sprintf(t, 1))\n", string_of_r, (1,)),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.path}: {form.text}")
def test_the_host_reads_the_same_but_for_the_doi(form: Form) -> None:
    texts = []
    for head, name in product(HEADS, NAMES):
        written = head + name
        if form.path == "a.xml":
            written = written.replace("<", "&lt;").replace(">", "&gt;")
        if form.read is manual_page or form.arguments:
            written = written.replace("%", "\\%" if form.read is manual_page else "%%")
        texts.append(form.text.format(written))

    fixes = fixed_files((form.path, text) for text in texts)

    wrong = [
        f"{better} instead of {text}"
        for text, better in zip(texts, fixes, strict=True)
        if told(form, better) != told(form, text)
    ]
    assert not wrong, "\n".join(wrong)
    assert_fixed(form.path, fixes)


def assert_fixed(path: str, texts: Sequence[str]) -> None:
    """Fail if something is left to fix."""
    again = fixed_files((path, text) for text in texts)
    assert_same(f"fixed once more, {path}", again, texts)


def told(form: Form, text: str) -> str:
    """Return what readers of the file's program are told, with the names of DOIs instead of links."""
    value = form.read(text)
    if form.arguments:
        value = value % form.arguments
    return unquote(MENTION.sub("", value))


@pytest.mark.parametrize(
    "construct",
    [
        "{}[x]",
        "link:{}[x^]",
        "link:++{}++[x]",
        "link:pass:[{}][x]",
        "`+{}+`",
        "*{}[x]*",
        "_{}_",
        "#{}#,",
        "|{}[x]|{}",
        "{}[x]footnote:[See {}.]",
        "A title of {}\n\n====\n{}\n====",
    ],
)
def test_asciidoc_keeps_what_is_around_a_link(construct: str) -> None:
    mentions = [*product(HEADS, NAMES)]
    texts = [construct.format(*2 * [head + name]) for head, name in mentions]

    fixes = fixed_files(("a.adoc", text) for text in texts)

    around = "(.*)".join(map(re.escape, construct.split("{}")))
    for (_, name), better in zip(mentions, fixes, strict=True):
        links = re.fullmatch(around, better, re.DOTALL)
        assert links is not None, f"more than links is changed: {better}"
        for link in links.groups():
            assert_same(f"the name in {better!r}", unquote(MENTION.sub("", link)), unquote(name))
    assert_fixed("a.adoc", fixes)


BLANKS = ["%s", "zenodo.%d", "a%(name)s", "<id>", "zenodo.<record-id>", "<%= id %>"]
BLANKS += [r"\d+", r"[^/]+"]  # of regular expressions


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.adoc", "{}"),
        ("a.bib", "@misc{{a, doi = {{{}}}}}\n"),
        ("a.cff", "doi: {}\n"),
        ("a.html", '<a href="{}">x</a>\n'),
        ("a.md", "[x]({})\n"),
        ("a.py", '"""See {}"""\n'),
        ("a.rst", "`x <{}>`__\n"),
        ("a.txt", "See {}\n"),
        ("a.yml", "url: '{}'\n"),
    ],
)
def test_what_is_to_be_filled_in_is_no_name(path: str, text: str) -> None:
    names = [f"10.1000/{end}" for end in BLANKS]
    if path == "a.html":
        names = [name.replace("<", "&lt;").replace(">", "&gt;") for name in names]

    fixes = fixed_files((path, text.format(f"https://doi.org/{name}")) for name in names)

    lost = [
        f"{name} in {better}"
        for name, better in zip(names, fixes, strict=True)
        if name not in better
    ]
    assert not lost, f"{path}: what is to be filled in is taken for a name: {lost}"
    assert_fixed(path, fixes)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.adoc", "dx.doi.org/10.1000/182[1]\n"),  # in brackets, a link has its text
        ("a.rst", f"`https://doi.org/{RAW}`_\n\n.. _`https://doi.org/{RAW}`: b.html\n"),
    ],
)
def test_what_would_become_another_reference_is_kept(path: str, text: str) -> None:
    assert fixed(path, text) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.adoc", "link:++{}++[x]"),
        ("a.py", '"""Raises 5% more, in 95% of cases. See {}"""\n'),
        ("a.py", "# A comment: {}\n"),
        ("a.yml", "a: 'see {}'\n"),
        ("a.R", "# See {}\nx <- 1 %in% y\n"),
        ("a.rs", "/// See {}\nfn f() {{}}\n"),
        ("a.txt", "See {}\n"),
        ("a.md", "100 %, <{}>\n"),
    ],
)
def test_what_no_template_has_is_fixed(path: str, text: str) -> None:
    link = f"https://doi.org/{RAW}"
    better = fixed(path, text.format(link))
    assert better == text.format(link.replace("<", "%3C").replace(">", "%3E"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.R", "#' \\url{{{}}}\nf <- 1\n"),
        ("a.Rd", "\\name{{a}}\\description{{\\url{{{}}}}}\n"),
        ("a.py", 'def f():\n    """Fit %s: {}"""\n'),
    ],
)
def test_a_corrected_name_is_not_worth_a_broken_file(path: str, text: str, tmp_path: Path) -> None:
    remember(tmp_path / "cache", {"10.1000/456": False, "10.1000/456#789": True})
    options = "--unsafe-fixes", "--offline", "--cache", tmp_path / "cache"

    kept = text.format("https://doi.org/10.1000/456#789")

    assert fixed(path, kept, *options) == kept
    assert fixed("a.txt", "https://doi.org/10.1000/456#789", *options).endswith("/456%23789")


def test_the_escapes_of_roxygen_are_no_part_of_the_name() -> None:
    link = "https://doi.org/10.1002/(SICI)1097-0258(19970415)16:7<791::AID-SIM500>3.0.CO;2-\\%23"
    assert codes("a.R", f"#' \\url{{{link}}}\n") == []
    assert codes("a.txt", link) == ["tex-escape"]
