"""Build Sphinx projects in this process, and inspect the output."""

import contextlib
import functools
import io
import re
import zlib
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from unittest import mock

import sphinx.jinja2glue
import sphinx.registry
import sphinx.theming
from jinja2.sandbox import SandboxedEnvironment
from sphinx.cmd.build import build_main
from sphinx.locale import translators

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        return sorted(line.rpartition("/src/")[2] for line in self.warnings.splitlines() if line.strip())

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
    text: str = ""

    @property
    def href(self) -> str:
        return self.attributes.get("href", "")

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[Link] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._open = True
            self.links.append(Link({name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.links[-1].text += data


class Templates(SandboxedEnvironment):
    """Compiles each template once in a process: that is most of the time of a small build."""

    codes: ClassVar[dict[tuple[object, ...], Any]] = {}

    def compile(self, *template: Any, **options: Any) -> Any:
        key = *template, *options.items()
        if key not in self.codes:
            self.codes[key] = super().compile(*template, **options)
        return self.codes[key]


ENTRY_POINTS = functools.cache(entry_points)


def links(page: str) -> list[Link]:
    """The links with the class ``doi`` on a page, in order."""
    parser = _Links()
    parser.feed(page)
    return [link for link in parser.links if "doi" in link.classes]


def write(folder: Path, files: "Mapping[str, str]") -> Path:
    """Write files of a project; without a conf.py it only loads the extension."""
    conf = {} if (folder / "conf.py").exists() else {"conf.py": 'extensions = ["sphinx_doiuri"]\n'}
    for name, text in {**conf, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # a new time makes Sphinx read it
            path.write_text(text, "utf-8")
    return folder


def build(source: Path, target: Path, builder: str = "html", *options: str) -> Build:
    """Build a project into a folder below ``target``; builds with the same target share their doctrees.

    ``options`` are sphinx-build's.
    """
    out, said, warned = target / builder, io.StringIO(), target / "warnings.txt"
    target.mkdir(parents=True, exist_ok=True)
    translators.clear()  # Sphinx keeps the languages of earlier builds
    arguments = [
        "-b",
        builder,
        "-N",
        "-D",
        "show_warning_types=1",
        "-d",
        str(target / "doctrees"),
        "-w",
        str(warned),
        *options,
    ]
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
        mock.patch.object(sphinx.jinja2glue, "SandboxedEnvironment", Templates),
        mock.patch.object(sphinx.registry, "entry_points", ENTRY_POINTS),
        mock.patch.object(sphinx.theming, "entry_points", ENTRY_POINTS),
    ):
        status = build_main([*arguments, str(source), str(out)])
    complaints = re.sub(r"\x1b\[[0-9;]*m", "", warned.read_text("utf-8")) if warned.exists() else ""
    return Build(status, out, complaints, re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()))


# Text in PDFs of pdfLaTeX
_LIGATURES = dict(zip(range(0x1B, 0x20), ("ff", "fi", "fl", "ffi", "ffl"), strict=True))
"""Of the T1 encoding; its letters and digits are those of ASCII."""

_STRING = r"\((?:\\.|[^()\\])*\)"
_SHOWN = re.compile(rf"\[((?:{_STRING}|[-\d.\s])*)\]\s*TJ|({_STRING})\s*Tj", re.DOTALL)
_PART = re.compile(rf"({_STRING})|(-?[\d.]+)", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_SPACE = -200.0
"""The distance, in thousandths of the font size, from which on a gap is a space."""


def inflated(pdf: bytes) -> bytes:
    """Return a PDF, followed by its compressed streams."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return b"\n".join([pdf, *(zlib.decompressobj().decompress(s) for s in streams if s[:1] == b"\x78")])


def pdf_text(pdf: bytes) -> str:
    """Return the text of a PDF of pdfLaTeX in ASCII, with one space between words and lines."""
    shown = _SHOWN.finditer(inflated(pdf).decode("latin-1"))
    return " ".join(" ".join(_line(match[1] or match[2] or "") for match in shown).split())


def _line(parts: str) -> str:
    line = ""
    for part in _PART.finditer(parts):
        if part[1]:
            line += _ESCAPE.sub(_unescaped, part[1][1:-1]).translate(_LIGATURES)
        elif float(part[2]) < _SPACE:
            line += " "
    return line


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code[0] in "01234567" else code
