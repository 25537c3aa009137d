"""Styles and items that several tests use."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import doiuri.citations
from doiuri_csl import Cite, Processor, Style

SHIPPED = sorted(Path(doiuri.citations.__file__).parent.glob("*.csl"))

AUTHOR_DATE = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <macro name="author"><names variable="author"><name form="short" and="symbol"/>
    <substitute><text variable="title" font-style="italic"/></substitute></names></macro>
  <macro name="year"><choose>
    <if variable="issued"><date variable="issued"><date-part name="year"/></date></if>
    <else><text term="no date" form="short"/></else></choose></macro>
  <citation et-al-min="3" et-al-use-first="1" collapse="year" disambiguate-add-year-suffix="true">
    <layout prefix="(" suffix=")" delimiter="; "><group delimiter=", ">
      <group delimiter=" "><text macro="author"/><text macro="year"/></group>
      <group delimiter=" "><label variable="locator" form="short"/><text variable="locator"/></group>
    </group></layout>
  </citation>
  <bibliography><sort><key macro="author"/><key variable="issued"/></sort>
    <layout suffix="."><group delimiter=". ">
      <names variable="author"><name name-as-sort-order="all"/></names>
      <text macro="year"/><text variable="title"/><text variable="page"/><text variable="DOI"/>
    </group></layout></bibliography>
</style>"""

NUMERIC = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <citation collapse="citation-number"><sort><key variable="citation-number"/></sort>
    <layout prefix="[" suffix="]" delimiter=", "><text variable="citation-number"/></layout></citation>
  <bibliography second-field-align="flush">
    <layout suffix="."><text variable="citation-number" prefix="[" suffix="]"/>
      <group delimiter=", "><names variable="author"/><text variable="title"/></group></layout></bibliography>
</style>"""

BAK = {
    "id": "bak",
    "type": "article-journal",
    "author": [{"family": "Bak", "given": "Per"}, {"family": "Tang", "given": "Chao"}],
    "title": "Self-organized criticality",
    "issued": {"date-parts": [[1987, 7]]},
    "page": "381-384",
    "DOI": "10.1103/PhysRevLett.59.381",
}
DOE = {
    "id": "doe",
    "type": "book",
    "author": [{"family": "Doe", "given": "Ann"}],
    "title": "Ants",
    "issued": {"date-parts": [[2001]]},
}
ANONYMOUS = {"id": "handbook", "type": "book", "title": "The Handbook"}


@cache
def parsed(xml: str) -> Style:
    """The style of a text; styles do not change, so each text is read once."""
    return Style.parse(xml)


def processor_of(
    xml: str, items: list[dict[str, Any]], citations: list[list[Cite]], **options: Any
) -> Processor:
    """A processor that knows its citations."""
    processor = Processor(parsed(xml), items, **options)
    processor.set_citations(citations)
    return processor


def style_of(layout: str, options: str = "", more: str = "") -> str:
    """A style with a layout for citations."""
    return (
        f'<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" {options}>{more}'
        f"<citation><layout>{layout}</layout></citation></style>"
    )
