"""Entries of BibTeX and BibLaTeX as items of CSL-JSON."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from contextlib import suppress
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._text import is_web
from doiuri.bibtex import entries, names
from doiuri.citations._style import ENGLISH, locale_of
from doiuri.tex import plain_text, rich_text, unknown_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from doiuri.bibtex import BibTeXEntry

    Fields = Mapping[str, str]


def bibtex_items(
    file: Path, text: str, language: str, report: Callable[[str], object]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of a file as items of CSL-JSON, each with its line.

    1. All entries are read first, since one may refer to another that follows it.
    2. In the order of the file, each entry is checked, and so is the text before it. A broken entry is left out.
    3. An entry gets the fields that it lacks from the entries that it refers to (``_with_inherited``).
    4. The fields become members of an item, and TeX becomes CSL's rich text (``_item``). Commands of TeX that are
       not known stay as they are written, and are reported once a file.

    :param language: the language of entries that do not say theirs
    :param report: called with each problem, in the order of the file
    """
    line_of = line_finder(text)
    located_entries: list[_LocatedEntry] = []
    by_key: dict[str, _LocatedEntry] = {}
    for entry in entries(text):
        line = line_of(entry.start)
        located = _LocatedEntry(entry, line, f"{file}:{line}: {entry.key or 'the entry'}")
        located_entries.append(located)
        if entry.is_closed:
            by_key.setdefault(entry.key.lower(), located)

    end = 0  # of the entry before
    reported_commands: set[str] = set()
    for located in located_entries:
        entry = located.entry
        for problem in _problems_between(file, text, (end, entry.start), line_of):
            report(problem)
        end = entry.end
        if not entry.is_closed:
            report(f"{located.place}: {_expected(entry)}, so it is left out; is a brace missing?")
            continue
        following_field = _FIELD_AFTER_ENTRY.match(text, end)
        if following_field is not None:
            early = f"the entry ends before the field {following_field['name']!r}"
            report(f"{located.place}: {early}; is there a brace too many?")

        fields = _with_inherited(located, by_key, report)
        for command in _unknown_commands(fields):
            if command not in reported_commands:
                reported_commands.add(command)
                unknown = f"the TeX command {command} is not known, so it stays as it is written"
                report(f"{located.place}: {unknown}")
        yield located.line, _item(entry, fields, language)
    for problem in _problems_between(file, text, (end, len(text)), line_of):
        report(problem)


def _expected(entry: BibTeXEntry) -> str:
    """Return what was expected where an entry breaks off."""
    last_field = next(reversed(entry.fields), None)
    after = "" if last_field is None else f" after the field {last_field!r}"
    return f"expected a field or the end of the entry{after}"


class _LocatedEntry(NamedTuple):
    """An entry and where it is."""

    entry: BibTeXEntry
    line: int
    place: str  # file, line and key, with which messages begin


def line_finder(text: str) -> Callable[[int], int]:
    """Return a function that returns the line of a position in a text."""
    ends = [match.start() for match in re.finditer("\n", text)]
    return lambda position: bisect_left(ends, position) + 1


_FIELD_AFTER_ENTRY = re.compile(r"\s*,\s*(?P<name>[A-Za-z][\w-]*)\s*=")
# A line that begins like an entry, but is none: "@book key, title = ..." or "@ book"
_NO_ENTRY = re.compile(
    r"""
    ^ [ \t]* @
    (?! [ \t]* (?: comment\b | [a-z][\w-]* \s* [{(] ) )
    [^\r\n]*
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def _problems_between(
    file: Path, text: str, span: tuple[int, int], line_of: Callable[[int], int]
) -> Iterator[str]:
    """Yield a message for each line between two entries that begins like an entry, but is none."""
    start, end = span
    for no_entry in _NO_ENTRY.finditer(text[start:end]):
        line = line_of(start + no_entry.start())
        written = f"{no_entry[0].strip()!r:.80}"
        yield f"{file}:{line}: expected an entry such as @book{{key, …}}, not {written}"


# A part has an address of its own
_NOT_INHERITED = frozenset(
    {
        "doi",
        "url",
        "urldate",
        "eprint",
        "eprinttype",
        "archiveprefix",
        "pmid",
        "pmcid",
        "shorttitle",
    }
)


def _with_inherited(
    located: _LocatedEntry, by_key: Mapping[str, _LocatedEntry], report: Callable[[str], object]
) -> Fields:
    """Return the fields of an entry, and those that it lacks of the entries that it refers to.

    Those may refer to others in turn; the nearest entry with a field counts (BibLaTeX manual, section 2.4.1 and
    appendix B). A field ``xdata`` hands on fields as they are. With ``crossref``, the entry is a part of a whole:
    the ``title`` of the book is its ``booktitle``, and the book's DOI is not its own.

    :param report: called for each reference to an entry that the file does not have, or that is broken
    """
    part = located.entry
    fields = dict(part.fields)
    followed = [located]
    to_follow = deque(followed)
    while to_follow:
        for referring_field, parent in _parents(to_follow.popleft(), by_key, report):
            if parent in followed:
                continue
            followed.append(parent)
            to_follow.append(parent)
            for name, value in parent.entry.fields.items():
                if referring_field == "xdata":
                    fields.setdefault(name, value)
                elif name not in _NOT_INHERITED:
                    fields.setdefault(_name_in_part(name, part, parent.entry), value)
    return fields


def _parents(
    located: _LocatedEntry, by_key: Mapping[str, _LocatedEntry], report: Callable[[str], object]
) -> Iterator[tuple[str, _LocatedEntry]]:
    """Yield the entries that an entry refers to, each with the name of the field: ("crossref", entry)."""
    for field in ("crossref", "xdata"):
        for written_key in located.entry.fields.get(field, "").split(","):
            key = written_key.strip()
            if not key:
                continue
            parent = by_key.get(key.lower())
            if parent is None:
                report(f"{located.place}: {field} names no entry of the file: {key!r}")
                continue
            yield field, parent


def _name_in_part(name: str, part: BibTeXEntry, whole: BibTeXEntry) -> str:
    """Return the name that a field of a whole, such as a book, has in a part of it.

    The title of a book is the ``booktitle`` of a chapter, and that of a journal's issue the ``journaltitle`` of an
    article.
    """
    if name not in {"title", "subtitle", "titleaddon"}:
        return name
    if whole.type.startswith("mv"):  # of several volumes
        return f"main{name}"
    return f"journal{name}" if part.type == "article" else f"book{name}"


def _table(lines: str) -> dict[str, list[str]]:
    """Return a table whose lines begin with a key: "volume vol" is {"volume": ["vol"]}."""
    table = {}
    for line in filter(None, lines.splitlines()):
        key, *values = line.split()
        table[key] = values
    return table


def _inverted_table(lines: str) -> dict[str, str]:
    """Return a table whose lines begin with a value: "thesis phdthesis" is {"phdthesis": "thesis"}."""
    table = {}
    for value, keys in _table(lines).items():
        table.update(dict.fromkeys(keys, value))
    return table


# CSL's types, and the types of entries that are of them; others have the same name in CSL, or are unknown to it
_TYPES = _inverted_table("""
    article-journal article suppperiodical
    book collection manual mvbook mvcollection mvproceedings mvreference proceedings reference
    chapter inbook bookinbook incollection suppbook suppcollection
    entry-encyclopedia inreference
    graphic artwork image
    legal_case jurisdiction
    manuscript unpublished
    motion_picture movie video
    pamphlet booklet
    paper-conference inproceedings conference
    personal_communication letter
    report techreport
    song audio music
    thesis phdthesis mastersthesis
    treaty legal
    webpage online electronic www
""")
# CSL's members, and the fields that they come from; of several, the first one counts that an entry has
_MEMBERS = _table("""
    container-title journaltitle journal booktitle maintitle
    container-title-short shortjournal
    collection-title series
    publisher-place address location
    edition edition
    volume volume
    part-number part
    number-of-volumes volumes
    number-of-pages pagetotal
    chapter-number chapter
    page pages eid
    version version
    ISBN isbn
    ISSN issn
    PMID pmid
    PMCID pmcid
    event-title eventtitle
    event-place venue
    volume-title issuetitle
    title-short shorttitle
""")
_PUBLISHERS = ["school", "institution", "organization", "howpublished", "publisher"]
_ROLES = {
    "author": "author",
    "editor": "editor",
    "translator": "translator",
    "bookauthor": "container-author",
}
_DATES = {"urldate": "accessed", "eventdate": "event-date", "origdate": "original-date"}
_GENRES = {
    "phdthesis": "PhD thesis",
    "mathesis": "Master’s thesis",
    "mastersthesis": "Master’s thesis",
    "techreport": "technical report",
    "resreport": "research report",
}
_SOURCES = [source for sources in _MEMBERS.values() for source in sources]
_TITLES = [source for source in _SOURCES if source.endswith("title")]
# Not those for links, in which a backslash is no TeX
_SHOWN_FIELDS = frozenset(
    [
        *_SOURCES,
        *"title subtitle titleaddon issue number type day month year date".split(),  # noqa: SIM905
        *(source.replace("title", "subtitle") for source in _TITLES),
        *(f"{source}addon" for source in _TITLES),
        *_PUBLISHERS,
        *_ROLES,
        *_DATES,
    ]
)
_URL = re.compile(r"https?://[^\s{}]+")
_DASHES = re.compile(r"\s*[-‐‑–—−]+\s*")  # hyphens, dashes, a minus sign


def _item(entry: BibTeXEntry, fields: Fields, language: str) -> dict[str, Any]:
    """Return an entry as an item of CSL-JSON, without empty members.

    Most members are the text of a field (``_MEMBERS``). The others, which depend on several fields, replace them:
    the name of a journal, for instance, replaces the macro that stands for it.

    :param fields: its fields, also those that it inherits
    :param language: its language if no field says it
    """
    stated_language = _language(fields)
    is_english = (stated_language or language).lower().startswith("en")
    type_ = _TYPES.get(entry.type, entry.type)
    item: dict[str, Any] = {"id": entry.key, "type": type_}
    for member, sources in _MEMBERS.items():
        item[member] = _first_text(fields, sources)

    item["page"] = _DASHES.sub("-", item["page"])
    item["edition"] = _edition(item["edition"], stated_language or language)
    item["publisher"] = _publisher(fields)
    item["language"] = stated_language
    item["issued"] = _issued(fields)
    item["genre"] = _genre(entry, fields)
    item |= _journal(fields)
    item |= _titles(type_, fields, is_english=is_english)
    item |= _numbers(type_, fields)
    item |= _links(fields)
    for source, role in _ROLES.items():
        item[role] = names(fields.get(source, ""))
    for source, member in _DATES.items():
        item[member] = _date(fields.get(source, ""))
    return {member: value for member, value in item.items() if value}


def _unknown_commands(fields: Fields) -> Iterator[str]:
    r"""Yield the commands of TeX that are not known, in the fields that are shown.

    The macro of a journal, such as ``\mnras``, is known in its own field alone.
    """
    journal = _journal(fields)
    for name, tex in fields.items():
        is_macro = journal and name in {"journal", "journaltitle"}
        if name in _SHOWN_FIELDS and not is_macro:
            yield from unknown_commands(tex)


def _first_text(fields: Fields, sources: list[str]) -> str:
    """Return the text of the first field that has any; "" if none has."""
    for source in sources:
        text = _title(fields, source)
        if text:
            return text
    return ""


def _title(fields: Fields, name: str, *, sentence_case: bool = False) -> str:
    """Return the text of a field; of a title, with its subtitle and its addition: "Ants: a study. Volume 2"."""
    title = rich_text(fields.get(name, ""), sentence_case=sentence_case)
    if not name.endswith("title"):
        return title

    subtitle_name = name.replace("title", "subtitle")
    for part_name, mark in ((subtitle_name, ":"), (f"{name}addon", ".")):
        part = rich_text(fields.get(part_name, ""), sentence_case=sentence_case)
        if not part:
            continue
        separator = "" if title.endswith(("?", "!", ":", ".", "…")) else mark
        title = f"{title}{separator} {part}"
    return title


def _titles(type_: str, fields: Fields, *, is_english: bool) -> dict[str, str]:
    """Return the title of an entry, and that of the book that it is part of.

    They get sentence case in English. Titles of journals and series stay: they are names.

    A book of several volumes has a main title. An entry of a volume has that as its title, and its own title is
    CSL's ``volume-title``; for a chapter, it is the title of the container.
    """
    title = _title(fields, "title", sentence_case=is_english)
    # The title of proceedings is the name of a conference, often with its month and its place
    is_book = type_ != "paper-conference"
    book_title = _title(fields, "booktitle", sentence_case=is_english and is_book)
    main_title = _title(fields, "maintitle", sentence_case=is_english)

    if main_title and book_title:  # a chapter
        return {"title": title, "container-title": main_title, "volume-title": book_title}
    if main_title and title and type_ == "book":  # a volume
        return {"title": main_title, "container-title": "", "volume-title": title}
    is_in_journal = "journaltitle" in fields or "journal" in fields
    if not book_title or is_in_journal:
        return {"title": title}
    return {"title": title, "container-title": book_title}


def _journal(fields: Fields) -> dict[str, str]:
    r"""Return the names of a journal that a macro such as ``\mnras`` stands for."""
    tex = fields.get("journaltitle") or fields.get("journal") or ""
    macro = _JOURNAL_MACRO.fullmatch(tex)
    if macro is None or macro["name"] not in _JOURNALS:
        return {}
    journal = _JOURNALS[macro["name"]]
    return {"container-title": journal.name, "container-title-short": journal.short}


_LATER_ORDINALS = (  # CSL has terms up to the tenth
    "eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"  # noqa: SIM905
    " twentieth".split()
)
_WORDS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")
_EDITION = re.compile(r"\b(?:ed|éd|aufl|ausg)", re.IGNORECASE)


def _edition(text: str, language: str) -> str:
    """Return an edition as CSL has it: "2" for "Second", "Revised ed." for "Revised".

    BibTeX adds the word "edition" to any text, and documents ordinals such as "Second" (btxdoc, section 3.2); CSL
    adds it to numbers alone.
    """
    number = _ordinals(language).get(text.casefold().rstrip("."))
    if number is not None:
        return number
    lacks_edition = _WORDS.fullmatch(text) is not None and _EDITION.search(text) is None
    if lacks_edition and language.lower().startswith("en"):
        return f"{text} {locale_of(ENGLISH).term('edition', 'short')}"
    return text


@cache
def _ordinals(language: str) -> dict[str, str]:
    """Return the numbers of the ordinals in English and another language: {"second": "2", "zweite": "2", …}."""
    ordinals = {word: str(number) for number, word in enumerate(_LATER_ORDINALS, 11)}
    locales = [locale_of(ENGLISH)]
    with suppress(ValueError):  # a language without a locale
        locales.append(locale_of(language))
    for locale, number, gender in product(locales, range(1, 11), ("", "/feminine", "/masculine")):
        word = locale.term(f"long-ordinal-{number:02}{gender}")
        ordinals[word.casefold()] = str(number)
    ordinals.pop("", None)
    return ordinals


def _publisher(fields: Fields) -> str:
    """Return the school, institution, publisher and so on, joined by "; "; a field with a URL is none of them."""
    texts = [fields[name] for name in _PUBLISHERS if name in fields]
    return "; ".join(rich_text(text) for text in texts if not _URL.search(text))


def _genre(entry: BibTeXEntry, fields: Fields) -> str:
    """Return the kind of a report or thesis, such as "PhD thesis"; "" if it says no more than the type of CSL."""
    genre = fields.get("type", "")
    if not genre and entry.type.endswith("thesis"):
        genre = entry.type
    if genre == "thesis":
        return ""
    return _GENRES.get(genre) or plain_text(genre)


def _numbers(type_: str, fields: Fields) -> dict[str, str]:
    """Return what the field ``number`` is: the issue of an article, a book's number in a series, or its own."""
    number = plain_text(fields.get("number", ""))
    issue = plain_text(fields.get("issue", ""))
    if type_.startswith("article"):
        return {"issue": number or issue}
    if "series" in fields and type_ in {"book", "chapter", "paper-conference"}:
        return {"collection-number": number, "issue": issue}
    return {"number": number, "issue": issue}


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})", re.IGNORECASE)
_SEASONS = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
_NUMBER = re.compile(r"\b[0-3]?[0-9]\b")
_FIRST_SEASON = 21  # in place of a month, in ISO 8601-2, section 4.8
# A date of BibLaTeX (manual, section 2.3.8, and ISO 8601-2)
_MOMENT = re.compile(
    r"""
    (?P<year> -? \d{4} ) (?: - (?P<month> \d\d ) (?: - (?P<day> \d\d ) )? )?
    (?: T [\d:]+ (?: Z | [+-] [\d:]+ )? )?     # a time, which no list shows
    (?P<doubt> [?~%]? )                        # uncertain, approximate, or both
    """,
    re.VERBOSE,
)


def _issued(fields: Fields) -> Any:
    """Return the date of publication: ``date`` of BibLaTeX, or ``year`` and ``month`` of BibTeX.

    What is neither a date nor a year, such as "in press", stays as it is.
    """
    if fields.get("date"):
        return _date(fields["date"])
    year = plain_text(fields.get("year", ""))
    is_year = re.fullmatch("[0-9]{1,4}", year) is not None and int(year) > 0
    if not is_year:
        return _date(year)
    return _date_in_fields(int(year), plain_text(fields.get("month", "")), fields.get("day", ""))


def _date_in_fields(year: int, month: str, day: str) -> dict[str, Any]:
    """Return the date in the fields ``year``, ``month`` and ``day``.

    A month may be a season, hold days ("10--12 mar") or be two ("jan/feb").
    """
    season = _SEASONS.get(month.lower())
    if season is not None:
        return {"date-parts": [[year]], "season": season}

    months = [_MONTHS.index(name.lower()) + 1 for name in _MONTH.findall(month)]
    numbers = [int(number) for number in _NUMBER.findall(f"{month} {plain_text(day)}")]
    if not months:  # "7" and perhaps a day
        return {"date-parts": [[year, *numbers[:2]]]}
    if len(months) == 2 and len(numbers) != 2:  # "jan/feb"; "30 jan--2 feb" has two days
        return {"date-parts": [[year, months[0]], [year, months[1]]]}

    # One day or none: both ends are the same. "10--12 mar" has one month for its two days
    first = [year, months[0], *numbers[:1]]
    last = [year, months[-1], *numbers[-1:]]
    return {"date-parts": [first] if first == last else [first, last]}


def _date(text: str) -> Any:
    """Return a date of BibLaTeX ("2004-05", "2004-21" for spring, "2004~") or a period ("2004/2005").

    Any other text is a literal date; without any, "" is returned.
    """
    moments = [_MOMENT.fullmatch(moment.strip()) for moment in text.split("/")]
    known = [moment for moment in moments if moment is not None]
    if len(known) < len(moments) or len(known) > 2:
        return _literal_date(text)

    dates = [_date_parts(moment) for moment in known]
    date: dict[str, Any] = {"date-parts": dates}
    first = dates[0]
    if len(dates) == 1 and len(first) > 1 and first[1] >= _FIRST_SEASON:
        date["season"] = first.pop() - _FIRST_SEASON + 1
    if any(moment["doubt"] for moment in known):
        date["circa"] = True
    return date


def _literal_date(text: str) -> Any:
    """Return text as a date; a period without an end, such as "2004/" or "2004/..", becomes "2004–"."""
    literal = plain_text(text)
    is_open_period = re.search(r"\d/(?:\.\.)?$|^(?:\.\.)?/\d", literal) is not None
    if is_open_period:
        literal = literal.replace("..", "").replace("/", "–")
    return {"literal": literal} if literal else ""


def _date_parts(moment: re.Match[str]) -> list[int]:
    """Return the year, the month and the day, as far as they are known.

    1 BC is the year 0 in ISO 8601, and -1 in CSL.
    """
    year = int(moment["year"])
    if year <= 0:
        year -= 1
    parts = [year]
    if moment["month"]:
        parts.append(int(moment["month"]))
    if moment["day"]:
        parts.append(int(moment["day"]))
    return parts


_TILDE = re.compile(r"(?<!\\)~")
_EPRINTS = {"arxiv": "https://arxiv.org/abs/", "pubmed": "https://pubmed.ncbi.nlm.nih.gov/"}


def _links(fields: Fields) -> dict[str, str]:
    """Return the DOI and the URL: the field's, one in ``howpublished``, or that of a preprint or an abstract."""
    addresses = [
        _verbatim(fields.get("url", "")),
        *_URL.findall(_verbatim(fields.get("howpublished", ""))),
        *_eprints(fields),
    ]
    return {"DOI": _verbatim(fields.get("doi", "")), "URL": next(filter(is_web, addresses), "")}


def _eprints(fields: Fields) -> Iterator[str]:
    """Yield the addresses of a preprint and of an abstract; an eprint without a server is arXiv's."""
    if "eprint" in fields:
        server = fields.get("eprinttype") or fields.get("archiveprefix") or "arxiv"
        yield _EPRINTS.get(server.lower(), "") + _verbatim(fields["eprint"])
    if "pmid" in fields:
        yield _EPRINTS["pubmed"] + _verbatim(fields["pmid"])


def _verbatim(tex: str) -> str:
    """Return a text whose "~" and dashes are no TeX."""
    return plain_text(_TILDE.sub(r"\\textasciitilde{}", tex).replace("--", "-{}-"))


def _language(fields: Fields) -> str:
    """Return the language of an entry as a code such as "de", or as it is written; "" if no field says it."""
    stated = fields.get("langid") or fields.get("hyphenation") or fields.get("language") or ""
    name = plain_text(stated)
    code = _LANGUAGES.get(name.lower())
    if code is None and name.lower().startswith("english"):  # such as "English (US)"
        return "en"
    return code or name


# The names of babel and polyglossia, which BibLaTeX's field langid has, as codes of BCP 47
_LANGUAGES = _inverted_table("""
    af afrikaans
    ar arabic
    bg bulgarian
    ca catalan
    cs czech
    cy welsh
    da danish
    de german ngerman
    de-AT austrian naustrian
    de-CH swissgerman nswissgerman
    el greek
    en english eng
    en-AU australian
    en-CA canadian
    en-GB british ukenglish
    en-NZ newzealand
    en-US american usenglish
    eo esperanto
    es spanish
    et estonian
    eu basque
    fa persian farsi
    fi finnish
    fr french francais
    fr-CA acadian canadien
    ga irish
    gl galician
    he hebrew
    hi hindi
    hr croatian
    hu hungarian magyar
    id indonesian bahasai
    is icelandic
    it italian
    ja japanese
    ko korean
    la latin
    lt lithuanian
    lv latvian
    nb norsk norwegian
    nl dutch
    nn nynorsk
    pl polish
    pt portuguese portuges
    pt-BR brazil brazilian
    ro romanian
    ru russian
    sk slovak
    sl slovene slovenian
    sr serbian serbianc
    sv swedish
    th thai
    tr turkish
    uk ukrainian
    vi vietnamese
    zh chinese
""")


class _Journal(NamedTuple):
    """The name of a journal, and its abbreviation."""

    name: str
    short: str


def _journals(lines: str) -> dict[str, _Journal]:
    """Return journals by their macros; a line is "nat | Nature | Nature": macro, name, short name."""
    journals = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        macro, name, short = line.split(" | ")
        journals[macro] = _Journal(name, short)
    return journals


_JOURNAL_MACRO = re.compile(r"[\s{]*\\(?P<name>[a-z]+)[\s{}]*")
# The macros of AASTeX, in which the Astrophysics Data System exports the names of journals
_JOURNALS = _journals(r"""
    aj | The Astronomical Journal | AJ
    apj | The Astrophysical Journal | ApJ
    apjl | The Astrophysical Journal Letters | ApJL
    apjs | The Astrophysical Journal Supplement Series | ApJS
    psj | The Planetary Science Journal | PSJ
    baas | Bulletin of the American Astronomical Society | BAAS
    rnaas | Research Notes of the AAS | RNAAS
    maps | Meteoritics & Planetary Science | Meteorit. Planet. Sci.
    aap | Astronomy & Astrophysics | A&A
    aapr | The Astronomy and Astrophysics Review | A&A Rev.
    aaps | Astronomy and Astrophysics Supplement Series | A&AS
    an | Astronomische Nachrichten | Astron. Nachr.
    actaa | Acta Astronomica | Acta Astron.
    zap | Zeitschrift für Astrophysik | Z. Astrophys.
    bain | Bulletin of the Astronomical Institutes of the Netherlands | Bull. Astron. Inst. Netherlands
    bac | Bulletin of the Astronomical Institutes of Czechoslovakia | Bull. Astron. Inst. Czechosl.
    mnras | Monthly Notices of the Royal Astronomical Society | MNRAS
    memras | Memoirs of the Royal Astronomical Society | MmRAS
    qjras | Quarterly Journal of the Royal Astronomical Society | QJRAS
    jrasc | Journal of the Royal Astronomical Society of Canada | JRASC
    memsai | Memorie della Società Astronomica Italiana | Mem. Soc. Astron. Italiana
    pasa | Publications of the Astronomical Society of Australia | PASA
    pasj | Publications of the Astronomical Society of Japan | PASJ
    pasp | Publications of the Astronomical Society of the Pacific | PASP
    rmxaa | Revista Mexicana de Astronomía y Astrofísica | Rev. Mex. Astron. Astrofis.
    caa | Chinese Astronomy and Astrophysics | Chinese Astron. Astrophys.
    cjaa | Chinese Journal of Astronomy and Astrophysics | Chinese J. Astron. Astrophys.
    azh | Astronomicheskii Zhurnal | AZh
    sovast | Soviet Astronomy | Soviet Ast.
    araa | Annual Review of Astronomy and Astrophysics | ARA&A
    na | New Astronomy | New A
    nar | New Astronomy Reviews | New A Rev.
    apss | Astrophysics and Space Science | Ap&SS
    aplett | Astrophysics Letters and Communications | Astrophys. Lett.
    apspr | Astrophysics Space Physics Research | Astrophys. Space Phys. Res.
    fcp | Fundamentals of Cosmic Physics | Fund. Cosmic Phys.
    jcap | Journal of Cosmology and Astroparticle Physics | J. Cosmology Astropart. Phys.
    skytel | Sky and Telescope | S&T
    solphys | Solar Physics | Sol. Phys.
    iaucirc | International Astronomical Union Circular | IAU Circ.
    icarus | Icarus | Icarus
    planss | Planetary and Space Science | Planet. Space Sci.
    ssr | Space Science Reviews | Space Sci. Rev.
    gca | Geochimica et Cosmochimica Acta | Geochim. Cosmochim. Acta
    grl | Geophysical Research Letters | Geophys. Res. Lett.
    jgr | Journal of Geophysical Research | J. Geophys. Res.
    nat | Nature | Nature
    pra | Physical Review A | Phys. Rev. A
    prb | Physical Review B | Phys. Rev. B
    prc | Physical Review C | Phys. Rev. C
    prd | Physical Review D | Phys. Rev. D
    pre | Physical Review E | Phys. Rev. E
    prl | Physical Review Letters | Phys. Rev. Lett.
    physrep | Physics Reports | Phys. Rep.
    physscr | Physica Scripta | Phys. Scr.
    nphysa | Nuclear Physics A | Nucl. Phys. A
    ao | Applied Optics | Appl. Opt.
    procspie | Proceedings of SPIE | Proc. SPIE
    jcp | The Journal of Chemical Physics | J. Chem. Phys.
    jqsrt | Journal of Quantitative Spectroscopy and Radiative Transfer | J. Quant. Spectrosc. Radiat. Transf.
""")
