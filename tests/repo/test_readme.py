"""The README: its examples print what it says, its table is that of the packages, its links work."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType

import markdown
import pytest
from doiuri_proxy import running
from support.cli.command import doiuri
from support.manual import readme
from support.manual.installing import BLOCK, renewed_install
from support.manual.readme import README, READMES, ROOT, renewed
from support.sphinx_build import build

TEXT = README.read_text(encoding="utf-8")
METHODS = """# Methods

The samples were cleaned [as before](https://doi.org/10.1177/5555555555555555).
"""
BLOCKS = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAPER = """@article{bak1987,
  title = {Self-organized criticality},
  doi = {http://dx.doi.org/10.1103/PhysRevLett.59.381},
}
"""


def lowest(path: Path, name: str) -> str:
    """Return the lowest version that a pyproject.toml admits of a distribution or, as "python", of Python."""
    pattern = rf'"{name} >= ([\d.]+)"|^requires-{name} = ">= ([\d.]+)"'
    matches = re.finditer(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    (version,) = {match[1] or match[2] for match in matches}
    return version


OLDEST = {
    "Sphinx": lowest(ROOT / "packages" / "sphinx-doiuri" / "pyproject.toml", "sphinx"),
    "Python": lowest(ROOT / "packages" / "doiuri" / "pyproject.toml", "python"),
    # No dependency of markdown-doiuri, which also works without MkDocs: the version that "lowest" tests
    "MkDocs": lowest(ROOT / "pyproject.toml", "mkdocs"),
}


def blocks(language: str) -> list[str]:
    """Return the README's blocks of code in a language."""
    return [text for name, text in BLOCKS.findall(TEXT) if name == language]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    with running(ROOT / "examples" / "records.json") as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        yield


@pytest.mark.usefixtures("environment")
def test_the_python_examples_print_what_it_says() -> None:
    examples = TEXT.replace("```", "")  # the end of a fence is not part of the output
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(examples, {}, "README.md", str(README), 0))
    assert runner.summarize() == (0, 6)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    ("name", "text", "code"), [("paper.md", METHODS, 1), ("paper.bib", PAPER, 0)]
)
def test_the_command_prints_what_it_says(tmp_path: Path, name: str, text: str, code: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    run = doiuri("check", name, cwd=tmp_path)

    assert (run.returncode, f"$ doiuri check {name}\n{run.stdout}{run.stderr}") in [
        (code, block) for block in blocks("console")
    ]


@pytest.mark.usefixtures("environment")
def test_sphinx_and_markdown_make_what_the_first_table_shows(tmp_path: Path) -> None:
    settings = blocks("python")[0]
    (role,) = blocks("rst")
    (plain,) = blocks("markdown")
    (tmp_path / "conf.py").write_text(settings, encoding="utf-8")
    (tmp_path / "index.rst").write_text(role, encoding="utf-8")

    built = build(tmp_path, tmp_path / "built")
    page = (tmp_path / "built" / "html" / "index.html").read_text(encoding="utf-8")
    converted = markdown.markdown(plain, extensions=["doiuri"])

    assert built.status == 0
    assert first_paragraph(page) == first_paragraph(converted)
    promised = re.sub(r"\[(.+?)\]\(https://.+?\)", r"\1", TEXT)
    assert f"\n\n{first_paragraph(page)}\n\n</td>" in promised


def first_paragraph(html: str) -> str:
    """Return the text of the first paragraph."""
    return re.sub("<.+?>", "", html.partition("<p>")[2].partition("</p>")[0])


def test_the_start_page_of_the_manual_begins_as_the_readme_does() -> None:
    page = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
    first_screen = TEXT.partition("\n## ")[0]

    blocks = [text for name, text in BLOCKS.findall(first_screen) if name not in {"console", "sh"}]
    missing = [text for text in blocks if not is_indented_in(page, text)]

    assert len(blocks) == 4
    assert missing == []
    assert first_screen.split("\n\n")[2] in page


def is_indented_in(page: str, block: str) -> bool:
    """Return whether a page has a block in a directive, or in one that stands in two others."""
    return any(indent(block, " " * width) in page for width in (3, 9))


@pytest.mark.parametrize(
    ("page", "host"),
    [
        ("README.md", "Sphinx"),
        ("README.md", "MkDocs"),
        ("README.md", "Python"),
        ("docs/index.rst", "Sphinx"),
        ("docs/index.rst", "MkDocs"),
        ("docs/index.rst", "Python"),
        ("docs/howto/sphinx.rst", "Sphinx"),
        ("docs/howto/sphinx.rst", "Python"),
        ("docs/howto/myst.md", "Sphinx"),
        ("docs/howto/mkdocs.rst", "MkDocs"),
        ("docs/howto/mkdocs.rst", "Python"),
        ("docs/howto/markdown.rst", "Python"),
        ("docs/tutorial/index.rst", "Python"),
    ],
)
def test_a_page_says_which_version_of_its_host_it_needs(page: str, host: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"{host} {OLDEST[host]} or later" in text


def test_the_table_of_packages_is_made_from_their_metadata() -> None:
    assert renewed(TEXT) == TEXT, "run nox -s readme"


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_a_package_says_how_to_install_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (names,) = BLOCK.findall(text)
    assert install_name(path.parent.name) in names
    assert renewed_install(text) == text, "run nox -s readme"


def install_name(package: str) -> str:
    """Return what users name to install a package: mostly an extra of the core."""
    match package:
        case "doiuri":
            return '"doiuri[resolver]"'
        case "doiuri-csl":  # knows nothing of DOIs
            return "doiuri-csl"
    extra = package.removesuffix("-doiuri").removeprefix("doiuri-")
    return f'"doiuri[{extra}]"'


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_a_package_says_the_rest_in_the_manual(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pages = re.findall(r"\(https://github\.com/doiuri/doiuri/blob/main/(docs/[^)#]+)", text)
    assert pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []
    # doiuri-csl is a library by itself, which its README compares with others
    longest = 600 if path.parent.name == "doiuri-csl" else 280
    assert len(text.split()) <= longest


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("doiuri", "doiuri"),
        ("-q sphinx-doiuri furo", "-q sphinx-doiuri furo docutils-doiuri doiuri doiuri-csl"),
        (
            "doiuri[sphinx,cli]",
            "doiuri[sphinx,cli] docutils-doiuri doiuri-cli doiuri-csl sphinx-doiuri",
        ),
        ("doiuri[nonsense]", "doiuri[nonsense]"),
        (
            "doiuri[all]",
            f"doiuri[all] {' '.join(sorted({path.parent.name for path in READMES} - {'doiuri'}))}",
        ),
    ],
)
def test_a_clone_is_installed_with_the_siblings_that_a_package_needs(
    words: str, expected: str
) -> None:
    """``install.py`` in place of pip; the folders of siblings keep pip from looking for them on PyPI."""
    folder = f"{ROOT / 'packages'}{os.sep}"
    given = load_install().arguments(words.split())
    assert [word.removeprefix(folder) for word in given] == expected.split()


CI_MANUAL = (ROOT / "docs" / "howto" / "ci.rst").read_text("utf-8")


@pytest.mark.parametrize(
    ("place", "text", "needs"),
    [
        ("the hooks", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), "doiuri[cli]"),
        ("the manual, Read the Docs", CI_MANUAL.partition("Read the Docs\n")[2], "doiuri[sphinx]"),
    ],
)
def test_a_list_of_our_packages_has_all_that_one_of_them_needs(
    place: str, text: str, needs: str
) -> None:
    """Until they are on PyPI, pip finds a package only if it is in the list."""
    listed = re.findall(r"(?<=[./=]packages/)[\w-]+", text)

    needed = {Path(word.partition("[")[0]).name for word in load_install().arguments([needs])}

    assert {*listed} == needed, place


def load_install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / "install.py")
    assert spec
    assert spec.loader
    install = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(install)
    return install


def pretend_installed(folder: Path, name: str, version: str) -> None:
    """Write what pip records of a distribution in ``site-packages``."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")


def test_installing_stops_before_it_replaces_the_sphinx_of_a_project(tmp_path: Path) -> None:
    pretend_installed(tmp_path, "sphinx", "7.3.7")
    command = [sys.executable, str(ROOT / "install.py"), "-q", "doiuri[sphinx]"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        "sphinx 7.3.7 is installed; sphinx >= 7.4 is needed.\n"
        "pip would replace it, so nothing was installed. To keep it, use another virtual environment.\n"
        'To replace it, name it as well: python install.py "-q" "doiuri[sphinx]" sphinx\n'
    )


@pytest.mark.parametrize(
    ("name", "version", "words", "names"),
    [
        ("Sphinx", "7.3.7", "doiuri[sphinx]", ["sphinx"]),
        ("Sphinx", "7.3.7", "doiuri[sphinx] sphinx==8.2.3", []),
        ("sphinx", "7.4", "doiuri[sphinx]", []),
        ("sphinx", "7.4.0", "doiuri[sphinx]", []),
        ("sphinx", "10.0.0rc1", "doiuri[sphinx]", []),
        ("requests", "2.30.0", "doiuri[cli]", ["requests"]),
        ("requests", "2.30.0", "requests-doiuri", ["requests"]),
        ("requests", "2.30.0", "urllib-doiuri", []),
        ("httpx", "0.26.0", "doiuri[httpx]", ["httpx"]),
        ("markdown", "3.5.2", "doiuri[markdown]", ["markdown"]),
        ("mkdocs", "1.6.1", "doiuri[markdown]", []),
    ],
)
def test_only_what_is_too_old_and_not_named_would_be_replaced(
    name: str,
    version: str,
    words: str,
    names: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend_installed(tmp_path, name, version)
    monkeypatch.syspath_prepend(tmp_path)

    sentences = load_install().replaced(words.split())

    assert [sentence.split()[0] for sentence in sentences] == names


def test_every_link_and_picture_leads_to_a_file() -> None:
    targets = re.findall(r"\]\(((?!https?:|doi:)[^)#]+)[#)]", TEXT)
    targets += re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(targets) > 15
    pages = {"howto/offline.rst", "reference/options.rst", "explanation/design.rst"}
    assert {f"docs/{page}" for page in pages} <= {*targets}
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert os.sep not in {target[0] for target in targets}


def test_the_badge_says_which_python_the_metadata_says() -> None:
    badge = (ROOT / "docs" / "pictures" / "python.svg").read_text(encoding="utf-8")

    assert f"![Python {OLDEST['Python']} or later]" in TEXT
    assert f">{OLDEST['Python']}+</text>" in badge


def test_the_release_list_names_every_picture() -> None:
    """Nothing else tells that a picture is older than the page that it shows."""
    pictures = {
        path.name for path in (ROOT / "docs" / "pictures").iterdir() if path.suffix != ".dot"
    }
    listed = re.findall(
        r"`([\w-]+\.(?:webp|svg|png))`", (ROOT / "RELEASING.md").read_text(encoding="utf-8")
    )
    assert sorted(listed) == sorted(pictures)


def test_a_new_package_stands_last_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """``nox -s readme`` works before anybody has given the package a place."""
    monkeypatch.setattr(readme, "ORDER", readme.ORDER[1:])

    rows = readme.packages().splitlines()

    assert rows[-1].startswith("| [doiuri](packages/doiuri) |"), rows[-1]
