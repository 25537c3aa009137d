"""Documents without DOIs are converted byte for byte as by plain Markdown."""

from importlib import metadata
from pathlib import Path

import markdown
import markdown_doiuri
import pytest

EXTENSIONS = [[], ["extra", "codehilite", "toc", "smarty", "admonition", "sane_lists"]]


def documents() -> dict[str, str]:
    """The Markdown descriptions of a few installed packages."""
    found = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("METADATA") or ""
        head, _, body = text.partition("\n\n")
        name = distribution.name
        if 2_000 < len(body) < 10_000 and "doiuri" not in name and "text/markdown" in head:
            found[name] = body
    return dict([*found.items()][:10])


DOCUMENTS = documents()
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


@pytest.mark.parametrize("extensions", EXTENSIONS, ids=["plain", "extended"])
def test_documents_of_installed_packages(extensions: list[str]) -> None:
    assert len(DOCUMENTS) >= 5
    assert [name for name, text in DOCUMENTS.items() if not same(text, extensions)] == []


@pytest.mark.parametrize(
    "attribute", ['title="<doi:10.1000/182>"', "title='doi:10.1000/182'", 'alt="[x](doi:10.1000/1)"']
)
def test_attributes_are_none_of_ours(attribute: str) -> None:
    assert same(f"a <span {attribute}>b</span> c", [])
