"""The rules for valid but suspicious DOIs: one for each code of ``doiuri.advise``."""

from __future__ import annotations

from doiuri_cli.rules._rule import Rule, Severity


def _advice(code: str, summary: str, reason: str, example: str, instead: str = "", fix: str = "") -> Rule:
    return Rule(code, Severity.WARNING, summary, reason, example, instead, fix)


ADVICE_RULES = (
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
