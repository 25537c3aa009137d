"""Texts that make a careless search for DOIs take quadratic time."""

SYNTAXES = ("text", "html", "markdown", "rst", "asciidoc", "bibtex")

# Each is repeated to any length
PATTERNS = (
    *(
        "10.",
        "10.1/",
        "10.1000/",
        "10.1000/a(",
        "10.1000/a(-10.1000/b",
        "(10.1000/a)",
        "10.1000/a)",
    ),
    *(
        ")(10.1000/a",
        "[(",
        "10.1000/a(b[c<d{",
        "10.1000/a(b[c)d]",
        "10.1000/<1",
        "10.1000/{a}",
        "10.1000/a{",
    ),
    *(
        "%",
        "%20",
        "10.1000/a%20",
        "%2F10.1000%2Fa",
        "x10.1000/",
        "10.1000/a,",
        "10.1000/a;",
        "10.1000/a:",
    ),
    *(
        "10.1000/a'",
        "'10.1000/a",
        '10.1000/a"',
        "10.1000/.",
        "10.1000/a-",
        "10.1000/a\n",
        "10.1000/a ",
    ),
    *("10.5 ", "10.10.10.10.1 ", "10.10.10.10.10.1 ", "10.1000", "10..", "v10.2, ", "10.1000/~~~"),
    *("doi:", "doi ", "doi&&", "https://doi.org/", "https://doi.org/10.1000/", "10.1000/ahttp://"),
    *(
        "10.1000/a/full",
        "https://x.org/10.1000/a/full/",
        "/10.1000/a.pdf",
        "10.1101/1v1/",
        "/10.1093/a/1",
    ),
    *("?10.1000/a&", "?a=10.1000/a", "=10.1000/x", "10.1000/a&gt;", "&", "&lt;", "&amp;10.1000/"),
    *(
        "10.1000/日",
        "日10.1000/a日",
        "10.1000/a\u201310.1000/a",
        "10.1000/a|",
        "\u200b",
        "10.1000/a\xad",
    ),
    *("<", "<a ", "<a '", '<a "', "<a \"'", "<!--", "<![CDATA[", "<script>", "10.1000/<a "),
    "<a href=10.1000/a ",
    *(
        "`",
        "``",
        "`a``b```c",
        "```\n",
        "~~~\n",
        "](",
        "](a",
        "](()",
        "](<",
        "[a](10.1000/(",
        "\n[a]:",
        "[a",
    ),
    *("\\", "\\_", "10.1000/a\\_b", ":a:`", "`<", ".. _a: ", "\n.. _a: x\n ", "\n.. _a: 10.1000/"),
    *("\n__ x", "*", "_"),
    *(
        "{",
        "}",
        "{}",
        "{~",
        "doi={",
        'doi="',
        'doi="10.1/',
        "\\url{",
        "\\'{a}",
        "$<$",
        "a" * 50 + " ",
    ),
)


def repeated(unit: str, size: int) -> str:
    """Return a pattern repeated to about so many characters, and a DOI, so that find reads all of it.

    It skips markup after the last DOI. The number is even and no pattern is cut, since texts that end in
    other markup take other times.
    """
    return unit * 2 * (size // len(unit * 2) + 1) + " 10.1000/182"
