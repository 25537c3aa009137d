"""Documents without DOIs are converted byte for byte as by plain Markdown."""

from pathlib import Path

import markdown
import markdown_doiuri
import pytest

EXTENSIONS = [[], ["extra", "codehilite", "toc", "smarty", "admonition", "sane_lists"]]
OWN = Path(__file__).with_name("syntax.md").read_text(encoding="utf-8")


def same(text: str, extensions: list[str]) -> bool:
    ours = markdown_doiuri.makeExtension(resolve=False, bare_names=True, tidy_links=True)
    return markdown.markdown(text, extensions=[*extensions, ours]) == markdown.markdown(
        text, extensions=extensions
    )


@pytest.mark.parametrize("extensions", EXTENSIONS, ids=["plain", "extended"])
def test_every_construct_of_markdown(extensions: list[str]) -> None:
    assert same(OWN, extensions)
    assert same(OWN.replace("\n", "\r\n"), extensions)


@pytest.mark.parametrize(
    "attribute", ['title="<doi:10.1000/182>"', "title='doi:10.1000/182'", 'alt="[x](doi:10.1000/1)"']
)
def test_attributes_are_none_of_ours(attribute: str) -> None:
    assert same(f"a <span {attribute}>b</span> c", [])
