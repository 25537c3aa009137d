"""The role: what authors may type, and the resulting links."""

from __future__ import annotations

from pathlib import Path

from support.sphinx_build import Build, build, write

SICI = "10.1175/1520-0493(1972)100<0081:X>2.3.CO;2"
SICI_LINK = "https://doi.org/10.1175/1520-0493(1972)100%3C0081:X%3E2.3.CO;2"


def page(tmp_path: Path, text: str, conf: str = "") -> Build:
    base = 'extensions = ["sphinx_doiuri"]\ndoi_resolve = False\n'
    source = write(tmp_path / "src", {"index.rst": f"Title\n=====\n\n{text}\n", "conf.py": base + conf})
    return build(source, tmp_path / "out", "html", "-n")


WRITTEN = [
    (":doi:`10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":DOI:`10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    ("`10.1000/182`:doi:", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`doi:10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`DOI: 10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`https://dx.doi.org/10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`10.1000/456#789`", "https://doi.org/10.1000/456%23789", "doi:10.1000/456#789"),
    (f":doi:`{SICI}`", SICI_LINK, f"doi:{SICI}"),
    (f":doi:`Title <{SICI}>`", SICI_LINK, "Title"),
    (f":doi:`a < b <{SICI}>`", SICI_LINK, "a < b"),
    (f":doi:`Title\n<{SICI}>`", SICI_LINK, "Title"),
    (":doi:`Title <10.1000/a<b>>`", "https://doi.org/10.1000/a%3Cb%3E", "Title"),
    (":doi:`10.1000/a<b>`", "https://doi.org/10.1000/a%3Cb%3E", "doi:10.1000/a<b>"),
    (":doi:`10.1000/a\\<b\\>`", "https://doi.org/10.1000/a%3Cb%3E", "doi:10.1000/a<b>"),
    (":doi:`<10.1000/182>`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`10.1000/a\\_b`", "https://doi.org/10.1000/a_b", "doi:10.1000/a_b"),
    (":doi:`10.1000/a_b`", "https://doi.org/10.1000/a_b", "doi:10.1000/a_b"),
    (':doi:`10.1000/a--b"c"...`', "https://doi.org/10.1000/a--b%22c%22...", 'doi:10.1000/a--b"c"...'),
    (":doi:`10.1000/á`", "https://doi.org/10.1000/%C3%A1", "doi:10.1000/á"),
    (":doi:`10.1000/../x`", "https://doi.org/10.1000/..%2Fx", "doi:10.1000/../x"),
    (":doi:`Title <https://doi.org/10.1000/182>`", "https://doi.org/10.1000/182", "Title"),
]


def test_what_authors_type_becomes_the_link_that_they_mean(tmp_path: Path) -> None:
    links = page(tmp_path, "\n\n".join(written for written, _, _ in WRITTEN)).links()
    shown = [(link.href, " ".join(link.text.split())) for link in links]
    assert shown == [(href, text) for _, href, text in WRITTEN]


ARXIV = [
    (":arxiv:`2301.00001`", "2301.00001", "arXiv:2301.00001"),
    (":arXiv:`0705.2626v2`", "0705.2626v2", "arXiv:0705.2626v2"),
    (":arxiv:`arXiv:2301.00001v12`", "2301.00001v12", "arXiv:2301.00001v12"),
    (":arxiv:`hep-th/9901001`", "hep-th/9901001", "arXiv:hep-th/9901001"),
    (":arxiv:`math.GT/0309136v1`", "math.GT/0309136v1", "arXiv:math.GT/0309136v1"),
    (":arxiv:`A -- \\`B\\` < C\n<math.GT/0309136>`", "math.GT/0309136", "A – `B` < C"),
]


def test_what_authors_type_becomes_the_link_to_arxiv(tmp_path: Path) -> None:
    text = (
        "\n\n".join(written for written, _, _ in ARXIV)
        + "\n\n:arxiv:`!2301.00009v1` :arxiv:`!T <2301.00009>`"
    )
    built = page(tmp_path, text, "doi_text = '{authors}'\n")
    shown = [(link.href, " ".join(link.text.split())) for link in built.links()]
    assert shown == [(f"https://arxiv.org/abs/{id_}", text) for _, id_, text in ARXIV]
    assert ">arXiv:2301.00009v1</span> " in built.text()
    assert ">T</span>" in built.text()
    assert built.warnings == ""


def test_exclamation_mark_makes_no_link(tmp_path: Path) -> None:
    built = page(tmp_path, ":doi:`!10.1000/1`; :doi:`!Title <10.1000/2>`; :doi:`!none`")
    assert built.links() == []
    assert "doi:10.1000/1" in built.text()
    assert "Title</span>" in built.text()
    assert "none</span>" in built.text()
    assert "!" not in built.text()[built.text().index("</h1>") : built.text().index("</section>")]
    assert built.warnings == ""


def test_classes_of_a_role_of_ones_own(tmp_path: Path) -> None:
    text = ":doi:`10.1/0`\n\n.. role:: paper(doi)\n\n.. role:: book(doi)\n   :class: one two\n\n"
    text += ":paper:`10.1/1` :book:`B <10.1/2>` :doi:`10.1/3`\n\n"
    text += ".. role:: late(doi)\n   :class: late\n\n:late:`10.1/4`"
    _, paper, book, plain, late = page(tmp_path, text).links()
    assert paper.classes == {"doi", "paper", "reference", "external"}
    assert book.classes == {"doi", "one", "two", "reference", "external"}
    assert plain.classes == {"doi", "reference", "external"}
    assert late.classes == {"doi", "late", "reference", "external"}


def test_default_role_and_substitutions(tmp_path: Path) -> None:
    text = "`10.1000/1` and |s|, |s|\n\n.. |s| replace:: see :doi:`10.1000/2`"
    links = page(tmp_path, text, "default_role = 'doi'\n").links()
    assert [link.text for link in links] == ["doi:10.1000/1", "doi:10.1000/2", "doi:10.1000/2"]


def test_in_a_translation(tmp_path: Path) -> None:
    catalogue = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgid "See :doi:`Title <10.1000/2>`."\nmsgstr "`Titel <doi:10.1000/2>`__ und :doi:`10.1000`."\n'
    )
    write(tmp_path / "src", {"locales/de/LC_MESSAGES/index.po": catalogue})
    built = page(tmp_path, "See :doi:`Title <10.1000/2>`.", "language = 'de'\n")
    assert [(link.href, link.text) for link in built.links()] == [("https://doi.org/10.1000/2", "Titel")]
    assert built.warnings.count("WARNING") == 1
    assert "index.rst:4" in built.warnings


def test_link_around_an_image(tmp_path: Path) -> None:
    good = "doi:10.1000/456%23789"
    text = f".. image:: a.png\n   :target: {good}\n\n.. image:: a.png\n   :target: doi:10.1000\n"
    text += "\n- .. image:: a.png\n     :target: doi:10.2000\n\n  Text\n"
    built = page(tmp_path, text, "suppress_warnings = ['image']\n")
    (link,) = built.links()
    assert link.href == "https://doi.org/10.1000/456%23789"
    assert "index.rst:8: WARNING: 'doi:10.1000' is not a DOI" in built.warnings
    assert "index.rst:11: WARNING: 'doi:10.2000' is not a DOI" in built.warnings
    assert built.warnings.count("WARNING") == 2
