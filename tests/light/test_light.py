"""Without the extra ``citations``: roles, checking and labels work; what needs it says so in one line.

Each host runs as its users run it, in a process of its own.
"""

import json
import re
import subprocess
import sys
from html import unescape
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path

import pytest

AUTHORS = [{"family": "Kahn"}, {"family": "Wilensky"}]
WORKS = [{"DOI": "10.1000/182", "author": AUTHORS, "issued": 2006, "title": "A framework"}]
NEEDS = 'need an extra: pip install "{}-doiuri[citations]"'
MYST = "See {{doi}}`10.1000/a#b` and {{doi:t}}`10.1000/182, p. 3`.\n\n{}"
RST = "See :doi:`10.1000/a#b` and :doi:t:`10.1000/182, p. 3`.\n\n{}"
MARKDOWN = "See <doi:10.1000/a%23b> and [@doi:10.1000/182, p. 3].\n"
LINK = "https://doi.org/10.1000/a%23b"


def test_the_environment_lacks_the_extra() -> None:
    """Run ``nox -s light``: elsewhere these tests prove nothing."""
    assert not [name for name in ("citeproc", "lxml") if find_spec(name)]


def run(
    folder: Path, *command: str, without: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a folder; other modules count as missing."""
    script = (
        "import runpy, sys; module, without, *sys.argv[1:] = sys.argv[1:]\n"
        "sys.modules.update(dict.fromkeys(without.split()))\n"
        "runpy.run_module(module, run_name='__main__', alter_sys=True)"
    )
    module, *arguments = command
    command = (sys.executable, "-c", script, module, " ".join(without), *arguments)
    environment = {
        "PATH": "",
        "HOME": str(folder),
        "DOIURI_OFFLINE": "1",
        "DOIURI_CACHE": ":memory:",
    }
    environment["COLUMNS"] = "300"  # Pelican wraps what it prints
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def text_of(html: Path) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", "", html.read_text("utf-8"))).split())


def sphinx(folder: Path, conf: str, **documents: str) -> subprocess.CompletedProcess[str]:
    myst = any(name.endswith("md") for name in documents)
    extensions = ["sphinx_doiuri", *(["myst_parser"] if myst else [])]
    (folder / "conf.py").write_text(
        f"extensions = {extensions}\ndoi_works = 'works.json'\n{conf}\n"
    )
    (folder / "works.json").write_text(json.dumps(WORKS))
    for name, text in documents.items():
        (folder / name.replace("_", ".")).write_text(text)
    without = ("citeproc", "lxml", *(() if myst else ("yaml",)))
    return run(folder, "sphinx", "-q", "-W", "-b", "html", ".", "out", without=without)


@pytest.mark.parametrize(
    ("name", "text"), [("index_rst", RST), ("index_md", MYST)], ids=["rst", "myst"]
)
def test_sphinx_needs_it_for_lists_only(name: str, text: str, tmp_path: Path) -> None:
    built = sphinx(tmp_path, "", **{name: "T\n===\n\n" + text.format("")})
    assert (built.returncode, built.stderr) == (0, "")
    page = tmp_path / "out" / "index.html"
    assert LINK in page.read_text("utf-8")
    assert "Kahn and Wilensky (2006, p. 3)" in text_of(page)
    directive = "```{doi:bibliography}\n```" if name == "index_md" else ".. doi:bibliography::"
    built = sphinx(tmp_path, "", **{name: "T\n===\n\n" + text.format(directive)})
    (warning,) = built.stderr.splitlines()
    assert "WARNING: lists of references" in warning
    assert f"{NEEDS.format('sphinx')} [doi.extra]" in warning
    assert built.returncode == 1  # because of -W
    html = page.read_text("utf-8")
    url = "https://doi.org/10.1000/182"
    assert f'<a class="doi reference external" href="{url}">{url}</a>' in html


@pytest.mark.parametrize(
    "conf",
    ["doi_reference_style = 'own.csl'", "doi_reference_locale = 'ja'", "doi_works = 'works.yaml'"],
)
def test_sphinx_names_the_option_that_needs_it(conf: str, tmp_path: Path) -> None:
    for name in ("own.csl", "works.yaml"):
        (tmp_path / name).write_text(
            '<style xmlns="http://purl.org/net/xbiblio/csl"><bibliography><layout/></bibliography></style>'
        )
    built = sphinx(tmp_path, conf, index_rst=RST.format(""))
    assert f"{conf.partition(' ')[0]}: " in built.stderr
    assert NEEDS.format("sphinx") in built.stderr
    assert "Traceback (most" not in built.stderr


def test_other_languages_are_english_and_said_only_with_citations(tmp_path: Path) -> None:
    built = sphinx(tmp_path, "language = 'ja'", index_rst=":doi:`10.1000/a#b`")
    assert (built.returncode, built.stderr) == (0, "")
    built = sphinx(tmp_path, "language = 'ja'", index_rst=RST.format(""))
    assert built.stderr.count(NEEDS.format("sphinx")) == 1
    assert "citations are in English" in built.stderr


@pytest.mark.parametrize(
    ("language", "conjunction", "page"),
    [
        ("de", "und", "S."),
        ("es", "y", "p."),
        ("fr", "et", "p."),
        ("it", "e", "p."),
        ("nl", "en", "p."),
    ],
)
def test_labels_are_in_the_language_of_the_project(
    language: str, conjunction: str, page: str, tmp_path: Path
) -> None:
    built = sphinx(tmp_path, f"language = {language!r}", index_rst=RST.format(""))
    assert (built.returncode, built.stderr) == (0, "")
    assert f"Kahn {conjunction} Wilensky (2006, {page} 3)" in text_of(
        tmp_path / "out" / "index.html"
    )


def test_docutils(tmp_path: Path) -> None:
    (tmp_path / "page.rst").write_text("See :doi:`10.1000/a#b`.")
    command = ("docutils", "--parser=docutils_doiuri", "page.rst", "page.html")
    built = run(tmp_path, *command, without=("citeproc", "lxml", "yaml"))
    assert (built.returncode, built.stderr) == (0, "")
    assert LINK in (tmp_path / "page.html").read_text("utf-8")


def test_markdown_says_once_what_a_list_needs(tmp_path: Path) -> None:
    (tmp_path / "works.json").write_text(json.dumps(WORKS))
    (tmp_path / "page.md").write_text(MARKDOWN)
    (tmp_path / "config.json").write_text('{"doiuri": {"works": "works.json"}}')
    command = ("markdown", "-x", "doiuri", "-c", "config.json", "page.md")
    built = run(tmp_path, *command, without=("citeproc", "lxml", "yaml"))
    assert built.returncode == 0
    assert "Traceback (most" not in built.stderr
    assert built.stderr.count(NEEDS.format("markdown")) == 1
    assert LINK in built.stdout
    assert 'href="https://doi.org/10.1000/182"' in built.stdout
    assert "(Kahn &amp; Wilensky, 2006, p. 3)" in re.sub("<[^>]*>", "", built.stdout)
    assert re.search(
        r'<li id="ref-[^"]*"><a class="doi" [^>]*>https://doi.org/10.1000/182</a>', built.stdout
    )


def test_the_command_says_what_citations_need(tmp_path: Path) -> None:
    command = ("doiuri_cli", "resolve", "--as", "citation", "10.1000/182")
    built = run(tmp_path, *command, without=("citeproc", "lxml"))
    assert (built.returncode, built.stdout) == (2, "")
    assert 'citations need an extra: pip install "doiuri-cli[citations]"' in built.stderr


def test_mkdocs_says_once_what_a_list_needs(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "works.json").write_text(json.dumps(WORKS))
    for name in ("index.md", "other.md"):
        (tmp_path / "docs" / name).write_text(MARKDOWN)
    (tmp_path / "mkdocs.yml").write_text("site_name: S\nplugins: [doiuri: {works: [works.json]}]\n")
    built = run(tmp_path, "mkdocs", "build", without=("citeproc", "lxml"))
    assert built.returncode == 0
    assert built.stderr.count(NEEDS.format("markdown")) == 1
    page = tmp_path / "site" / "index.html"
    assert LINK in page.read_text("utf-8")
    assert "(Kahn & Wilensky, 2006, p. 3)" in text_of(page)


def test_pelican_says_once_what_a_list_needs(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "works.json").write_text(json.dumps(WORKS))
    for name in ("one", "two"):
        (tmp_path / "content" / f"{name}.md").write_text(
            f"Title: {name}\nDate: 2026-01-02\n\n{MARKDOWN}"
        )
    (tmp_path / "pelicanconf.py").write_text(
        "PLUGINS = ['markdown_doiuri']\nTIMEZONE = 'UTC'\n"
        "MARKDOWN = {'extension_configs': {'doiuri': {'works': 'works.json'}}}\n"
    )
    built = run(
        tmp_path, "pelican", "content", "-s", "pelicanconf.py", without=("citeproc", "lxml")
    )
    assert built.returncode == 0
    assert built.stdout.count(NEEDS.format("markdown")) == 1
    page = tmp_path / "output" / "one.html"
    assert LINK in page.read_text("utf-8")
    assert "(Kahn & Wilensky, 2006, p. 3)" in text_of(page)


def test_the_role_brings_few_packages() -> None:
    """What sphinx-doiuri installs beyond Sphinx, which needs requests and urllib3 itself."""
    needed, waiting = set(), {"sphinx-doiuri"}
    while waiting:
        name = waiting.pop()
        needed.add(name)
        found = {
            re.split(r"[^\w.-]", need)[0] for need in requires(name) or () if "extra ==" not in need
        }
        if name == "sphinx-doiuri":
            found |= {"requests", "platformdirs"}  # of doiuri[resolver]
        waiting |= found - needed - {"sphinx", "docutils", "requests", "urllib3"}
    assert needed == {"sphinx-doiuri", "docutils-doiuri", "doiuri", "platformdirs"}
