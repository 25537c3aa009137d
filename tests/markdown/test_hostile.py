"""Hostile texts: conversion takes linear time."""

from collections.abc import Callable
from cProfile import Profile

import markdown
import pytest
from markdown.extensions import Extension
from support.growth import ATTEMPTS, is_linear, seconds

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
def test_the_calls_of_functions_grow_with_the_text_and_not_faster(kind: str) -> None:
    """Beyond plain Markdown's own calls, four times the text may take five times as many."""
    text = LONG[kind]
    convert(text(1))  # what is compiled and cached once

    short = extra_calls(text(200))
    long = extra_calls(text(800))

    assert long <= 5 * short + FEW, f"{kind}: {short} calls, and {long} for four times the text"


@pytest.mark.parametrize("kind", LONG)
def test_no_pattern_backtracks(kind: str) -> None:
    """Calls of functions do not show the time within a pattern."""
    texts = {size: LONG[kind](size) for size in (200, 1_600)}

    def job(size: int) -> None:
        convert(texts[size], *others_for(texts[size]))

    assert is_linear(job, *texts), f"{kind}: eight times the text takes 23 times as long, or longer"


@pytest.mark.parametrize(
    "form", ["doi:10.1000/abc.{}", "(see DOI: 10.1000/abc.{})", "*doi:10.1000/a({})*"]
)
def test_a_long_line_takes_at_most_twice_as_long_as_without_dois(form: str) -> None:
    line = " ".join(f"{'some words and ' * 26}{form.format(number)}" for number in range(200))
    assert len(line) > 80_000
    assert any(  # the machine may be busy
        seconds(lambda: convert(line)) <= 2 * seconds(lambda: markdown.markdown(line))
        for _ in range(ATTEMPTS)
    )


FEW = 200


def extra_calls(source: str) -> int:
    """Return how many functions are called beyond those of plain Markdown."""
    others = others_for(source)
    with_ours = calls(lambda: convert(source, *others))
    return with_ours - calls(lambda: markdown.markdown(source, extensions=others))


def calls(job: Callable[[], object]) -> int:
    """Return how many functions are called by a job: its work, which no busy machine changes."""
    profile = Profile()
    profile.runcall(job)
    return sum(entry.callcount for entry in profile.getstats())


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


def others_for(source: str) -> list[Extension]:
    """Return the extensions that keep plain Markdown from taking quadratic time for a text."""
    return [WithoutBrackets()] if "[@" in source else []


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
