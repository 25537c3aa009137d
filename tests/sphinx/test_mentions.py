"""DOIs in running text, docstrings, MyST and translations become links."""

from __future__ import annotations

import re
from pathlib import Path

from support.checks import only
from support.servers.web import Site
from support.sphinx_build import build, page, project

MODULE = '''"""Waves.

References
----------
.. [#] Kahn, DOI: 10.1000/module, doi:10.bad
"""

def wave(doi="doi:10.1000/signature", *, kind: str = "10.1000/kind") -> "doi:10.1000/result":
    """Return a wave.

    :param doi: such as ``doi:10.1000/code``, of doi:10.1000/field
    :raises ValueError: see `doi:10.1000/title`

    >>> wave("doi:10.1000/doctest")
    """
'''
MYST = """# On doi:10.1000/title

See doi:10.1000/182[^1], https://doi.org/10.1000/url and **DOI:** 10.1000/185.
DOI:
10.1000/186, `doi:10.1000/code`, doi:10.1000/part*y*, doi:10.1000/line<br>doi:10.bad

:::{div} no-doi
doi:10.1000/off
:::

[^1]: doi:10.1000/note

```{eval-rst}
See doi:`10.1000/role`.
```
"""
EXTENSIONS = "extensions += ['sphinx.ext.autodoc', 'myst_parser']\nmyst_enable_extensions = ['colon_fence']\n"
PATH = "import sys\nsys.path.insert(0, str(__import__('pathlib').Path(__file__).parent))\n"


def test_docstrings_myst_and_restructuredtext_link_mentions(tmp_path: Path) -> None:
    module = f"waves_{tmp_path.name}"
    files = {
        f"{module}.py": MODULE,
        "myst.md": MYST,
        "off.md": "---\nno-doi: true\n---\n\n# Off\n\ndoi:10.1000/off\n",
        "on.md": "---\nno-doi: false\n---\n\n# On\n\ndoi:10.1000/on\n",
    }
    text = f".. toctree::\n\n   myst\n   off\n   on\n\n.. automodule:: {module}\n   :members:\n\n"
    text += ".. rst-class:: no-doi\n\ndoi:10.1000/off\n\n.. seealso:: doi:10.1000/seealso"
    built = page(tmp_path, text, f"{EXTENSIONS}{PATH}", **files)

    def shown(name: str) -> list[str]:
        return [link.text for link in built.links(name)]

    assert shown("index.html") == [
        "DOI: 10.1000/module",
        "doi:10.1000/field",
        "doi:10.1000/seealso",
    ]
    assert shown("myst.html") == [
        "doi:10.1000/title",
        "doi:10.1000/182",
        "10.1000/185",
        "10.1000/186",
        "doi:10.1000/line",
        "doi:10.1000/role",
        "doi:10.1000/note",
    ]
    assert shown("off.html") == []
    assert shown("on.html") == ["doi:10.1000/on"]
    told = [line.partition(": the ")[0] for line in built.told if "doi.syntax" in line]
    bad = "WARNING: 'doi:10.bad' is not a DOI"
    assert told == [f"myst.md:5: {bad}", f"{module}.py:5: {bad}"]


def test_each_option_links_what_it_names(tmp_path: Path) -> None:
    text = "doi:10.1000/182, 10.1000/183, https://doi.org/10.1000/184, doi:10.bad"
    files = {"page.md": f":orphan:\n\n# T\n\n{text}\n", "conf.py": ""}
    expected = {
        "doi_bare": ["doi:10.1000/182"],
        "doi_bare_names": ["10.1000/183"],
        "doi_bare_links": ["https://doi.org/10.1000/184"],
    }
    for name, linked in expected.items():
        switches = "".join(f"{other} = {other == name}\n" for other in expected)
        conf = f"extensions = ['sphinx_doiuri', 'myst_parser']\ndoi_resolve = False\n{switches}"
        built = page(tmp_path / name, "T", **{**files, "conf.py": conf})
        assert [link.text for link in built.links("page.html")] == linked, name
        assert ("doi.syntax" in built.warnings) == (name == "doi_bare"), name


CATALOGUE = (
    'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
    'msgid "See doi:10.1000/182, doi:10.bad."\nmsgstr "Siehe DOI: 10.1000/183 und doi:10.1000/182."\n'
)


def test_a_translation_links_its_own_mentions_and_catalogues_stay_the_same(tmp_path: Path) -> None:
    text = "See doi:10.1000/182, doi:10.bad."
    files = {"locales/de/LC_MESSAGES/index.po": CATALOGUE}
    built = page(tmp_path / "de", text, "language = 'de'", **files)
    assert [link.text for link in built.links()] == ["DOI: 10.1000/183", "doi:10.1000/182"]
    assert built.warnings == ""

    on, off = (
        build(
            project(tmp_path / switch, text, f"doi_bare = {switch}\n"), tmp_path / switch, "gettext"
        )
        for switch in ("True", "False")
    )
    messages = [built.text("index.pot").partition("#: ")[2] for built in (on, off)]
    assert messages[0] == messages[1]
    assert "doi:10.1000/182" in messages[0]


def test_the_default_role_after_a_label_makes_a_link_whatever_it_is(tmp_path: Path) -> None:
    for role in ("any", "py:obj", "code", "emphasis", "math"):
        text = "Kahn, doi:`10.1000/182`; DOI: `10.1000/a,b`."
        built = page(tmp_path / role.replace(":", ""), text, f"default_role = '{role}'\n")
        assert [link.text for link in built.links()] == ["doi:10.1000/182", "DOI: 10.1000/a,b"], (
            role
        )
        assert built.warnings == "", role


def test_mentions_are_listed_and_checked_and_stay_as_they_are_written(
    tmp_path: Path, server: Site
) -> None:
    text = "DOI: 10.5555/kahn-2006, doi:10.5555/lost\n\n.. doi:bibliography::\n   :links:\n"
    source = project(tmp_path, text, "doi_text = '{authors}'\ndoi_details = True\n")
    built = build(source, tmp_path / "out")
    written, lost, *_ = [link.text for link in built.links()]
    assert (written, lost) == ("DOI: 10.5555/kahn-2006", "doi:10.5555/lost")
    assert "Wilensky" in built.text().partition('<li class="csl-entry" id="doi-')[2]
    assert 'class="doi-card' in built.text()
    assert built.at == ["4: DOI not found: 10.5555/lost [doi.not-found]"]

    latex = build(source, tmp_path / "out", "latex")
    tex = only("TeX file", [path.read_text("utf-8") for path in latex.out.glob("*.tex")])
    assert r"\sphinxhref{https://doi.org/10.5555/kahn-2006}" in tex


def test_urls_beside_a_mention_are_links(tmp_path: Path) -> None:
    text = "See doi:10.1000/182 and https://doi.org/10.1000/183, or https://example.org/.\n"
    myst = {"a.md": f"# A\n\n{text}"}
    built = page(
        tmp_path, f".. toctree::\n\n   a\n\n{text}", "extensions += ['myst_parser']\n", **myst
    )

    urls = re.findall(r'<a class="[^"]*external" href="([^"]*)"', built.text().partition("See ")[2])
    assert urls[:3] == [
        "https://doi.org/10.1000/182",
        "https://doi.org/10.1000/183",
        "https://example.org/",
    ]
    assert [link.text for link in built.links("a.html")] == ["doi:10.1000/182"]
