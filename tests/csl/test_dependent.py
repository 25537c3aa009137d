"""Dependent styles: CSL 1.0.2, Dependent Styles."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from csl.styles import BAK, NUMERIC, style_of
from doiuri_csl import Cite, CSLError, Processor, Style, to_text

ADDRESS = "http://www.zotero.org/styles/nature"
LAYOUT = '<names variable="author"><name form="short" and="text"/></names>'
PARENT = style_of(LAYOUT, 'default-locale="de-DE"', "<info><title>Nature</title></info>")


def dependent(address: str = ADDRESS, options: str = "") -> str:
    """A style that depends on another one."""
    return (
        f'<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" {options}>'
        f'<info><title>Nature Physics</title>\n<link rel="independent-parent" href="{address}"/></info></style>'
    )


def citation(style: Style) -> str:
    processor = Processor(style, [BAK])
    processor.set_citations([[Cite("bak")]])
    return to_text(processor.citation(0))


def write(folder: Path, **files: str) -> Path:
    """Write styles; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.csl").write_text(content, "utf-8")
    return folder


def test_a_dependent_style_has_the_layouts_of_its_parent_and_a_title_and_a_language_of_its_own(
    tmp_path: Path,
) -> None:
    english = dependent(options='default-locale="en-GB"')
    write(tmp_path, nature=PARENT, physics=dependent(), english=english)

    physics = Style.load(tmp_path / "physics.csl")
    in_english = Style.load(tmp_path / "english.csl")

    assert (physics.title, physics.parent) == ("Nature Physics", ADDRESS)
    assert physics.files == (tmp_path / "physics.csl", tmp_path / "nature.csl")
    assert (physics.default_locale, citation(physics)) == ("de-DE", "Bak und Tang")
    assert (in_english.default_locale, citation(in_english)) == ("en-GB", "Bak and Tang")


def test_an_independent_style_has_no_parent(tmp_path: Path) -> None:
    style = Style.load(write(tmp_path, nature=PARENT) / "nature.csl")

    assert (style.parent, style.files) == ("", (tmp_path / "nature.csl",))


LAYOUTS = {
    "beside it": (".", "."),
    "in Zotero's folder of styles that only others need": ("styles", "styles/hidden"),
    "in the CSL project's repository": ("styles/dependent", "styles"),
}


@pytest.mark.parametrize(("own", "parents"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_parent_is_found(
    own: str, parents: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / own, physics=dependent())
    write(tmp_path / parents, nature=PARENT)
    monkeypatch.chdir(tmp_path / own)

    assert citation(Style.load("physics.csl")) == "Bak und Tang"
    assert citation(Style.load(tmp_path / own / "physics.csl")) == "Bak und Tang"


def test_a_function_returns_the_parent(tmp_path: Path) -> None:
    asked = []

    def parent(address: str) -> str:
        asked.append(address)
        return PARENT

    write(tmp_path, physics=dependent(), nature=NUMERIC)

    assert citation(Style.parse(dependent(), parent)) == "Bak und Tang"
    assert citation(Style.load(tmp_path / "physics.csl", parent)) == "Bak und Tang"
    assert Style.parse(PARENT, parent).title == "Nature"
    assert asked == [ADDRESS, ADDRESS]


def error_of(path: Path) -> str:
    """What is wrong with a style, with the name of its file alone."""
    with pytest.raises(CSLError) as caught:
        Style.load(path)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_parent_that_is_missing_is_named_with_its_address(tmp_path: Path) -> None:
    write(tmp_path, physics=dependent())

    assert error_of(tmp_path / "physics.csl") == (
        f"physics.csl:2: <link>: depends on nature.csl, which is not in {tmp_path}; get it from {ADDRESS}"
    )


def test_what_is_wrong_with_a_parent_is_said_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, physics=dependent(), nature=style_of("\n<txt/>"))

    assert error_of(tmp_path / "physics.csl") == "nature.csl:2: <txt>: is not a rendering element"


def test_a_parent_is_independent(tmp_path: Path) -> None:
    write(tmp_path, nature=dependent())

    assert error_of(tmp_path / "nature.csl") == (
        "nature.csl:2: <link>: is the parent of a style, but depends on another one itself"
    )


def test_errors_in_what_a_function_returned_say_the_address() -> None:
    with pytest.raises(CSLError, match=f"^{ADDRESS}:2: <txt>: is not"):
        Style.parse(dependent(), lambda _: style_of("\n<txt/>"))
    with pytest.raises(CSLError, match=rf"^line 2: <link>: depends on '{ADDRESS}'; give its"):
        Style.parse(dependent())


OUTSIDE = [
    "http://x.org/..",
    "http://x.org/%2e%2e%2fnature",
    "http://x.org/Nature",
    "nature.csl",
    "",
]


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_names_no_other_folder(address: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "styles", physics=dependent(address))
    write(tmp_path, nature=PARENT)

    assert error_of(folder / "physics.csl") == (
        f"physics.csl:2: <link>: depends on {address!r}, which does not end in the name of a style"
    )


@pytest.mark.parametrize("linked", ["nature.csl", "hidden"])
def test_a_symbolic_link_does_not_leave_the_folder(linked: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "styles", physics=dependent())
    outside = write(tmp_path / "outside", nature=PARENT)
    inside = write(folder / "inside", nature=PARENT)
    link = folder / linked
    link.symlink_to(outside if linked == "hidden" else outside / "nature.csl")

    assert error_of(folder / "physics.csl") == (
        f"physics.csl:2: <link>: depends on nature.csl, a symbolic link that leaves {folder}"
    )

    link.unlink()
    link.symlink_to(inside if linked == "hidden" else inside / "nature.csl")
    assert citation(Style.load(folder / "physics.csl")) == "Bak und Tang"
    shutil.rmtree(inside)
    assert "which is not in" in error_of(folder / "physics.csl")
