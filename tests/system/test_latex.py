"""What LaTeX makes of Sphinx's output: links and text in the PDF."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri_csl import Run, to_latex
from support.programs import ENGINES, LATEX, needs
from support.references import NOTES, RECORDS
from support.servers.metadata import metadata_proxy
from support.servers.web import site
from support.sphinx_build import ROOTS, build, write

CSL = "application/vnd.citationstyles.csl+json"
MARKUP = "alert(1) <iframe src=javascript:alert(1)> & evil Homo CO2"
TEX = r"100% of $x$ & \input{x} #1 _a ^^5c ~ {b} \end{document}"
CONF = "extensions = ['sphinx_doiuri']\nproject = 'Book'\nversion = '1'\ncopyright = 'us'\n"
CITED = """\
T
=

See :doi:p:`10.5555/kahn-2006`, :doi:t:`10.5555/tex`, :doi:t:`10.5555/kahn-a`,
:doi:p:`10.5555/a<b>#c;d,(e)`.

.. doi:bibliography::
"""


# Text in the PDFs of pdfLaTeX: of the T1 encoding, whose letters and digits are those of ASCII
LIGATURES = dict(zip(range(0x1B, 0x20), ("ff", "fi", "fl", "ffi", "ffl"), strict=True))
STRING = r"\((?:\\.|[^()\\])*\)"
SHOWN = re.compile(rf"\[((?:{STRING}|[-\d.\s])*)\]\s*TJ|({STRING})\s*Tj", re.DOTALL)
PART = re.compile(rf"({STRING})|(-?[\d.]+)", re.DOTALL)
ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
SPACE = -200.0  # thousandths of the font size; a wider gap is a space


def inflated(pdf: bytes) -> bytes:
    """Return a PDF, followed by its compressed streams."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return b"\n".join(
        [pdf, *(zlib.decompressobj().decompress(s) for s in streams if s[:1] == b"\x78")]
    )


def text_of(pdf: bytes) -> str:
    """Return the text of a PDF in ASCII, with one space between words and lines."""
    shown = SHOWN.finditer(inflated(pdf).decode("latin-1"))
    return " ".join(" ".join(line(match[1] or match[2] or "") for match in shown).split())


def line(parts: str) -> str:
    def unescaped(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 8)) if escape[1][0] in "01234567" else escape[1]

    text = ""
    for string, width in PART.findall(parts):
        if string:
            text += ESCAPE.sub(unescaped, string[1:-1]).translate(LIGATURES)
        elif float(width) < SPACE:
            text += " "
    return text


def compiled(folder: Path, *command: str) -> bytes:
    done = subprocess.run(
        [*command, *LATEX, "book.tex"], cwd=folder, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return (folder / "book.pdf").read_bytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_links_in_the_pdf_lead_to_their_dois(tmp_path: Path, engine: str) -> None:
    needs(engine)
    options = ("-W", "-n", "-D", "doi_resolve=False", "-D", f"latex_engine={engine}")
    built = build(ROOTS / "book", tmp_path, "latex", *options)
    assert (built.status, built.warnings) == (0, "")
    pdf = compiled(built.out, needs("latexmk"), f"-{engine.replace('pdflatex', 'pdf')}")
    urls = re.findall(rb"/URI ?\(((?:\\.|[^)\\])*)\)", inflated(pdf))
    plain = [re.sub(rb"\\(.)", rb"\1", url).decode() for url in urls]
    names = json.loads((ROOTS / "book" / "names.json").read_text("utf-8"))
    assert {DOI.from_url(url).name for url in plain} == {*names["index"], *names["second"]}


def test_metadata_is_text_in_the_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdflatex = needs("pdflatex")
    csl = {"title": TEX, "author": [{"family": r"\Evil{}", "given": "A. $"}], "issued": "2001"}
    item = {"handle": "10.5555/tex", "metadata": {CSL: csl}}
    source = write(tmp_path / "src", {"conf.py": CONF, "index.rst": CITED})
    with site(metadata_proxy([*json.loads(RECORDS.read_text("utf-8")), item])) as running:
        monkeypatch.setenv("DOIURI_RESOLVER", running.url)
        built = build(source, tmp_path, "latex", "-W")
    assert (built.status, built.warnings) == (0, "")
    text = text_of(compiled(built.out, pdflatex))
    joined = "".join(text.split())  # a gap beside a link or another font is read as a space
    assert "Kahn & Wilensky, 2006" in text
    assert "See(Kahn&Wilensky,2006)," in joined
    assert r"\Evil{}(2001)" in joined
    assert "Kahn,R.(2001).Alpha.https://doi.org/10.5555/kahn-a" in joined
    for part in (rf"\Evil{{}}, A. $ (2001). {TEX}. https://doi.org/10.5555/tex", MARKUP):
        assert "".join(part.split()) in joined


NOTED = """\
T :doi:p:`@li, p. 11`
=====================

*Text* :doi:p:`@li, p. 12`. [#]_

.. [#] Mine, :doi:p:`@li, p. 13`.

.. admonition:: Admonition :doi:p:`@li, p. 14`

   Text :doi:p:`@li, p. 15`.

.. list-table:: Table :doi:p:`@li, p. 16`
   :header-rows: 1

   * - Head :doi:p:`@li, p. 17`
   * - Cell :doi:p:`@li, p. 18`

Term :doi:p:`@li, p. 19`
   Definition :doi:p:`@li, p. 20`

:Field: Text :doi:p:`@li, p. 21`

.. code-block:: text
   :caption: Caption :doi:p:`@li, p. 22`

   code

.. rubric:: Rubric :doi:p:`@li, p. 23`

.. doi:bibliography::
"""


def test_notes_in_the_pdf(tmp_path: Path) -> None:
    pdflatex = needs("pdflatex")
    conf = (
        f"{CONF}doi_resolve, doi_lock = False, None\ndoi_works = 'works.json'\n"
        "doi_reference_style = 'notes.csl'\n"
    )
    works = [{"id": "li", "title": "Ants", "author": [{"family": "Li"}]}]
    files = {
        "conf.py": conf,
        "notes.csl": NOTES,
        "works.json": json.dumps(works),
        "index.rst": NOTED,
    }
    built = build(write(tmp_path / "src", files), tmp_path, "latex", "-W")
    assert (built.status, built.warnings) == (0, "")
    joined = "".join(text_of(compiled(built.out, pdflatex)).split())
    assert "LiAnts11." in joined
    for page in range(12, 24):
        assert str(page) in joined, f"the note with page {page} is lost"


ARTICLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[%s]{babel}
\usepackage{hyperref}
\begin{document}
%s

\noindent\footnote{%s}
\begin{itemize}
\item %s
\end{itemize}
\end{document}
"""


@pytest.mark.parametrize("language", ["english", "ngerman"])
def test_references_of_strangers_are_text_in_the_pdf(tmp_path: Path, language: str) -> None:
    pdflatex = needs("pdflatex")
    address = "https://example.org/a_b~c?d=1&e"
    entry = [
        Run("[1] "),
        Run(TEX, frozenset({"italic"})),
        Run(" a--b \"i\" 'q' <x|y>. ", frozenset({"bold"})),
        Run(address, link=address),
    ]
    source = ARTICLE % (language, *[to_latex(entry)] * 3)
    (tmp_path / "book.tex").write_text(source, "utf-8")

    pdf = compiled(tmp_path, pdflatex)

    joined = "".join(text_of(pdf).split())
    shown = "".join(f"[1] {TEX} a--b \"i\" 'q' <x|y>. {address}".split())
    assert joined.count(shown) == 3
    assert inflated(pdf).count(b"/URI(https://example.org/a_b~c?d=1&e)") == 3
