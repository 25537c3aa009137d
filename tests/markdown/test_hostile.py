"""Hostile texts: conversion takes linear time."""

from collections.abc import Callable

import markdown
import pytest
from markdown.extensions import Extension
from support.growth import ATTEMPTS, seconds

from .conftest import convert

LONG: dict[str, Callable[[int], str]] = {
    "mentions in one line": lambda n: ("word " * 30 + "doi:10.1000/1 ") * (n // 2),
    "labels": lambda n: "doi:" * n,
    "prefixes": lambda n: "10.1000/" * n,
    "opening brackets": lambda n: "doi:10.1000/" + "({<" * n,
    "closing brackets": lambda n: "doi:10.1000/" + ")]}>" * n,
    "brackets apart": lambda n: "doi:10.1000/1) ( " * n,
    "open autolinks": lambda n: "<doi:" * n,
    "autolinks in autolinks": lambda n: "<doi:<a>" * n,
    "tags in an open autolink": lambda n: "<doi:" + "<a>" * n,
    "quotes in a tag": lambda n: "<a " + "\"'" * n,
    "comments": lambda n: "<!--" * n,
    "emphasis": lambda n: "_doi:10.1000/1 " * n,
    "open citations": lambda n: "[@doi:10.1000/a; " * n,
    "open braces": lambda n: "@{doi:10.1000/a{" * n,
    "brackets in citations": lambda n: "[@doi:10.1000/[[a]b]" * n,
    "code": lambda n: "`" * n + " ``\n~~~ x\n" * n,
    "dollars": lambda n: "doi:10.1000/1 " + "$x " * n,
    "entities": lambda n: "doi:10.1000/1" + "&amp;" * n,
    "attributes": lambda n: "doi:10.1000/1" + "{.a" * n,
    "a long name": lambda n: "<doi:10.1000/" + "a" * 10 * n + ">",
    "a long URL": lambda n: "https://example.org/" + "doi:10.1000/1=" * n,
    "hostile bad ones": lambda n: "".join(f"<doi:{number}>\n\n" for number in range(n // 5)),
    "bad links": lambda n: "".join(f"[x](doi:{number})\n\n" for number in range(n // 5)),
    "raw links": lambda n: "<a href=x>doi:10.1000/1</a>\n\n" * (n // 5),
    "open raw links": lambda n: "<a href='doi.org doi:10.1000/1\n\n" * (n // 5),
}


@pytest.mark.parametrize("kind", LONG)
def test_time_grows_with_the_text_and_not_faster(kind: str) -> None:
    """Beyond plain Markdown's own time, four times the text may take at most eight times as long."""
    assert any(grows_evenly(LONG[kind]) for _ in range(ATTEMPTS)), (
        "each time"
    )  # the machine may be busy


@pytest.mark.parametrize(
    "form", ["doi:10.1000/abc.{}", "(see DOI: 10.1000/abc.{})", "*doi:10.1000/a({})*"]
)
def test_a_long_line_takes_at_most_twice_as_long_as_without_dois(form: str) -> None:
    line = " ".join(f"{'some words and ' * 26}{form.format(number)}" for number in range(500))
    assert len(line) > 200_000
    assert any(  # the machine may be busy
        seconds(lambda: convert(line)) <= 2 * seconds(lambda: markdown.markdown(line))
        for _ in range(ATTEMPTS)
    )


class WithoutBrackets(Extension):
    """Markdown without its own patterns that take quadratic time for brackets."""

    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802
        names = (
            "link",
            "image_link",
            "image_reference",
            "reference",
            "short_reference",
            "short_image_ref",
        )
        for name in names:
            md.inlinePatterns.deregister(name)


def grows_evenly(text: Callable[[int], str]) -> bool:
    """Whether it does, with a tolerance of 0.1 s and an upper limit of 1 s."""
    extra, usual = [], seconds(lambda: markdown.markdown("some plain words\n" * 2_000))
    others = [WithoutBrackets()] if "[@" in text(1) else []
    for size in (500, 2_000):
        plain = seconds(lambda: markdown.markdown(text(size), extensions=others))  # noqa: B023 - called at once
        extra.append(seconds(lambda: convert(text(size), *others)) - plain)  # noqa: B023
    return extra[1] < min(6 * usual + 8 * max(extra[0], 0), 60 * usual)


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0" * 5000 + "65"], ids=["too large", "leading zeros"]
)
@pytest.mark.parametrize(
    "text",
    [
        "doi:10.1000/182 {}",
        "<doi:10.1000/a{}>",
        "[x](doi:10.1000/a{})",
        "[x](https://doi.org/10.1000/a{})",
        "{} <doi:10.1000/182.>",
    ],
)
def test_a_character_reference_of_thousands_of_digits_is_no_error(number: str, text: str) -> None:
    assert "10.1000/" in convert(text.format(f"&#{number};")).html
