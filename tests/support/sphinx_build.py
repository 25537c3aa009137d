"""Build Sphinx projects in this process, and inspect the output."""

import contextlib
import functools
import gc
import io
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import sphinx.registry
import sphinx.theming
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.cmd.build import build_main
from sphinx.locale import translators
from support.pages import broken, pages_of
from support.servers.web import Answering, Site
from support.templates import compiled_once

if TYPE_CHECKING:
    from collections.abc import Mapping

Serve = Callable[[Answering], Site]
ROOTS = Path(__file__).parent.parent / "sphinx" / "roots"


@dataclass(frozen=True)
class Build:
    """The result of a build: its exit status, its output folder, and its messages (without colours)."""

    status: int
    out: Path
    warnings: str
    said: str

    def text(self, name: str = "index.html") -> str:
        return (self.out / name).read_text("utf-8")

    @property
    def told(self) -> list[str]:
        """The warnings, sorted, from the name of the source file on."""
        return sorted(
            line.rpartition("/src/")[2] for line in self.warnings.splitlines() if line.strip()
        )

    @property
    def at(self) -> list[str]:
        """The warnings about ``index.rst``, in their order, from the line on."""
        return [
            line.partition("/index.rst:")[2].replace(" WARNING:", "")
            for line in self.warnings.splitlines()
            if "/index.rst:" in line
        ]

    @property
    def written(self) -> set[str]:
        """The pages that were written, without the index: Sphinx writes pages with a toctree again."""
        return set(re.findall(r"writing output\.\.\. \[ *\d+%\] (\S+)", self.said)) - {"index"}

    def links(self, name: str = "index.html") -> "list[Link]":
        return links(self.text(name))

    def bytes(self) -> dict[str, bytes]:
        """Every file that is not about the build itself."""
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in sorted(self.out.rglob("*"))
            if path.is_file() and path.name not in {".buildinfo", ".buildinfo.bak"}
        }


@dataclass
class Link:
    """An ``<a>``: its attributes and its text."""

    attributes: dict[str, str]
    text: str

    @property
    def href(self) -> str:
        return self.attributes.get("href", "")

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


def links(page: str) -> list[Link]:
    """The links with the class ``doi`` on a page, in order."""
    elements = re.findall(r"<a\b([^>]*)>(.*?)</a>", page, re.DOTALL)
    all_links = [Link(attributes_in(tag), text_in(inner)) for tag, inner in elements]
    return [link for link in all_links if "doi" in link.classes]


def attributes_in(tag: str) -> dict[str, str]:
    """The attributes of a tag."""
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}


def text_in(html: str) -> str:
    """The text of a part of a page."""
    return unescape(re.sub("<[^>]*>", "", html))


ENTRY_POINTS = functools.cache(entry_points)


def write(folder: Path, files: "Mapping[str, str]") -> Path:
    """Write files of a project; without a conf.py it only loads the extension."""
    conf = {} if (folder / "conf.py").exists() else {"conf.py": 'extensions = ["sphinx_doiuri"]\n'}
    for name, text in {**conf, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # a new time makes Sphinx read it
            path.write_text(text, "utf-8")
    return folder


def build(
    source: Path, target: Path, builder: str = "html", *options: str, search: bool = False
) -> Build:
    """Build a project into a folder below ``target``; builds with the same target share their doctrees.

    ``options`` are sphinx-build's; ``search`` says whether a site has an index for its search. That index, and
    what a theme adds to "basic", which is the default here, take a third of the time.
    """
    out = target / builder
    warned = target / "warnings.txt"
    said = io.StringIO()
    is_first = not out.exists()  # later, pages of deleted documents are still there
    target.mkdir(parents=True, exist_ok=True)
    translators.clear()  # Sphinx keeps the languages of earlier builds
    words = f"-b {builder} -N -D show_warning_types=1 -D html_copy_source=0".split()
    if "html_theme" not in (source / "conf.py").read_text("utf-8"):
        words += ["-D", "html_theme=basic"]
    arguments = [*words, "-d", str(target / "doctrees"), "-w", str(warned), *options]
    with (
        contextlib.ExitStack() as at_end,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
        compiled_once(),
        mock.patch.object(sphinx.registry, "entry_points", ENTRY_POINTS),
        mock.patch.object(sphinx.theming, "entry_points", ENTRY_POINTS),
        mock.patch.object(StandaloneHTMLBuilder, "search", search),
    ):
        at_end.callback(gc.enable)
        gc.disable()  # which takes, with the debug records, a fifth of the time
        at_end.callback(logging.disable, logging.NOTSET)
        logging.disable(logging.DEBUG)
        status = build_main([*arguments, str(source), str(out)])
    wrong = []
    if is_first:
        pages = pages_of(out)
        wrong = broken(pages, "doi-")
        ours = {
            name for page in pages.values() for name in re.findall(r"_static/(doiuri\.\w+)", page)
        }
        wrong += [f"no file {name}" for name in ours if not (out / "_static" / name).is_file()]
    assert not wrong, "\n".join(wrong)
    complaints = re.sub(r"\x1b\[[0-9;]*m", "", warned.read_text("utf-8")) if warned.exists() else ""
    return Build(status, out, complaints, re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()))


def project(folder: Path, text: str, conf: str = "", **files: str) -> Path:
    """Write a project below a folder; unless it is among the files, the index has a text from line 4 on."""
    index = {} if "index.md" in files else {"index.rst": f"T\n=\n\n{text}\n"}
    return write(
        folder / "src", {"conf.py": f"extensions = ['sphinx_doiuri']\n{conf}\n", **index, **files}
    )


def page(folder: Path, text: str, conf: str = "", *options: str, **files: str) -> Build:
    """Build a project that looks nothing up."""
    source = project(folder, text, f"doi_resolve = False\n{conf}", **files)
    return build(source, folder / "out", "html", "-n", *options)
