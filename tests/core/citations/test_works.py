"""Files of works: works without a DOI, and corrections."""

from __future__ import annotations

import json
import pickle
import re
import sys
import unicodedata
from collections.abc import Callable
from itertools import cycle, islice, product
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.citations import (
    Bibliography,
    ReferenceStyle,
    parse_citation,
    read_bibtex,
    read_works,
    text_of,
)
from doiuri.tex import plain_text, rich_text
from doiuri.works import Name, Work
from doiuri_csl import Cite, Processor, Style, to_text
from hypothesis import example, given
from hypothesis import strategies as st
from support.cases import table
from support.checks import assert_same
from support.growth import is_linear

A = DOI("10.1000/a")
BIBTEX = json.loads((Path(__file__).parents[2] / "cases" / "bibtex.json").read_text("utf-8"))
BIBTEX["macros of macros do not fill the memory"] = (
    f'@string{{a0 = "{" " * 10}"}}\n'
    + "".join(f"@string{{a{n + 1} = a{n} # a{n}}}\n" for n in range(12))
    + '@string{b = a12 # "too long"}\n@book{k, title = "a" # b}',
    {"title": "a"},
)
BIBTEX_ALIASES = BIBTEX.pop("the same")
BEFORE = "% @book{no,}\nAny text\n@comment{@book{no,}}\n@Comment Any text\n"
JSON = """[
  {"id": "knuth1984", "type": "book", "title": "The TeXbook", "URL": "https://tex.example/"},
  {"id": "kahn", "DOI": "10.1000/A", "author": [{"family": "Rasheed"}]}]"""
YAML = """---
references:
- id: 1984
  title: Literate programming
  issued: {year: 1984}
- {id: "two", DOI: "https://doi.org/10.1000/b", issued: 2001-02-03}
...
"""


def test_yaml_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b.yaml").write_text(YAML)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ValueError, match=r'b.yaml: files in YAML need PyYAML: .* "doiuri\[yaml\]"'):
        read_works(["b.yaml"], tmp_path)


def test_works_without_a_doi_and_corrections(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(JSON)
    (tmp_path / "b.yaml").write_text(YAML)
    library = read_works(["a.json", "b.yaml"], tmp_path)
    assert library.ids == {
        "knuth1984": "knuth1984",
        "kahn": A,
        "1984": "1984",
        "two": DOI("10.1000/b"),
    }
    assert library.files == (tmp_path / "a.json", tmp_path / "b.yaml")
    registry = {A: Work(A, {"type": "report", "title": "T", "author": [{"family": "RASHEED"}]})}
    works = library.merge(registry)
    assert library.merge(registry, [A]) == {A: works[A]}
    corrected = works[A]
    knuth = works["knuth1984"]
    assert (corrected.title, corrected.type, corrected.authors[0].family) == (
        "T",
        "report",
        "Rasheed",
    )
    assert (knuth.doi, knuth.key, knuth.csl["URL"]) == (None, "knuth1984", "https://tex.example/")
    assert json.loads(knuth.to_json())["id"] == "knuth1984"
    assert works["1984"].year == 1984
    assert works[DOI("10.1000/b")].csl["issued"] == {"date-parts": [[2001, 2, 3]]}


@table("citations", "wrong files", "name, content, message")
def test_a_file_that_is_wrong(name: str, content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / name.replace("b.json", "other")
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError) as error:  # noqa: PT011
        read_works([name], tmp_path)
    assert message in str(error.value)


@table("citations", "wrong works", "name, content, problems, ids")
def test_what_is_wrong_with_works_is_named_at_once_and_the_others_are_read(
    name: str, content: str, problems: list[str], ids: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, "utf-8")

    library = read_works([name], tmp_path)

    assert [*(library.ids or {})] == ids
    assert len(library.problems) == len(problems)
    for problem, expected in zip(library.problems, problems, strict=True):
        assert problem.startswith(f"{tmp_path / name}:{expected}")


GOOD = [
    "@book{g%, title = {{B}races}, author = {Ay, A. and {B and C}}}\n",
    '@article{h%, title = "In {quotation marks}", doi = {10.1000/h%}}\n',
    "@incollection{i%, crossref = {j%}}\n\n@book{j%, title = {A whole}}\n",
    "@string{s% = {Acta}}\n@comment{x}\n@misc(k%, journal = s% # {!})\n",
]
BROKEN = [
    "@book{b, title = {B}, author = {C}\n",
    "@book{b, title = {B, author = {C}\n}\n",
    '@book{b, title = "B, author = {C}}\n',
    "@book{b, title = , year = 2000}\n",
    "@book{b, title}\n",
    "@book{b, title = {B} = {C}, year = 2000}\n",
    "@book[b]\n",
]


@given(
    before=st.lists(st.sampled_from(GOOD), max_size=3),
    broken=st.sampled_from(BROKEN),
    after=st.lists(st.sampled_from(GOOD), max_size=3),
)
def test_a_broken_entry_changes_no_other_work(
    before: list[str], broken: str, after: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("works")
    entries = [entry.replace("%", str(n)) for n, entry in enumerate([*before, *after])]
    (folder / "good.bib").write_text("".join(entries))
    entries.insert(len(before), broken)
    (folder / "broken.bib").write_text("".join(entries))

    good = read_works(["good.bib"], folder)
    library = read_works(["broken.bib"], folder)

    assert library.merge({}) == good.merge({})
    assert good.problems == ()
    assert len(library.problems) == 1


WRONG = {
    # What is wrong, and its line
    "a.bib": ("@book{a, doi = {10.1000/a}}\n@book{b,\n  doi = {10.1000}\n}\n", 2),
    "b.json": ('[{"id": "a"},\n {"id": "b", "DOI": "10.1000"}]', 2),
    "c.yaml": ("- id: a\n- type: book\n  id: b\n  DOI: '10.1000'\n", 2),
    "d.yml": ("references:\n- id: a\n- {}\n", 3),
    "e.yaml": ("- id: a\n\n-\n  - id: b\n", 4),
    "f.yaml": ("- id: a\n- id: b\n- id: a\n  title: A\n", 3),
}
WRONG_FILES = {
    "g.json": ('[{"id": "a"},\n {"id" "b"}]', 2),
    "h.yaml": ("- id: a\n- id: 'b\n  c: d\n- id: [\n", 5),
    "i.yaml": ("- id: a\n- id: \x07\n", 2),
}


@pytest.mark.parametrize("count", [0, 1, 7])
def test_messages_name_the_line_however_many_lines_are_in_front(count: int, tmp_path: Path) -> None:
    for name, (text, line) in (WRONG | WRONG_FILES).items():
        (tmp_path / name).write_text("\n" * count + text)
        place = f"{tmp_path / name}:{line + count}: "
        promise = f"the message on {name} with {count} lines in front begins with {place!r}"

        if name in WRONG:
            told = [*read_works([name], tmp_path).problems]
        else:
            with pytest.raises(ValueError, match="not") as refused:
                read_works([name], tmp_path)
            told = [str(refused.value)]

        assert [message[: len(place)] for message in told] == [place], f"{promise}: {told}"


def test_ids_of_one_doi_cite_one_work(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(
        "@book{a, doi = {10.1000/a}, title = {A}, year = 2001, author = {Ay, A.}}\n"
    )
    (tmp_path / "b.json").write_text('[{"id": "b", "DOI": "10.1000/A", "title": "B"}]')

    library = read_works(["a.bib", "b.json"], tmp_path)
    cites = [parse_citation(text, ids=library.ids)[0] for text in ("@a", "@b", "10.1000/a")]
    bibliography = Bibliography(
        (cite.key for cite in cites), library.merge({}), ReferenceStyle.load()
    )

    assert [reference.work.title for reference in bibliography.references] == ["A"]
    assert {text_of(bibliography.citation([cite])) for cite in cites} == {"(Ay, 2001)"}


@pytest.mark.parametrize(("entry", "expected"), BIBTEX.values(), ids=BIBTEX)
def test_an_entry_of_bibtex(entry: str, expected: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(f"{BEFORE}{entry}\n", "utf-8")
    csl = read_works(["a.bib"], tmp_path).merge({})["k"].csl
    assert {member: csl.get(member) for member in expected} == expected


@pytest.mark.parametrize(
    ("language", "entry", "title"),
    [
        ("en-GB", "title = {Don Quijote}", "Don quijote"),
        ("es", "title = {Don Quijote}", "Don Quijote"),
        ("es", "title = {The Bees}, langid = {british}", "The bees"),
        ("en", "title = {Das Kapital}, language = {German}", "Das Kapital"),
    ],
)
def test_only_english_titles_get_sentence_case(
    language: str, entry: str, title: str, tmp_path: Path
) -> None:
    (tmp_path / "a.bib").write_text(f"@book{{k, {entry}}}")

    library = read_works(["a.bib"], tmp_path, language)

    assert library.merge({})["k"].title == title


# Words of titles in title case, and what sentence case makes of them inside a sentence
WORDS = {
    **{word: word.lower() for word in ("Ants", "Über", "A", "An", "Theory", "Darwin's")},
    **{
        word: word
        for word in ("of", "the", "on", "a", "in", "12", "I", "DNA", "iPad", "LaTeX", "E.coli")
    },
    **{f"{{{word}}}": word for word in ("France", "A", "ants", "Old World", "Von", "DNA")},
    "{M}ars": "Mars",
    r"\emph{Bees}": "<i>bees</i>",
    r"\emph{{Apis}}": "<i>Apis</i>",
    "$N$": "N",
}
SEPARATORS = [" ", " ", " ", "-", ", ", " -- ", ": ", "? ", "! "]


@given(
    words=st.lists(st.sampled_from([*WORDS]), min_size=2, max_size=9),
    separators=st.lists(st.sampled_from(SEPARATORS), min_size=8, max_size=8),
)
@example(words=["Ants", "on", "A", "Theory"], separators=[" "] * 8)
def test_in_sentence_case_only_a_first_word_and_what_braces_or_capitals_protect_keeps_a_capital(
    words: list[str], separators: list[str]
) -> None:
    """A first word is that of the title, and that after a colon or the end of a sentence."""
    tex = expected = ""
    begins = True
    for word, separator in zip(words, separators, strict=False):
        lowered = WORDS[word]
        if begins and word[0] not in "{$":
            lowered = rich_text(word)  # as it is written
        tex += word + separator
        expected += lowered + separator.replace("--", "–")
        begins = separator in {": ", "? ", "! "}

    in_sentence_case = rich_text(tex, sentence_case=True)
    assert_same(f"sentence case of {tex!r}", in_sentence_case, expected.strip())


@given(words=st.lists(st.sampled_from([*WORDS]), min_size=1, max_size=5), place=st.integers(0, 5))
def test_a_title_with_a_small_word_that_title_case_would_capitalize_stays(
    words: list[str], place: int
) -> None:
    """It is in sentence case already, or not in English, and its other capitals are those of names."""
    title = " ".join([*words[:place], "lehrbuch", *words[place:]])

    assert rich_text(title, sentence_case=True) == rich_text(title)


WEB = "https://b.example/c"
NOT_OF_THE_WEB = [
    "",
    "mailto:me@a.example",
    "ftp://a.example/b",
    "file:///a",
    "javascript:alert(1)",
    "data:,a",
]
NOT_OF_THE_WEB += ["a.example/b", "/b", "doi:10.1000/1", "http:a", "https://", "httpx://a.example"]


@pytest.mark.parametrize("address", NOT_OF_THE_WEB)
def test_an_address_that_is_not_of_the_web_is_as_if_it_were_not_there(address: str) -> None:
    """It is no link, and the next field with an address counts."""
    others = ["", f"howpublished = {{\\url{{{WEB}}}}}", "eprint = {2001.1}", "pmid = {12}"]
    for other in others:
        [expected, found] = (
            read_bibtex(f"@misc{{k, title = {{T}}, {url}{other}}}")["k"].csl.get("URL")
            for url in ("", f"url = {{{address}}}, ")
        )

        assert found == expected, f"{address!r} beside {other!r} leads to {found}"
        assert (expected is None) is (other == "")


@pytest.mark.parametrize("address", [WEB, "HTTP://B.example/c", "http://b.example:8000/~c?d=e#f"])
def test_the_address_of_an_entry_is_that_of_its_own_field(address: str) -> None:
    entry = f"@misc{{k, url = {{{address}}}, howpublished = {{\\url{{http://a.example}}}}, eprint = {{2001.1}}}}"

    assert read_bibtex(entry)["k"].csl["URL"] == address


@pytest.mark.parametrize("mark", ["", ",", ")", ":", "?", "!", ".", "…"])
def test_a_title_with_its_subtitle_is_that_of_a_registered_work(mark: str) -> None:
    entry = f"@book{{k, title = {{{{Help{mark}}}}}, subtitle = {{{{Bees}}}}}}"

    registered = Work("k", {"title": f"Help{mark}", "subtitle": "Bees"})

    assert read_bibtex(entry)["k"].title == registered.title


WHOLES = (
    "book collection proceedings reference mvbook mvcollection mvproceedings mvreference".split()  # noqa: SIM905
)


@pytest.mark.parametrize("whole", WHOLES)
@pytest.mark.parametrize("part", ["inbook", "incollection", "inproceedings", "inreference"])
def test_the_title_of_a_whole_is_that_of_the_container_of_its_part(part: str, whole: str) -> None:
    """BibLaTeX manual, appendix B: of several volumes, it is the main title."""
    book_title = ", booktitle = {{Volume}}" if whole.startswith("mv") else ""
    entry = f"@{part}{{k, title = {{{{Part}}}}, crossref = {{w}}{book_title}}}"

    csl = read_bibtex(f"{entry}\n@{whole}{{w, title = {{{{Whole}}}}}}")["k"].csl

    titles = {
        member: csl.get(member, "") for member in ("title", "container-title", "volume-title")
    }
    volume = "Volume" if whole.startswith("mv") else ""
    expected = {"title": "Part", "container-title": "Whole", "volume-title": volume}
    assert_same(f"{part} in {whole}", titles, expected)


IN_SERIES = (
    "book collection proceedings mvbook manual inbook incollection inproceedings conference".split()  # noqa: SIM905
)
NUMBERED = {
    **dict.fromkeys(IN_SERIES, "collection-number"),
    **dict.fromkeys(("article", "suppperiodical"), "issue"),
    **dict.fromkeys(("report", "techreport", "patent", "misc", "thesis"), "number"),
}


@pytest.mark.parametrize("type_", NUMBERED)
@pytest.mark.parametrize("series", ["", "series = {LNCS}, "])
def test_a_number_is_that_in_a_series_of_an_issue_or_of_the_work(type_: str, series: str) -> None:
    csl = read_bibtex(f"@{type_}{{k, {series}number = {{7}}}}")["k"].csl

    members = [member for member, value in csl.items() if value == "7"]
    is_in_no_series = not series and NUMBERED[type_] == "collection-number"
    assert members == ["number" if is_in_no_series else NUMBERED[type_]], f"{type_}, {series!r}"


OF_ITS_OWN = {
    "doi": "10.1000/w", "url": WEB, "urldate": "2020-01-02", "eprint": "2001.1", "pmid": "12",
    "pmcid": "PMC1", "shorttitle": "S",
}  # fmt: skip


@pytest.mark.parametrize("field", OF_ITS_OWN)
def test_a_part_has_none_of_the_addresses_of_its_whole(field: str, tmp_path: Path) -> None:
    """The DOI of a book is not that of its chapter; ``xdata`` hands on everything, as entries say it."""
    own = f", {field} = {{{OF_ITS_OWN[field]}}}"

    def part(reference: str, whole: str) -> tuple[object, object]:
        part = f"@incollection{{k, title = {{T}}, {reference} = {{w}}}}"
        (tmp_path / "a.bib").write_text(f"{part}\n@{whole}")
        library = read_works(["a.bib"], tmp_path)
        key = (library.ids or {})["k"]
        return key, library.merge({})[key].csl

    book = "book{w, title = {W}, year = 2001"
    assert_same("the chapter", part("crossref", f"{book}{own}}}"), part("crossref", f"{book}}}"))
    assert part("xdata", f"xdata{{w, year = 2001{own}}}") != part("xdata", "xdata{w, year = 2001}")


@pytest.mark.parametrize("name", ["10/abc", "x", "https://example.org/x", "10.1000"])
def test_a_doi_that_is_invalid_replaces_no_address_of_the_author(name: str, tmp_path: Path) -> None:
    item = {"id": "k", "title": "T", "DOI": name, "URL": WEB}
    (tmp_path / "a.json").write_text(json.dumps([item]))
    (tmp_path / "a.bib").write_text(f"@misc{{k, title = {{T}}, doi = {{{name}}}, url = {{{WEB}}}}}")

    for file in ("a.json", "a.bib"):
        library = read_works([file], tmp_path)

        assert library.merge({})["k"].csl["URL"] == WEB, file
        assert len(library.problems) == 1, f"{file}: {library.problems}"


# Other ways to write an entry, as patterns and what takes the place of their matches
WAYS: dict[str, tuple[str, str | Callable[[re.Match[str]], str]]] = {
    "types in other letters": (r"(?<=@)\w+", lambda word: word[0].swapcase()),
    "fields in other letters": (r"\b\w+(?= = )", lambda word: word[0].swapcase()),
    "macros in other letters": (r"(?<=[=#] )(?!unknown)[a-z]\w*", lambda word: word[0].upper()),
    "quotation marks": (r'(?<=[=#] )\{([^{}"]*)\}', r'"\1"'),
    "braces": (r'(?<=[=#] )"([^{}"]*)"', r"{\1}"),
    "joined pieces": (r"(?<=[=#] )\{([^{}\"\\])([^{}\"]*)\}", r'{\1} # "\2"'),
    "comments": (r",(?= \w+ = )", ",\n% x = {y},\n"),
    "no space": (r" = ", "="),
    "more space": (r" = ", "\n  =\t"),
    "parentheses": (r"^@(\w+)\{([^@]*)\}$", r"@\1(\2\n)"),
    "a comma at the end": (r"(?<![,(])\}(?=\n@|$)", ",\n}"),
    "indented": (r"^@", "  @"),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_entry_written_in_another_way_is_the_same(way: str) -> None:
    changed = []
    for name, (entry, expected) in BIBTEX.items():
        if name.startswith("an entry in "):  # what looks like an entry is text
            continue
        other = re.sub(WAYS[way][0], WAYS[way][1], entry)
        if other == entry:
            continue
        changed.append(name)
        csl = read_bibtex(other)["k"].csl
        assert {member: csl.get(member) for member in expected} == expected, other
    assert changed, f"no entry can be written with {way}"


@pytest.mark.parametrize("pair", BIBTEX_ALIASES, ids=" = ".join)
def test_biblatex_and_bibtex_names_are_the_same(pair: list[str], tmp_path: Path) -> None:
    """BibLaTeX manual, sections 2.1.2 and 2.2.5."""
    works = []
    for entry in pair:
        (tmp_path / "a.bib").write_text(entry, "utf-8")
        works.append(read_works(["a.bib"], tmp_path).merge({})["k"])
    assert works[0] == works[1]
    assert len(works[0].csl) > 1


MARKS = {
    **dict(zip("`'^\"~=.", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307", strict=True)),
    **dict(zip("uvHckrdbh", "\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331\u0309", strict=True)),
}
# Ways to write an accent, the command of which is % and the letter @
ACCENTED = ["%{@}", "{%{@}}", "% {@}", "%{ @}", "{%@}", "%@", "% @", "{%\n@}"]
LETTERS = {"e": "e", "A": "A", "\\i ": "i", "{\\j}": "j", "{u}": "u", "o\u0301": "o\u0301"}


def accented(way: str, command: str, letter: str) -> str:
    """Return an accent in TeX; a letter does not follow the name of a command without a space."""
    if command.isalpha() and letter[0].isalpha():
        way = way.replace("%@", "% @")
    return way.replace("%", f"\\{command}").replace("@", letter)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("inner", MARKS)
def test_accents_of_tex_are_above_each_other_however_they_are_written(
    inner: str, letter: str
) -> None:
    """Each pair of ways with one of the accents, another one in the next case."""
    once = unicodedata.normalize("NFC", LETTERS[letter] + MARKS[inner])
    for way in ACCENTED:
        tex = accented(way, inner, letter)
        assert rich_text(f"b{tex}b") == f"b{once}b", tex

    first = [*MARKS].index(inner) + [*LETTERS].index(letter)
    outers = islice(cycle(MARKS), first, None)
    for (one, other), outer in zip(product(ACCENTED, ACCENTED), outers, strict=False):
        tex = accented(one, outer, accented(other, inner, letter))
        twice = unicodedata.normalize("NFC", LETTERS[letter] + MARKS[inner] + MARKS[outer])
        assert plain_text(f"b{tex}b") == f"b{twice}b", tex


@pytest.mark.parametrize("command", MARKS)
def test_an_accent_on_nothing_is_the_character_or_stays(command: str) -> None:
    """As in a URL, "\\~{}user", and in "10\\^{}5"; other accents have no character of their own."""
    for nothing in ("{}", " {}"):
        tex = f"b\\{command}{nothing}b"
        expected = f"b{command}b" if command in "~^" else tex
        assert plain_text(tex) == expected, tex


TEXTS = st.text("abcXYZ012", min_size=1, max_size=4)
ARGUMENTS = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        inner.map(lambda tex: rf"\emph{{{tex}}}"),
        inner.map(lambda tex: rf"\unknown{{{tex}}}"),
        inner.map(lambda tex: rf"$x^{{{tex}}}$"),
        st.tuples(inner, inner).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        st.tuples(inner, inner).map(lambda pair: rf"\pair{{{pair[0]}}} {{{pair[1]}}}"),
        st.tuples(inner, inner).map(" ".join),
    ),
    max_leaves=6,
)
COMMAND = re.compile(r"\\(?:emph|unknown|frac|pair)|[$]x")


@given(ARGUMENTS)
def test_the_arguments_of_commands_stay_in_order_and_apart(tex: str) -> None:
    expected = re.findall(r"\w+", COMMAND.sub(" ", tex))

    rich = re.sub("</?(?:i|sup|span)[^<>]*>", " ", rich_text(tex))
    plain = unicodedata.normalize("NFKC", plain_text(tex).replace("x", " "))

    assert re.findall(r"\w+", COMMAND.sub(" ", rich).replace("x", " ")) == expected
    assert re.findall(r"\w+", COMMAND.sub(" ", plain)) == expected


@pytest.mark.parametrize(
    "opening",
    ["{", r"\'", r"\hat{", r"\frac{", r"\foo{", "$x^{", r"{\em ", r"\ifmmode ", r"\sqrt[{"],
)
def test_hostile_tex_is_read_quickly_and_stays(opening: str) -> None:
    texts = {}

    def read(times: int) -> None:
        texts[times] = plain_text(f"{opening * times}z")

    assert is_linear(read, 400, 3_200)
    assert all("z" in text for text in texts.values())


@pytest.mark.parametrize("case", ["title", "uppercase", "lowercase"])
def test_styles_leave_unknown_commands_as_they_are_written(case: str, tmp_path: Path) -> None:
    title = '<text variable="title"/>'
    style = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">'
        "<info><title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>"
        f"<citation><layout>{title}</layout></citation>"
        f"<bibliography><layout>{title}</layout></bibliography></style>"
    )
    (tmp_path / "own.csl").write_text(style.replace("/>", f' text-case="{case}"/>'))
    (tmp_path / "a.bib").write_text(r"@book{k, title = {On \foo{aB c}}}")
    own = ReferenceStyle.load("own.csl", tmp_path)

    works = read_works(["a.bib"], tmp_path).merge({})
    [entry] = Bibliography(["k"], works, own).entries()

    assert r"\foo{aB c}" in text_of(entry.spans)
    assert works["k"].title == r"On \foo{aB c}"


# Around a text; the last two only in the braces of another one
FORMATS = {
    "i": [r"\emph{%}", r"{\it %}", r"\em %"],
    "b": [r"\textbf{%}", r"{\bfseries %}", r"\bf %"],
}
FORMATS |= {"sup": ["$^{%}$", r"\textsuperscript{%}"], "sub": ["$_{%}$", r"\textsubscript {%}"]}


@pytest.mark.parametrize(("outer", "inner"), [*product(FORMATS, repeat=2)])
def test_formats_of_tex_nest_however_they_are_written(outer: str, inner: str) -> None:
    pairs = product(FORMATS[outer][:2], FORMATS[inner])
    written = [f"a {one.replace('%', other).replace('%', 'x')} b" for one, other in pairs]
    found = {tex: rich_text(tex) for tex in written if tex.count("$") < 4}
    assert found == dict.fromkeys(found, f"a <{outer}><{inner}>x</{inner}></{outer}> b")


@pytest.mark.parametrize("dash", ["-", "--", "–"])
def test_ranges_have_an_en_dash_however_they_are_written(dash: str, tmp_path: Path) -> None:
    pages = f"3{dash}5"
    item = {"id": "json", "type": "article-journal", "title": "T", "page": pages, "issue": pages}
    (tmp_path / "a.json").write_text(json.dumps([item]))
    fields = f"title = {{T}}, pages = {{{pages}}}, number = {{{pages}}}"
    (tmp_path / "a.bib").write_text(f"@article{{bib, {fields}}}", "utf-8")
    library = read_works(["a.json", "a.bib"], tmp_path)
    style = ReferenceStyle.load()

    list_ = Bibliography(["json", "bib"], library.merge({}), style)
    [cite] = parse_citation(f"@bib, p. {pages}", ids=library.ids)
    citation = list_.citation([cite], "t")

    for spans in (citation, *(entry.spans for entry in list_.entries())):
        assert "3–5" in text_of(spans)


@pytest.mark.parametrize("type_", ["bib", "json", "yaml"])
@pytest.mark.parametrize(
    ("pages", "volume", "issue", "shown"),
    [
        ("pp. 161-179", "Vol. 3", "No. 5", "J, 3(5), 161–179."),
        ("S. 3-5", "Bd. 3", "Heft 5", "J, 3(5), 3–5."),
        ("P09008", "Volta", "November", "J, Volta(November), P09008."),
    ],
)
def test_words_that_styles_put_before_numbers_are_shown_once(
    pages: str, volume: str, issue: str, shown: str, type_: str, tmp_path: Path
) -> None:
    item = {"id": "k", "type": "article-journal", "title": "T", "container-title": "J",
            "page": pages, "volume": volume, "issue": issue}  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps([item]))
    (tmp_path / "a.yaml").write_text(json.dumps([item]))
    (tmp_path / "a.bib").write_text(
        f"@article{{k, title = {{T}}, journal = {{J}}, pages = {{{pages}}},"
        f" volume = {{{volume}}}, number = {{{issue}}}}}"
    )
    style = ReferenceStyle.load()

    works = read_works([f"a.{type_}"], tmp_path).merge({})
    [entry] = Bibliography(["k"], works, style).entries()

    assert text_of(entry.spans).endswith(shown)


WHOLE = {
    "id": "whole",
    "type": "motion_picture",
    "title": 'A <span class="nocase">Film</span>',
    "director": [{"family": "Beethoven", "given": "L.", "non-dropping-particle": "van"}],
    "issued": {"date-parts": [[1999], [2001]], "circa": True},
    "abstract": "Long. " * 500,
    "status": "in press",
    "number-of-volumes": 3,
}


def test_an_item_of_the_author_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([WHOLE]))

    work = read_works(["a.json"], tmp_path).merge({})["whole"]

    assert {**work.csl, "id": "whole"} == {**WHOLE, "number-of-volumes": "3"}
    assert (work.title, work.year) == ("A Film", 1999)
    assert pickle.loads(pickle.dumps(work)) == work


@pytest.mark.parametrize("name", ["URL", "issued", "author", "publisher"])
@pytest.mark.parametrize(
    "value", ["javascript:alert(1)", "\u202eno", None, [{}], [[1, 2]], {"a": 1}]
)
def test_whatever_an_author_writes_is_read_again_as_it_is(name: str, value: object) -> None:
    work = Work.from_item("k", {name: value, "title": "T"})

    assert Work.from_item("k", work.csl) == work
    assert "javascript" not in work.csl.get("URL", "")


def test_bibtex_beside_other_files_and_the_registry(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(JSON)
    (tmp_path / "b.bib").write_text(
        "@book{z,\n doi = {https://doi.org/10.1000/b\\_c}, title = {Own}}", "utf-8-sig"
    )
    library = read_works(["a.json", "b.bib"], tmp_path)
    doi = DOI("10.1000/b_c")
    assert library.ids == {"knuth1984": "knuth1984", "kahn": A, "z": doi}
    work = library.merge({doi: Work(doi, {"title": "T", "publisher": "P"})})[doi]
    assert (work.title, work.publisher) == ("Own", "P")


@table("citations", "invalid DOIs", "doi, url")
def test_a_doi_that_is_invalid_is_reported_and_may_be_the_url(
    doi: str, url: str | None, tmp_path: Path
) -> None:
    (tmp_path / "a.bib").write_text(f"\n@book{{k, doi = {{{doi}}}}}\n" * 2)
    library = read_works(["a.bib"], tmp_path)
    assert library.merge({})["k"].csl.get("URL") == url
    assert [problem.partition(" is not a DOI")[0] for problem in library.problems] == [
        f"{tmp_path / 'a.bib'}:{line}: k: {doi!r}" for line in (2, 4)
    ]


def test_a_long_file_of_bibtex_takes_linear_time(tmp_path: Path) -> None:
    def read(times: int) -> None:
        (tmp_path / "a.bib").write_text(
            "".join(
                f"@book{{a{n}, title = {{{{B}} C}}, crossref = {{a{n % 9 + 1}x}}}}\n"
                for n in range(times)
            )
        )
        assert len(read_works(["a.bib"], tmp_path).problems) == times

    assert is_linear(read, 200, 1_600)


NAMES = """
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <citation><layout><names variable="author"/></layout></citation>
</style>"""


@pytest.mark.parametrize(
    ("family", "given", "whole"),
    [
        ("山田", "太郎", "山田太郎"),
        ("김", "철수", "김철수"),
        ("山田", "Taro", "山田Taro"),
        ("Smith", "太郎", "太郎 Smith"),
        ("Иванов", "Иван", "Иван Иванов"),
        ("Berg", "Ann", "Ann Berg"),
    ],
)
def test_names_have_the_same_order_in_entries_and_as_text(
    family: str, given: str, whole: str
) -> None:
    processor = Processor(
        Style.parse(NAMES), [{"id": "a", "author": [{"family": family, "given": given}]}]
    )
    processor.set_citations([[Cite("a")]])

    in_entry = to_text(processor.citation(0))

    assert in_entry == str(Name(family, given)) == whole
