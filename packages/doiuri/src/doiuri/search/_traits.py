"""What two descriptions of a work are compared by, and what agrees or contradicts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._patterns import lazy
from doiuri._text import plain_text
from doiuri.search._containers import is_meeting, may_be_same_container, same_container
from doiuri.works._csl import MAX_TEXT, Name, read_date
from doiuri.works._likeness import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from doiuri.works._work import Work

_DATES = ("issued", "published-print", "published-online")
_CONTAINERS = (
    "container-title",
    "container-title-short",
    "short-container-title",
    "event-title",
    "event",
)
# How the title of a work begins or ends that is about another work
_ABOUT = {
    "correction": lazy(
        r"(?:author |publisher )?(?:correction|corrigend|errat)|.* (?:corrigend|errat)\w+\Z"
    ),
    "comment": lazy(r"comments? (?:on|to)\b|.* comment\Z"),
    "reply": lazy(r"(?:authors? )?(?:reply|response to|rejoinder)\b|.* (?:reply|rejoinder)\Z"),
    "review": lazy(r"(?:book )?review of\b|.* book review\Z"),
    "retraction": lazy(
        r"(?:retraction|withdrawal) (?:note|notice|of)\b|(?:retraction|withdrawal)\Z"
    ),
    "addition": lazy(
        r".* (?:addendum|closure|commentary|discussion|supplement(?:ary (?:material|information|data))?"
        r"|(?:extended )?abstract|(?:authors?|editors?) note)\Z"
    ),
}
_VOLUME = lazy(r"(?:vol(?:ume)?\.? )?0*([0-9a-z]+)(?: [a-z]{3,})?")  # "5858 LNCS"
_PAGES = lazy(r"\s*(?:-+|[–—−])\s*|\s*[,;+]\s*")
_ZEROS = lazy(r"(?<![0-9])0+(?=[0-9])")
_OWN_RANGE = lazy(r"[1-9]-[0-9]{1,3}|[0-9]+:1-[0-9]+:[0-9]+")
_ARTICLE_NUMBER = lazy(r"[0-9]{5,}|[a-z]+[0-9]+|[0-9]+[a-z]+")
_PREPRINT_SERVER = lazy(
    r"arxiv|corr\b|\w*rxiv\b|preprint|ssrn|computing research repository|zenodo|osf"
)

_NUMBER_OF_PERSON = lazy(r" ?\b[0-9]{4}\b")
_IN_BRACKETS = lazy(r"\s*\(.*?\)")

_PARTS = frozenset(
    "article-journal article-magazine article-newspaper chapter entry entry-dictionary entry-encyclopedia"  # noqa: SIM905
    " paper-conference".split()
)
"""The types of works that are part of a journal or a book."""

_UNLIKE_OTHERS = frozenset({"dataset", "periodical", "review", "review-book", "software", "thesis"})
"""The types of works that often share title and author with a work of another type."""

_VAGUE = frozenset({"", "article", "document", "report", "webpage"})
"""The types of entries that say little."""


class Traits(NamedTuple):
    """What a description of a work says that others may say, too."""

    title: str  # with its subtitle
    about: str  # what it is if it is about another work: a correction, comment, reply, review or retraction
    first_name: Name | None  # the first author; if there are none, the first editor
    years: frozenset[int]  # of its publication in print and online
    type: str  # the type of CSL
    containers: tuple[str, ...]  # the titles of what it is part of
    volume: str  # folded; "" if there is none
    issue: str  # "" if there is none
    pages: str  # first and last page, or the first one
    article: str  # the number of an article without pages of the volume; "" if there is none

    @classmethod
    def of(cls, work: Work) -> Traits:
        """Return the traits of a work."""
        return cls.of_item(work, work.csl)

    @classmethod
    def of_item(cls, work: Work, item: Mapping[str, Any]) -> Traits:
        """Return the traits of a work that a search returned.

        :param item: its CSL-JSON with the members that Crossref adds
        """
        names = work.authors or work.editors
        first_name = _without_number(names[0]) if names else None
        dates = (read_date(item.get(member)) for member in _DATES)

        pages = _numbers(_first_text(item.get("page")))
        article = _numbers(_first_text(item.get("article-number") or item.get("number")))
        if not article and _ARTICLE_NUMBER.fullmatch(pages):
            article = pages

        about = _about(work.title)
        if not about and item.get("update-to"):
            about = "correction"
        return cls(
            title=work.title,
            about=about,
            first_name=first_name,
            years=frozenset(date[0] for date in dates if date),
            type=work.type,
            containers=tuple(filter(None, _texts(item, *_CONTAINERS))),
            volume=_volume(_first_text(item.get("volume"))),
            issue=_numbers(_first_text(item.get("issue"))),
            pages=pages,
            article=article,
        )

    @property
    def names_preprint_server(self) -> bool:
        """Whether all that it is part of is a server of preprints, which says little."""
        return all(_PREPRINT_SERVER.match(folded(container)) for container in self.containers)

    @property
    def begins_on_page_one(self) -> bool:
        """Whether it begins on page 1, as many works do."""
        return _first(self.pages) == "1"

    def agreements(self, other: Traits) -> Iterator[str]:
        """Yield what agrees: "volume", "page" and "container", in this order.

        In another container, volume and page have to agree both, or a page other than 1.
        """
        same_volume = self.volume != "" and self.volume == other.volume
        same_page = _agree_pages(self, other)
        is_elsewhere = self._is_elsewhere(other) and not (same_volume and same_page)

        # A volume of another journal is another volume
        if same_volume and not is_elsewhere:
            yield "volume"
        # Many works begin on page 1
        if same_page and not (is_elsewhere and self.begins_on_page_one):
            yield "page"
        if self._shares_container(other):
            yield "container"

    def _is_elsewhere(self, other: Traits) -> bool:
        """Return whether the containers are certainly different; a server of preprints does not count as one."""
        if not self.containers or not other.containers or self.names_preprint_server:
            return False
        pairs = product(self.containers, other.containers)
        return not any(may_be_same_container(one, another) for one, another in pairs)

    def _shares_container(self, other: Traits) -> bool:
        """Return whether a container is the same, perhaps abbreviated."""
        pairs = list(product(self.containers, other.containers))
        if {self.type, other.type} == {"article-journal", "paper-conference"}:
            # A conference may have the name of a journal: "Machine Learning"
            pairs = [pair for pair in pairs if is_meeting(pair[0]) == is_meeting(pair[1])]
        return any(same_container(one, another) for one, another in pairs)

    def contradicts(self, other: Traits) -> bool:
        """Return whether these cannot be traits of one work: one is a correction, say, or the volumes differ."""
        if self.about != other.about:
            return True
        if self.volume and other.volume and self.volume != other.volume:
            return True
        return (
            _contradict_pages(self, other)
            or _contradict_issues(self, other)
            or _are_other_people(self, other)
            or _contradict_types(self, other)
            or _contradict_types(other, self)
        )


def _without_number(name: Name) -> Name:
    """Return "Michael Katz" for "Michael Katz 0001": with such numbers, DBLP tells people of one name apart."""
    whole = str(name)
    if not _NUMBER_OF_PERSON.search(whole):
        return name
    given, _, family = _NUMBER_OF_PERSON.sub("", whole).rpartition(" ")
    return Name(family, given)


def _texts(item: Mapping[str, Any], *members: str) -> Iterator[str]:
    """Yield all texts in some members, each of which may be a text or a list."""
    for member in members:
        value = item.get(member)
        values = value if isinstance(value, list) else [value]
        for text in values:
            if isinstance(text, str):
                yield plain_text(text, MAX_TEXT)


def _first_text(value: object) -> str:
    """Return the first text in a member, which may be a text, a number or a list; "" if there is none."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        return ""
    return plain_text(value, MAX_TEXT)


def _about(title: str) -> str:
    """Return what a work is if its title says that it is about another one; "" if not."""
    words = folded(title)
    for kind, pattern in _ABOUT.items():
        if pattern.match(words):
            return kind
    return ""


def _volume(text: str) -> str:
    """Return the number of a volume: "5858" of "Vol. 5858 LNCS"; any other text is folded."""
    match = _VOLUME.fullmatch(text.casefold())
    return match[1] if match else folded(text)


def _numbers(text: str) -> str:
    """Return pages or the number of an article without zeros in front: "12-19" of "0012 – 0019 (8 pages)"."""
    pages = _PAGES.split(_IN_BRACKETS.sub("", text).strip().casefold())[:2]
    return "-".join(_ZEROS.sub("", page.strip(" .")) for page in pages if page.strip(" ."))


def _first(pages: str) -> str:
    """Return the first page: "61" of "61-70" and of "61:1-61:6"."""
    return pages.partition("-")[0].partition(":")[0]


def _counts_its_own(pages: str) -> bool:
    """Return whether an article counts its own pages, as "1-12" and "61:1-61:6", not those of the volume."""
    return _OWN_RANGE.fullmatch(pages) is not None


def _agree_pages(one: Traits, other: Traits) -> bool:
    """Return whether the first pages, or the numbers of the article, are the same.

    Many works begin on page 1, so there the last page has to be the same, too.
    """
    if one.article and one.article in {other.article, _first(other.pages)}:
        return True
    if other.article and other.article == _first(one.pages):
        return True
    if not one.pages or not other.pages:
        return False
    if "1" in {one.pages.partition("-")[0], other.pages.partition("-")[0]}:
        return one.pages == other.pages
    return _first(one.pages) == _first(other.pages)


def _contradict_pages(one: Traits, other: Traits) -> bool:
    """Return whether both have pages or the number of an article, and these differ.

    An article with a number may have pages of its own, such as "1-12": these say nothing.
    """
    if not (one.pages or one.article) or not (other.pages or other.article):
        return False
    if _agree_pages(one, other):
        return False
    has_article_number = bool(one.article or other.article)
    return not (has_article_number and (_counts_its_own(one.pages) or _counts_its_own(other.pages)))


def _contradict_issues(one: Traits, other: Traits) -> bool:
    """Return whether the issues differ; an issue that is wrong does not matter if the page is right."""
    are_numbers = one.issue.isdigit() and other.issue.isdigit()
    return are_numbers and one.issue != other.issue and not _agree_pages(one, other)


def _are_other_people(one: Traits, other: Traits) -> bool:
    """Return whether the first authors share the family name, but neither has the initial of the other.

    "R. E. Kahn" and "E. Kahn" may be one person, "R. Kahn" and "E. Kahn" are not.
    """
    first = one.first_name
    second = other.first_name
    if first is None or second is None or folded(first.family) != folded(second.family):
        return False
    first_initials = _initials_of(first)
    second_initials = _initials_of(second)
    if not first_initials or not second_initials:
        return False
    # "Юрий" is "Yuri" or "Jurij" in Latin letters
    if not (first_initials + second_initials).isascii():
        return False
    return first_initials[0] not in second_initials and second_initials[0] not in first_initials


def _initials_of(name: Name) -> str:
    return "".join(word[0] for word in folded(name.given).split())


def _contradict_types(one: Traits, other: Traits) -> bool:
    """Return whether the types differ so much that these are two works; it is also asked the other way round.

    One is a book and the other a part of one, or one is published and the other a preprint, data or a
    dissertation.
    """
    if one.type == "book" and other.type in _PARTS:
        return True
    is_published = bool(one.containers) and not one.names_preprint_server
    if other.type in _UNLIKE_OTHERS and other.type != one.type:
        return is_published or one.type not in _VAGUE
    is_preprint = other.type == "article" or (
        bool(other.containers) and other.names_preprint_server
    )
    return is_preprint and (is_published or one.type == "book")
