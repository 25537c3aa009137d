"""Create, find and rewrite the nodes of links to DOIs.

sphinx-doiuri builds on this module, and so can other extensions of docutils. A link to a DOI is a
``docutils.nodes.reference`` whose attribute ``doi`` is a :class:`doiuri.DOI`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from docutils import nodes
from docutils.transforms.parts import ContentsFilter
from docutils.utils import unescape
from doiuri import DOI, DOISyntaxError, find
from doiuri.plugins import ARXIV_PATTERN, arxiv_doi, untrimmed, whole_name, with_suggestion
from doiuri.plugins.display import link_to_handle

from docutils_doiuri._lines import set_lines
from docutils_doiuri._mentions import link_mentions, visible_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from doiuri.plugins.options import Options

__all__ = [
    "ARXIV",
    "Cut",
    "Target",
    "cut_link",
    "doi_references",
    "follow_longer_name",
    "link_mentions",
    "link_uri",
    "longer_names",
    "parse_arxiv_target",
    "parse_target",
    "reference",
    "restore_contents",
    "role_node",
    "set_lines",
    "source_text",
]

# docutils writes a backslash escape as a NUL before the character
_OPENING = re.compile(r"(?<!\x00)<")
ARXIV = "https://arxiv.org/abs/"
"""What the links of the role ``arxiv`` begin with."""

_EPRINT = re.compile(ARXIV_PATTERN)


@dataclass(frozen=True, slots=True)
class Target:
    """What the text of a role refers to."""

    doi: DOI
    """The DOI."""
    typed: str
    """The DOI as the author typed it."""
    title: str | None = None
    """The explicit title; None if there is none."""
    url: str | None = None
    """The URL to link to; None for that of the DOI."""

    def text(self, options: Options) -> str:
        """Return the visible text: the title, or else the DOI in the form that ``options`` ask for."""
        return self.title if self.title is not None else options.display(self.doi)


def parse_target(text: str) -> Target:
    """Return the target of a role, from its text: ``10.1000/182`` or ``Title <10.1000/182>``.

    DOI names may contain angle brackets too (SICI). The target starts at the first ``<`` after which the
    text is a DOI; if there is none, the whole text is the name, as in ``10.1000/a<b>``.

    >>> parse_target("a < b <10.1000/182>")
    Target(doi=DOI('10.1000/182'), typed='10.1000/182', title='a < b', url=None)

    :param text: the text of the role, in which docutils marks backslash escapes by NUL characters.
    :raises doiuri.DOISyntaxError: if there is no DOI; the error is about the part in angle brackets if
        there is one.
    """
    error_in_brackets: DOISyntaxError | None = None
    if text.endswith(">"):
        for opening in _OPENING.finditer(text, 1):
            title = unescape(text[: opening.start()].rstrip())
            typed = unescape(text[opening.end() : -1]).strip()
            try:
                return Target(DOI.parse(typed), typed, title)
            except DOISyntaxError as error:
                error_in_brackets = error_in_brackets or error

    typed = unescape(text)
    try:
        return Target(DOI.parse(typed), typed)
    except DOISyntaxError as error:
        raise with_suggestion(error_in_brackets or error) from None


def parse_arxiv_target(text: str) -> Target:
    """Return the target of the role ``arxiv``, from its text: ``2301.00001v2`` or ``Title <hep-th/9901001>``.

    The link leads to the version that the author names. The DOI is that of all versions of the e-print.

    >>> parse_arxiv_target("math.GT/0309136v1").doi
    DOI('10.48550/arXiv.math/0309136')

    :param text: the text of the role, in which docutils marks backslash escapes by NUL characters.
    :raises doiuri.DOISyntaxError: if there is no arXiv identifier.
    """
    title = ""
    typed = text
    if text.endswith(">"):
        title, _, typed = text[:-1].rpartition("<")
    typed = unescape(typed).strip()
    match = _EPRINT.fullmatch(typed)
    if match is None:
        examples = "expected one such as 2301.00001, 2301.00001v2 or hep-th/9901001"
        raise DOISyntaxError(typed, 0, examples, kind="valid arXiv identifier")

    doi = arxiv_doi(match)
    identifier = match["identifier"]
    title = unescape(title.rstrip()) or f"arXiv:{identifier}"
    return Target(doi, doi.name, title, ARXIV + identifier)


def reference(
    rawtext: str, target: Target, options: Options, classes: Sequence[str] = ()
) -> nodes.reference:
    """Return the link to a target.

    :param rawtext: the source of the link.
    :param target: the DOI, and the title if there is one.
    :param options: the base URL of the link, and the form of its text.
    :param classes: classes in addition to ``doi``.
    """
    link = nodes.reference(
        rawtext,
        target.text(options),
        internal=False,
        refuri=target.url or target.doi.link(base=options.link),
        doi=target.doi,
        classes=["doi", *classes],
    )
    if target.title is None:
        link["support_smartquotes"] = False  # dashes and quotes are part of the name
    return link


def role_node(
    rawtext: str,
    text: str,
    options: Options,
    classes: Sequence[str] = (),
    parse: Callable[[str], Target] | None = None,
) -> nodes.Element:
    """Return the node of a role, by its text.

    - With a DOI: a link, whose attribute ``doi_typed`` is what the author typed.
    - With a ``!`` before it: its visible text without a link.
    - With a handle that is not a DOI: a link, as doi.org resolves it. The attribute ``doi_error`` says what is
      wrong.
    - With anything else: its source as *problematic* text, with ``doi_error``.

    :param rawtext: the source of the role.
    :param text: the text of the role.
    :param options: the base URL of the link, and the form of its text.
    :param classes: classes of the node.
    :param parse: what reads the text; None: ``parse_target``.
    """
    parse = parse or parse_target
    if text.startswith("!"):
        try:
            visible = parse(text[1:]).text(options)
        except DOISyntaxError:
            visible = unescape(text[1:])
        return nodes.inline(rawtext, visible, classes=[*classes], support_smartquotes=False)

    try:
        target = parse(text)
    except DOISyntaxError as error:
        node: nodes.Element = nodes.problematic(rawtext, rawtext)
        uri = link_to_handle(error, options.link)
        if uri is not None:
            title = unescape(text).rpartition("<")[0].rstrip() or error.text
            node = nodes.reference(rawtext, title, internal=False, refuri=uri, classes=[*classes])
        node["doi_error"] = str(error)
        return node

    link = reference(rawtext, target, options, classes)
    link["doi_typed"] = target.typed
    return link


def doi_references(document: nodes.Element) -> Iterator[nodes.reference]:
    """Yield the links to DOIs in a document or title; those of substitutions where these are used."""
    for link in document.findall(nodes.reference):
        in_substitution = isinstance(link.parent, nodes.substitution_definition)
        if isinstance(link.get("doi"), DOI) and not in_substitution:
            yield link


def restore_contents(document: nodes.document) -> None:
    """Copy titles that contain names to the table of contents again, after quotes were replaced there.

    The directive ``contents`` copies the text of a link without the attribute ``support_smartquotes``.

    :param document: the document; the names in its titles are as they were written.
    """
    titles: dict[str, nodes.title] = {}
    for title in document.findall(nodes.title):
        if any(doi_references(title)):
            titles |= dict.fromkeys(title.parent["ids"], title)
    if not titles:
        return

    for topic in document.findall(nodes.topic):
        if "contents" not in topic["classes"]:
            continue
        for entry in topic.findall(nodes.reference):
            id_ = entry.get("refid", "")
            if id_ in titles:
                text = ContentsFilter(document)
                titles[id_].walkabout(text)
                entry[:] = text.get_entry_text()


def link_uri(link: nodes.Element, options: Options) -> DOI | None:
    """Turn a reference to a ``doi:`` URI into a link, and return its DOI; None for any other reference.

    :param link: a reference or a target; a reference without text is given the DOI as its text.
    :param options: the base URL of the link, and the form of its text.
    :raises doiuri.DOISyntaxError: if the URI is not that of a DOI.
    """
    uri = link.get("refuri", "")
    if uri[:4].lower() != "doi:":
        return None
    try:
        doi = DOI.parse(uri)
    except DOISyntaxError as error:
        raise with_suggestion(error) from None
    link["refuri"] = doi.link(base=options.link)
    link["internal"] = False
    link["doi"] = doi
    link["classes"].append("doi")
    if isinstance(link, nodes.reference) and not link.children:
        link += nodes.Text(options.display(doi))
        link["support_smartquotes"] = False
    return doi


class Cut(NamedTuple):
    """What docutils left out of a link; ``str()`` is the sentence about it."""

    left_out: str
    """The end of the name, after the link."""
    doi: DOI
    """The DOI that was written."""

    @property
    def url(self) -> str:
        """The URL of the DOI with escapes, so that docutils ends it where the name ends."""
        url = self.doi.url
        if url[-1].isalnum() or url[-1] == "/":
            return url
        return f"{url[:-1]}%{ord(url[-1]):X}"  # a bracket or an underscore would not be linked

    def __str__(self) -> str:
        return f"the link ends before {self.left_out!r}; write {self.url}"


def cut_link(link: nodes.Element) -> Cut | None:
    """Return what docutils left out of a bare URL with a DOI, or None if it left out nothing.

    docutils ends a URL before ``<``, ``"``, ``|`` and other characters, which may be part of a name: of
    ``https://doi.org/10.1000/a<b`` it left out ``<b``.

    :param link: a reference.
    """
    if not _is_bare(link):
        return None

    text = link.astext()
    after_link = link.parent.index(link) + 1
    next_node = link.parent[after_link : after_link + 1]  # empty at the end of the text
    following_text = "".join(map(_name_text, next_node))
    match = next(find(text + following_text), None)
    if match is None or match.start > 0:
        return None
    left_out = match.text[len(text) :]
    if not left_out or left_out.startswith("\N{EN DASH}"):  # which is punctuation
        return None
    return Cut(left_out, match.doi)


def longer_names(link: nodes.Element) -> tuple[DOI, ...]:
    """Return the names that a bare URL with a DOI may mean if that does not exist; see ``untrimmed``.

    :param link: a reference.
    """
    if not _is_bare(link):
        return ()
    index = link.parent.index(link)
    # A bracket before the URL decides whether one after it belongs to the name
    character_before = "".join(map(_name_text, link.parent[:index]))[-1:]
    text = character_before + "".join(map(_name_text, link.parent[index:]))
    match = next(find(text), None)
    if match is None or match.text != link.astext():
        return ()
    return untrimmed(match.doi, text, match.start, match.end)


def follow_longer_name(
    link: nodes.Element, doi: DOI, statuses: Mapping[DOI, str], base: str
) -> DOI:
    """Make a link lead to the name that its mention means; return that.

    :param link: a reference, whose attribute ``doi_longer`` has the names that it may mean.
    :param doi: the DOI to which it leads.
    :param statuses: what is known of DOIs, as in ``Survey.statuses``.
    :param base: what the URL of the link begins with.
    """
    longer: tuple[DOI, ...] = link.attributes.pop("doi_longer", ())
    whole = whole_name(doi, longer, statuses)
    if whole != doi:
        link["refuri"] = whole.link(base=base)
        if "doi" in link:
            link["doi"] = whole
    return whole


def _is_bare(link: nodes.Element) -> bool:
    """Return whether a link is a URL of doi.org in running text."""
    text = link.astext()
    is_url = text == link.get("refuri") and "doi.org" in text.lower()
    # `https://doi.org/10.1000/1 <https://doi.org/10.1000/1>`_ has the same text and URI, but says where it ends.
    return is_url and link.parent is not None and "`" not in link.rawsource


def _name_text(node: nodes.Node) -> str:
    """Return the text of a node, in which an escaped blank ends a name."""
    return visible_text(node) if isinstance(node, nodes.Text) else node.astext()


def source_text(link: nodes.Element) -> str:
    """Return the source of a reference, to show instead of a link if its URI is not a DOI."""
    if link.rawsource.endswith("_"):  # reStructuredText
        return link.rawsource
    # MyST does not keep the source: only the text and the URI, percent-encoded
    text = link.astext()
    uri: str = link["refuri"]
    if not text or unquote(text) == unquote(uri):
        return text or uri
    return f"{text} <{uri}>"
