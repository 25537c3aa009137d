"""Works for tests of citations.

``RECORDS`` is a file of records with metadata, for ``resolver_for`` and the local proxy.

``RECORDED`` has styles with all kinds of attributes and elements, and what citeproc-js shows in them.

``hostile_records()`` has metadata that tries to run scripts.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from doiuri.citations import CitationItem
from support.cases import DATA
from support.servers.web import record

RECORDS = DATA / "references" / "records.json"


class Recorded(NamedTuple):
    """What citeproc-js shows in a style."""

    works: list[dict[str, Any]]
    cites: list[list[CitationItem]]
    case: dict[str, Any]
    template: str

    @property
    def locale(self) -> str:
        return str(self.case.get("locale", "en-US"))

    @property
    def style(self) -> str:
        """The name of one of our styles, or the content of a style."""
        return str(self.case["own"]) if "own" in self.case else self.template.format(**self.case)

    @property
    def lines(self) -> list[str]:
        """The entries, each after the id of its work, and the citations."""
        return [*self.case["list"], *self.case["shown"]]

    def __str__(self) -> str:
        return str(
            self.case.get("name")
            or f"{self.case['layout']} {self.case['citation']} {self.case['sort']}"
        )


_CITE = re.compile(
    r"""
    (?: (see)[ ] )?
    (-?)                                # without the author
    ([\w-]+?)                           # the key of the work
    (?: [ ](p\.|ch\.|§)[ ]([\w–, -]+?) )?  # a page, a chapter or a section
    (,?[ ]and[ ].*)?                    # a suffix
    """,
    re.VERBOSE,
)
_LABELS = {"p.": "page", "ch.": "chapter", "§": "section", None: ""}


def _cite(text: str) -> CitationItem:
    """Read a cite such as "see -a1 p. 7, and others"."""
    match = _CITE.fullmatch(text)
    assert match, text
    prefix, hidden, key, label, locator, suffix = match.groups(default="")
    return CitationItem(
        key, prefix, _LABELS[label or None], locator, suffix, no_author=bool(hidden)
    )


def _recorded(name: str) -> list[Recorded]:
    data = json.loads((DATA / "references" / name).read_text("utf-8"))
    cites = [[*map(_cite, texts)] for texts in data["citations"]]
    template = "\n".join(data["template"])
    defaults = data.get("defaults", {})
    return [Recorded(data["works"], cites, defaults | case, template) for case in data["styles"]]


RECORDED = [*_recorded("styles.json"), *_recorded("elements.json")]

_UPDATE = {"type": "retraction", "DOI": "10.5555/notice", "updated": {"date-parts": [[2020, 6, 5]]}}
RETRACTED = {
    "handle": "10.5555/gone",
    "values": [],
    "metadata": {
        "application/vnd.citationstyles.csl+json": {
            "title": "On cold fusion",
            "author": [{"family": "Doe"}],
            "updated-by": [_UPDATE],
        }
    },
}
"""A retracted work."""

OWN = "document.documentElement.lang='owned'"
ATTACKS = [
    f"<script>{OWN}</script>",
    f'"><img src=x onerror="{OWN}">',
    f"'><svg onload={OWN}>",
    f"&lt;script&gt;{OWN}&lt;/script&gt;",
    f"&amp;lt;script&amp;gt;{OWN}&amp;lt;/script&amp;gt;",
    f"[x](javascript:{OWN}) ![x](x){{: onerror={OWN} }}",
    f"{{: onclick={OWN} }}",
    "\x02wzxhzdk:0\x03 \x02klzzwxh:0000\x03 \x0260\x03script\x0262\x03",
    "\u202eevil\u202c \u2066x\u2069 \u200b",
    "///References Go Here/// [@doi:10.5555/x] doi:10.5555/y <doi:10.5555/z> `code` *stars* $x$",
    "\ud800 alone",
    f'" onfocus="{OWN}" autofocus tabindex="1" onmouseover="{OWN}" x="',
    f"`x <javascript:{OWN}>`_ |x| :raw-html:`<script>{OWN}</script>` {{doi}}`10.5555/x`",
    f"<x onmouseover={OWN} onclick={OWN}>M.</x>",
    f"<img src=x onerror={OWN} //",
    f"<<script>script>{OWN}<</script>/script>",
    f"long <img src=x onerror={OWN}> " * 200,
]
"""Titles and names; the last one has over 10 kB."""
AUTHORS = 3000
"""How many of them the work after those of ``ATTACKS`` has."""
HOSTILE = [f"10.5555/attack-{number}" for number in range(len(ATTACKS) + 1)]


_CONF = """extensions = ["sphinx_doiuri", "myst_parser"]
doi_details = True
doi_text = "{authors} ({year}): {title}"
"""
_ALL = ", ".join(HOSTILE)
HOSTILE_BOOK = {
    "conf.py": _CONF,
    "index.rst": f"""\
On :doi:t:`{_ALL}`
{"=" * 999}

:doi:p:`{_ALL}` {" ".join(f":doi:`{name}`" for name in HOSTILE)}

.. toctree::

   myst
   refs
""",
    "myst.md": f"# M\n\n{{doi:p}}`{_ALL}` {' '.join(f'[](doi:{name})' for name in HOSTILE)}\n\n"
    "```{doi:bibliography}\n```\n",
    "refs.rst": "R\n=\n\n.. doi:bibliography::\n   :scope: project\n\n"
    f":doi:`Many authors <{HOSTILE[-1]}>` and :doi:`a long title <{HOSTILE[-2]}>`\n",
}
"""A project of Sphinx that cites them all, with cards."""


def hostile_records() -> list[dict[str, Any]]:
    """A record for each attack, which is in every member and in the reference, and one with many authors."""
    texts = [*ATTACKS, ATTACKS[0]]
    return [_hostile_record(number, text) for number, text in enumerate(texts)]


def _hostile_record(number: int, attack: str) -> dict[str, Any]:
    person = {"family": attack, "given": attack}
    csl = {
        "title": attack,
        "author": [person, {"literal": attack}] if number < len(ATTACKS) else [person] * AUTHORS,
        "issued": {"date-parts": [[2000]]},
        "container-title": attack,
        "publisher": attack,
    }
    metadata: dict[str, object] = {"application/vnd.citationstyles.csl+json": csl}
    if number % 2 == 0:
        metadata["text/x-bibliography; style=apa"] = attack.replace("\ud800", "x")
    return {**record(HOSTILE[number], "https://example.org/"), "metadata": metadata}


RAISED = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <citation collapse="citation-number"><layout vertical-align="sup" delimiter=",">
    <text variable="citation-number"/>
  </layout></citation>
  <bibliography><layout><text variable="title"/></layout></bibliography>
</style>"""
"""A style whose citations are raised numbers."""

NOTES = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="note" version="1.0">
  <citation near-note-distance="2"><layout delimiter="; "><choose>
    <if position="ibid"><text term="ibid"/><text variable="locator" prefix=" "/></if>
    <else>
      <group delimiter=" ">
        <names variable="author"><name form="short"/></names>
        <choose>
          <if position="near-note"/>
          <else-if position="subsequent">
            <text value="above"/><text variable="first-reference-note-number" prefix="n. "/>
          </else-if>
          <else><text variable="title" font-style="italic"/></else>
        </choose>
        <text variable="locator"/>
      </group>
    </else>
  </choose></layout></citation>
  <bibliography><layout><text variable="title"/></layout></bibliography>
</style>"""
"""A style of notes that shows the position of each cite."""

LOOKS = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <citation><layout><group delimiter=" ">
    <names variable="author" font-variant="small-caps"><name form="short" and="symbol"/></names>
    <date variable="issued" text-decoration="underline"><date-part name="year"/></date>
    <text variable="locator" font-weight="light"/>
  </group></layout></citation>
  <bibliography><layout><group delimiter=" ">
    <text variable="container-title" font-style="italic"/>
    <text variable="volume" font-weight="light" text-decoration="underline"/>
    <text variable="issue" vertical-align="sup"/>
    <text variable="DOI" text-decoration="underline"/>
  </group></layout></bibliography>
</style>"""
"""A style that uses formats for which HTML, docutils and LaTeX have no elements of their own, too."""
ANTS = {
    "id": "ants",
    "DOI": "10.1000/ants",
    "title": "On ants",
    "author": [{"family": "Doe", "given": "Ann"}],
    "issued": {"date-parts": [[2001]]},
    "container-title": "Ants",
    "volume": "6",
    "issue": "2",
}
"""A work that such a style shows."""
