"""The rules: all codes, with what ``doiuri rule`` and the manual say about them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word in messages and in ``--fail-on``."""
        return self.name.lower()


class Rule(NamedTuple):
    """One rule. Its texts are plain text; backticks enclose literals, as in Markdown.

    :ivar code: its code.
    :ivar severity: how bad its findings are.
    :ivar summary: what it reports, in one line.
    :ivar reason: why that is wrong.
    :ivar example: a text with such a finding; for advice, the DOI.
    :ivar instead: what to write in its place; empty if that depends.
    :ivar fix: "safe", "unsafe" or "" for none.
    """

    code: str
    severity: Severity
    summary: str
    reason: str
    example: str
    instead: str = ""
    fix: str = ""


_LINK_RULES = (
    Rule(
        "syntax",
        Severity.ERROR,
        "Text that should be a DOI is not a valid DOI.",
        "A field for a DOI, or a `doi:` link, holds text that is not a valid DOI. It cannot be resolved. In "
        "YAML, codemeta.json and front matter, `doi` may be the key of something else, so only text with "
        "`10.`, a label or a slash is reported; CITATION.cff and bibliographies have no such exception.",
        "doi = {1000/182}",
        "doi = {10.1000/182}",
        "unsafe",
    ),
    Rule(
        "not-found",
        Severity.ERROR,
        "The DOI is not registered.",
        "The registry answered that the DOI does not exist. The name is misspelt, or it was never "
        "registered. A DOI is not reported if the registry cannot be reached.",
        "https://doi.org/10.5555/no-such-name",
    ),
    Rule(
        "not-https",
        Severity.WARNING,
        "A link uses http or an old host.",
        "The DOI Foundation recommends `https://doi.org/`. The hosts `dx.doi.org` and `www.doi.org` only "
        "redirect, and http can be altered on the way.",
        "http://dx.doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
        "safe",
    ),
    Rule(
        "field-form",
        Severity.WARNING,
        "A field for a DOI holds a link or a label.",
        "Programs that read the field put `https://doi.org/` in front of it, and the link is then broken. "
        "The field should hold only the name.",
        "doi = {https://doi.org/10.1000/182}",
        "doi = {10.1000/182}",
        "safe",
    ),
    Rule(
        "doubled",
        Severity.WARNING,
        "The label or the address of the resolver occurs twice.",
        "A program or a person put it in front of text that already had it. A link to such an address is "
        "usually broken; in prose, the second label is superfluous.",
        "https://doi.org/https://doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
        "safe",
    ),
    Rule(
        "raw-link",
        Severity.WARNING,
        "A link holds a character that must be escaped.",
        "In a link, `#` and `?` end the name, and `<`, `>` or a space end the link itself in most "
        "formats. Escaped, they belong to the name. Only the registry knows whether a `#` or `?` belongs "
        "to the name: `--unsafe-fixes` escapes it if the longer name exists. "
        "A `doi:` URI can have neither, so plugins refuse it.",
        '<a href="https://doi.org/10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S">',
        '<a href="https://doi.org/10.1002/(SICI)1522-2594(199911)42:5%3C952::AID-MRM16%3E3.0.CO;2-S">',
        "safe",
    ),
    Rule(
        "text-differs",
        Severity.WARNING,
        "The text and the target of a link are different DOIs.",
        "The reader sees one DOI and gets another. Probably one of them was changed and the other was not.",
        "[10.1000/182](https://doi.org/10.1000/183)",
        "[10.1000/182](https://doi.org/10.1000/182)",
    ),
    Rule(
        "short-doi",
        Severity.WARNING,
        "A short DOI is used instead of the DOI.",
        "A short DOI such as `10/abc` is only another name for a DOI. Few programs and journals take it. "
        "Write the DOI that it stands for; `https://doi.org/10/abc?noredirect` shows it.",
        "https://doi.org/10/d8dn",
    ),
    Rule(
        "duplicate",
        Severity.WARNING,
        "Entries of a bibliography have the same DOI.",
        "One work is listed twice, or an entry was copied and its DOI was not replaced. Each such DOI is "
        "reported once, at its second entry.",
        "@article{kahn, doi = {10.1000/182}}\n@article{kahn2006, doi = {10.1000/182}}",
    ),
    Rule(
        "unreadable",
        Severity.WARNING,
        "The file is not what its name says.",
        "It cannot be parsed, for example because it is damaged, a template or a test case. It was read as "
        "plain text, so DOIs may be missed, and nothing in it is fixed.",
        '{"cells": [',
    ),
)


def _advice(code: str, summary: str, reason: str, example: str, instead: str = "", fix: str = "") -> Rule:
    return Rule(code, Severity.WARNING, summary, reason, example, instead, fix)


_ADVICE_RULES = (  # one for each code of doiuri.advise
    _advice(
        "decoded-escape",
        "An escape that may belong to the name was decoded.",
        "`%XX` in a DOI without a label stands for one character. Programs do not escape letters and digits, "
        "so an escaped letter, or an escape in a name with a bare `%`, is probably literal text. In this "
        "case, escape the percent sign as `%25`; otherwise write the character itself.",
        "10.1000/a%41b",
        "10.1000/aAb",
    ),
    _advice(
        "stray-percent",
        "A percent sign does not start an escape.",
        "In a link, `%` starts an escape of two hexadecimal digits. This one was read as a percent sign; "
        "other programs may refuse it. `%25` is unambiguous.",
        "https://doi.org/10.1000/50%",
        "https://doi.org/10.1000/50%25",
    ),
    _advice(
        "dropped-query",
        "The link has a query, which is not part of the name.",
        "In a link, `?` ends the DOI; the rest is a query for the server. If it belongs to the name, "
        "write `?` as `%3F`; otherwise leave it out.",
        "https://doi.org/10.1000/182?ref=1",
        "https://doi.org/10.1000/182",
    ),
    _advice(
        "dropped-fragment",
        "The link has a fragment, which is not part of the name.",
        "In a link, `#` ends the DOI; the browser never sends the rest. If it belongs to the name, write "
        "`#` as `%23`; otherwise leave it out.",
        "https://doi.org/10.1000/182#page2",
        "https://doi.org/10.1000/182",
    ),
    _advice(
        "look-alike",
        "The name has a character that looks like another one.",
        "Word processors and PDF files replace hyphens with dashes, and straight quotation marks with curly "
        "ones. The name with the other character is a different DOI, which is usually not registered.",
        "10.1000/978\u20133",
        "10.1000/978-3",
        "unsafe",
    ),
    _advice(
        "composition",
        "The name has letters with combining marks, not in composed form.",
        "A letter with a combining mark looks like the composed letter, but the name is a different one. "
        "macOS and some PDF files decompose letters.",
        "10.1000/cafe\u0301",
        "10.1000/caf\u00e9",
    ),
    _advice(
        "entity",
        "The name has an HTML entity.",
        "The name was copied from the source of a page or from an export that escapes HTML. The entity "
        "stands for one character.",
        "10.1000/a&lt;b",
        "10.1000/a<b",
        "safe",
    ),
    _advice(
        "tex-escape",
        "The name has a TeX escape.",
        "A field for a DOI holds the name itself. Backslashes that TeX needs elsewhere become part of the "
        "name for other programs, and the link is then broken. `tex-escape` in the configuration says "
        "whether BibTeX fields have to escape characters, or must not.",
        r"10.1000/a\_b",
        "10.1000/a_b",
        "safe",
    ),
    _advice(
        "literal-escape",
        "The name has a percent-escape that was not decoded.",
        "The name was probably copied from a link, or escaped twice. The name itself rarely has a percent "
        "sign before two hexadecimal digits.",
        "doi:10.1000/a%253Cb",
        "doi:10.1000/a%3Cb",
    ),
    _advice(
        "space",
        "The name has white space.",
        "Registered names have none. The space comes from a line break in a PDF file, or it is where the "
        "name ends and the text continues.",
        "10.1000/18 2",
        "10.1000/182",
    ),
    _advice(
        "trailing-punctuation",
        "The name ends in punctuation or in an unmatched bracket.",
        "The punctuation probably belongs to the sentence or the brackets around the DOI, and was copied "
        "with the name.",
        "10.1000/182.",
        "10.1000/182",
        "unsafe",
    ),
    _advice(
        "trailing-slash",
        "The name ends in a slash.",
        "Some sites add a slash to addresses. With the slash, it is a different name.",
        "10.1000/182/",
        "10.1000/182",
    ),
    _advice(
        "page-address",
        "The name ends in part of the address of a page or a badge.",
        "The DOI was taken from the address of a publisher's page, such as that of the PDF file. What "
        "follows the name, `/abstract` or `.pdf`, belongs to the site.",
        "10.1000/182/abstract",
        "10.1000/182",
        "unsafe",
    ),
    _advice(
        "run-on",
        "The name continues into a second DOI or into another field.",
        "Two DOIs were joined, or a script cut the end of a field in JSON at the wrong place.",
        "10.1000/182,10.1000/183",
        "10.1000/182",
    ),
    _advice(
        "placeholder",
        "The name has a placeholder of a template.",
        "The template was not filled in.",
        "10.5281/zenodo.{id}",
    ),
    _advice(
        "lost-character",
        "The name has the replacement character U+FFFD.",
        "It stands for a character that could not be decoded. Look up the name in its source.",
        "10.1000/caf\ufffd9",
    ),
    _advice(
        "reserved-suffix",
        "The suffix begins with one character and a slash.",
        "ANSI/NISO Z39.84 \u00a74.3 reserves such suffixes for future use.",
        "10.1000/a/182",
    ),
    _advice(
        "unknown-character",
        "The name has a code point that is not assigned.",
        "The Unicode version of this Python does not know the character. It is newer, or the name is "
        "damaged.",
        "10.1000/18\u0378",
    ),
)

_COMMENT_RULES = (
    Rule(
        "unused-ignore",
        Severity.WARNING,
        "A comment ignores a code that is not reported there.",
        "The finding is gone, so the comment can go. Left in place, it would hide the next finding.",
        "<!-- doiuri: ignore[not-found] --> https://doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
    ),
)

_WITH_LOCK = "Reported only with `--locked`, or with `--offline` if there is a lock file."
_LOCK_RULES = (
    Rule(
        "lock-missing",
        Severity.WARNING,
        "The lock file has no entry for the DOI.",
        "`doiuri lock` adds the entry. " + _WITH_LOCK,
        "https://doi.org/10.1000/182",
    ),
    Rule(
        "lock-unused",
        Severity.WARNING,
        "An entry of the lock file is not used.",
        "No file mentions the DOI any more. `doiuri lock --prune` removes the entry. " + _WITH_LOCK,
        '"10.1000/182": {}',
    ),
)

_RECORD_RULES = (
    Rule(
        "title-differs",
        Severity.WARNING,
        "The title of the entry differs from that of the registered work.",
        "The DOI probably belongs to another work. Case, markup, accents, punctuation and subtitles are not "
        "compared, and a title may be cut after 15 letters. Other titles count as the same if four fifths of "
        "the letters, in order, and all numbers, such as those of parts, are the same. Titles in different "
        "scripts are not compared. Reported with `--records` only.",
        "title = {Kant und die Epigonen}, doi = {10.1000/182}",
    ),
    Rule(
        "year-differs",
        Severity.WARNING,
        "The year of the entry differs from that of the registered work.",
        "The year is wrong, or the DOI belongs to another edition. A difference of one year is not reported: "
        "the registry often has the year of online publication, and the entry the year of the printed issue. "
        "Reported with `--records` only.",
        "year = {1806}, doi = {10.1000/182}",
    ),
    Rule(
        "author-differs",
        Severity.WARNING,
        "The first author of the entry differs from that of the registered work.",
        "The DOI probably belongs to another work. The family names are compared, without accents, particles "
        "and suffixes. One of two family names may be missing, and family and given names may be swapped. An "
        "editor counts as an author. A person and an institution are not compared. Reported with `--records` "
        "only.",
        "author = {Smith, Jane}, doi = {10.1000/182}",
    ),
    Rule(
        "kind-differs",
        Severity.WARNING,
        "The registered work is of another kind than its column.",
        "The DOI probably belongs to another work, such as the article about a dataset. The manual lists the "
        "types that each kind takes; a work of unknown type is not reported. Reported only for columns with "
        "a kind, as in `--columns paper:article`.",
        "paper\n10.5281/zenodo.1234567",
    ),
    Rule(
        "retracted",
        Severity.WARNING,
        "The work is retracted, withdrawn or removed, wholly or in part.",
        "The registered metadata says so: by a notice of the publisher or of Retraction Watch, or by a word "
        "such as RETRACTED before the title. Cite the notice as well, or leave the work out. Corrections are "
        "not reported. Reported with `--records` only.",
        "doi = {10.5555/retracted}",
    ),
    Rule(
        "concern",
        Severity.WARNING,
        "There is an expression of concern about the work.",
        "The publisher doubts the work, but has not retracted it. Read the notice before you rely on the "
        "work. Reported with `--records` only.",
        "doi = {10.5555/doubted}",
    ),
    Rule(
        "preprint-published",
        Severity.INFO,
        "The entry cites a preprint that has been published.",
        "The metadata of the preprint names the published version, which may differ from it. Cite that "
        "version, unless you mean the preprint. Reported with `--records` only.",
        "doi = {10.1101/2020.01.01.123456}",
    ),
)

KINDS = {
    "article": "article-journal article-magazine article-newspaper article review review-book report",
    "book": "book report",
    "chapter": "chapter entry entry-dictionary entry-encyclopedia report",
    "conference": "paper-conference speech chapter article-journal report",
    "dataset": "dataset article",
    "software": "software article",
    "thesis": "thesis article report",
    "report": "report standard article",
    "preprint": "article manuscript report",
    "any": "",
}
"""The kinds of works for ``--columns``, each with the types of CSL 1.0.2 that it takes.

DataCite has ``article`` for what CSL lacked (such as software and collections) and
``report`` for any text. Publishers also register papers of proceedings as chapters and articles.
"""

RULES = {
    rule.code: rule for rule in (*_LINK_RULES, *_ADVICE_RULES, *_COMMENT_RULES, *_LOCK_RULES, *_RECORD_RULES)
}
"""The rules by code, in the order of the manual."""

LOCK_CODES = frozenset(rule.code for rule in _LOCK_RULES)
"""The codes that are checked only if there is a lock file and nobody else is asked."""

RECORD_CODES = frozenset(rule.code for rule in _RECORD_RULES)
"""The codes that are checked only against the registry's metadata."""
