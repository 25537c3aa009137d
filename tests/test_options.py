"""Every option in every host: the same values are right, and the same words reject the others.

Each value is tried once, and each host tries one right and one wrong value of each of its options.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import docutils_doiuri
import markdown_doiuri
import pytest
import yaml
from docutils.core import publish_parts
from docutils.writers.html5_polyglot import Writer
from doiuri.plugins.clients import ClientOptions
from doiuri.resolver import Resolver
from fsspec_doiuri import DOIFileSystem
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from support.cli.command import doiuri
from support.sphinx_build import build, write


def right(*values: object) -> list[tuple[object, str]]:
    return [(value, "") for value in values]


def wrong(words: str, *values: object) -> list[tuple[object, str]]:
    return [(value, f"{value!r} {words}") for value in values]


NO_TEXT = "is not a string"
NO_TEXTS = "is not a list of strings"
NO_FLAG = "is neither true (1, true, yes, on) nor false (0, false, no, off)"
NO_SECONDS = "is not a number of seconds above 0"
NO_URL = "is not an http or https URL such as https://doi.org"
NO_BASE = "must have neither query nor fragment"

VALUES = {
    "resolver": [
        *right("https://doi.example/x/", None, ""),
        *wrong(NO_URL, "doi.org"),
        *wrong(NO_BASE, "https://doi.org?x"),
        *wrong("is not ASCII: write its host as xn--…", "http://müller.example"),
        *wrong(NO_TEXT, 7),
    ],
    "offline": [
        *right(True, 1, "1", "true", "Yes", " ON ", False, 0, "0", "False", "OFF", None, ""),
        *wrong(NO_FLAG, "perhaps", 2, []),
    ],
    "mailto": [
        *right("me@example.org", "mailto:me@example.org", ""),
        *wrong(
            "is not a mail address", "me", "me@", "me@example.org\r\nX: y", "me@example.org (me)"
        ),
        *wrong(NO_TEXT, 1),
    ],
    "cache": [
        *right(":memory:", "cache.sqlite", ""),
        *wrong(
            "is not a store: give :memory: for a store in memory, ./memory for a file", "memory"
        ),
        *wrong("is not a path for a store", "~no one/x"),
        ("foo://x", "no store is known for foo: (a path, :memory:, redis://… or rediss://…)"),
        (
            "redis://me:secret@localhost:port",
            "not a URL of a Redis server, such as redis://localhost:6379/0",
        ),
    ],
    "timeout": [
        *right(1, 2.5, "2.5"),
        *wrong(NO_SECONDS, "soon", "inf", "", True, 0, -1, float("nan"), []),
    ],
    "budget": [
        *right(1, 2.5, "2.5", None),
        *wrong(NO_SECONDS, "soon", True, 0, -1, float("inf")),
        (10**400, f"{10**79} {NO_SECONDS}"),
    ],
    "rate": [
        *right(1, 2.5, "2.5", None, ""),
        *wrong("is not a number of requests per second above 0", "fast", True, 0),
    ],
    "concurrency": [
        *right(1, "2"),
        *wrong("is not a whole number of requests above 0", 1.5, "1.5", True, 0),
    ],
    "private": [*right(True, "no", None), *wrong(NO_FLAG, "perhaps")],
    "user_agent": [
        *right("me/1", None, ""),
        *wrong("is not printable ASCII text", "me/1\r\nX: y", "mé/1"),
        *wrong(NO_TEXT, 5),
    ],
    "follow": [*right("target", None), *wrong("is not one of record, target", "page")],
    "lock": [*right(""), *wrong(NO_TEXT, 7, [])],
    "resolve": [*right(False, "off", None), *wrong(NO_FLAG, "existence")],
    "text": [
        *right("name", "link", "DOI {name}"),
        (
            "10.1000",
            'not a template for DOIs: \'10.1000\' (use "name", "link", or text with {name})',
        ),
        ("{nam}", "not a template for DOIs: '{nam}' (fields are authors, name, prefix, suffix, "),
        *wrong(NO_TEXT, 5),
    ],
    "link": [
        *right("https://dx.example/"),
        *wrong(NO_URL, "", "ftp://doi.org", "javascript:alert(1)"),
        *wrong(NO_BASE, "https://doi.org/?"),
    ],
    "citation": [
        *right("number", "", None),
        *wrong("is not one of author-year, number", "numbers", 1),
    ],
    "notes": [*right(True, "no", "", None), *wrong(NO_FLAG, "maybe", 2)],
    "reference_style": [*right("numeric", ""), *wrong(NO_TEXT, 7)],
    "csl_path": [*right([], "", "no-folder"), *wrong(NO_TEXTS, [1], 7)],
    "abbreviations": [*right("", None), *wrong(NO_TEXT, [1], 7)],
    "works": [*right([], ""), *wrong(NO_TEXTS, [1], 7)],
    "details": [*right("no"), *wrong(NO_FLAG, "maybe")],
    "list_links": [*right("no"), *wrong(NO_FLAG, "maybe")],
    "linkcheck": [*right("no"), *wrong(NO_FLAG, 2)],
    "lock_prune": [*right("yes"), *wrong(NO_FLAG, "maybe")],
    "hardcoded_links": [*right("Yes"), *wrong(NO_FLAG, [])],
    "bare": [*right("no", None), *wrong(NO_FLAG, "maybe")],
    "css_class": [*right("a  b", None), *wrong(NO_TEXT, ["doi"])],
    "warn": [*right(print), *wrong("is not callable", "loudly")],
    "fail-on": [*right("never"), *wrong("is not one of error, warning, never", "errors")],
    "tex-escape": [*right("raw"), *wrong("is not one of any, raw, escape", 1)],
    "select": [
        *right("syntax", "syntax,not-found", ["syntax", "raw-link"]),
        *wrong(NO_TEXTS, [1]),
        ("not-fond", "unknown code 'not-fond'; did you mean not-found?"),
    ],
    "ignore": [*right("syntax"), ("nope", "unknown code 'nope'; known are ")],
    "exclude": [*right("*.txt"), *wrong("is not a pattern", "!")],
    "max-size": [*right("1000"), *wrong("is not a whole number of bytes above 0", 1.5)],
    "max-age": [*right(0), *wrong("is not a whole number of days, 0 or more", -1)],
    "locked": [*right("no"), *wrong(NO_FLAG, "maybe")],
}

SETTINGS = ("resolver", "offline", "mailto", "cache")
SHOWN = (*SETTINGS, "timeout", "budget", "lock", "resolve", "text", "link")
CITED = ("citation", "notes", "reference_style", "csl_path", "abbreviations", "works")
OWN = ("select", "ignore", "exclude", "fail-on")


class Host(NamedTuple):
    """A host: the options that it has, and what it says about a value, or ""."""

    say: Callable[[str, Any, Path], str]
    names: tuple[str, ...]
    spelling: str = "{}: "
    takes: tuple[type, ...] = (object,)


def said(make: Callable[[], object]) -> str:
    try:
        make()
    except ValueError as error:
        return str(error)
    return ""


def resolver(name: str, value: object, _folder: Path) -> str:
    names = {"resolver": "base", "cache": "store"}
    given: dict[str, Any] = {"store": None, names.get(name, name): value}
    text = said(lambda: Resolver(**given))
    return text.replace(f"{names.get(name, name)}: ", f"{name}: ", 1)


def client(name: str, value: Any, _folder: Path) -> str:
    return said(lambda: ClientOptions.read(**{name: value}))


def filesystem(name: str, value: Any, _folder: Path) -> str:
    return said(lambda: DOIFileSystem(**{name: value}, skip_instance_cache=True))


def sphinx(name: str, value: object, folder: Path) -> str:
    conf = f"from math import inf, nan\nextensions = ['sphinx_doiuri']\ndoi_{name} = {value!r}\n"
    source = write(folder / "src", {"conf.py": conf, "index.rst": "T\n=\n"})
    built = build(source, folder / "out", "dummy")
    assert built.status == (2 if built.warnings else 0)
    assert not built.warnings or "reading sources" not in built.said
    return re.split("onfiguration error:\n|ConfigError: |^$", built.warnings)[-1]


def docutils(name: str, value: object, _folder: Path) -> str:
    stream = io.StringIO()
    settings = {
        "doi_resolve": False,
        f"doi_{name}": value,
        "report_level": 1,
        "warning_stream": stream,
    }
    parts = publish_parts(
        ":doi:`x <10.1000/1>`",
        parser=docutils_doiuri.Parser(),
        writer=Writer(),
        settings_overrides=settings,
    )
    assert 'href="http' in parts["body"]  # the link stays
    return stream.getvalue().partition("(ERROR/3) ")[2]


def markdown(name: str, value: object, _folder: Path) -> str:
    return said(lambda: markdown_doiuri.makeExtension(**{name: value}))


def mkdocs(name: str, value: object, folder: Path) -> str:
    (folder / "docs").mkdir()
    file = folder / "mkdocs.yml"
    file.write_text(yaml.safe_dump({"site_name": "T", "plugins": [{"doiuri": {name: value}}]}))
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        load_config(str(file))
    except Abort:
        (text,) = messages
        return text.partition("Plugin 'doiuri' option ")[2]
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    return ""


def command(folder: Path, *words: str, **environ: str) -> str:
    (folder / "a.md").touch()
    with mock.patch.dict(os.environ, environ):
        run = doiuri("check", "a.md", *words, cwd=folder)
    assert run.returncode == (2 if "doiuri: " in run.stderr else 0), run.stderr
    return run.stderr.partition("doiuri: ")[2]


def file(name: str, value: object, folder: Path) -> str:
    written = value if isinstance(value, float) else json.dumps(value)
    (folder / "doiuri.toml").write_text(f"{name} = {written}\n")
    return command(folder, DOIURI_CACHE="")


def environment(name: str, value: str, folder: Path) -> str:
    return command(folder, **{"DOIURI_CACHE": "", f"DOIURI_{name.upper()}": value}).replace(
        name.upper(), name
    )


def line(name: str, value: str, folder: Path) -> str:
    return command(folder, f"--{name}={value}")


HOSTS = {
    "resolver": Host(
        resolver, (*SETTINGS, "timeout", "budget", "rate", "concurrency", "private", "user_agent")
    ),
    "client": Host(client, ("resolver", "offline", "mailto", "follow", "private")),
    "filesystem": Host(filesystem, (*SETTINGS, "lock", "private")),
    "sphinx": Host(
        sphinx,
        (*SHOWN, *CITED, "details", "linkcheck", "lock_prune", "hardcoded_links"),
        "doi_{}: ",
    ),
    "docutils": Host(docutils, SHOWN, "doi_{}: "),
    "markdown": Host(
        markdown, (*SHOWN, *CITED, "details", "list_links", "bare", "css_class", "warn", "locked")
    ),
    "mkdocs": Host(
        mkdocs, (*SHOWN, *CITED, "details", "list_links", "bare", "css_class"), "'{}': "
    ),
    "file": Host(
        file,
        (
            *SETTINGS,
            "timeout",
            "budget",
            "rate",
            "lock",
            "tex-escape",
            "max-size",
            "max-age",
            "locked",
            *OWN,
        ),
        "doiuri.toml: {}: ",
        (str, int, float, list),
    ),
    "environment": Host(environment, SETTINGS, "DOIURI_{}: ", (str,)),
    "line": Host(line, ("resolver", "cache", "lock", *OWN), "--{}: ", (str,)),
}


def cases() -> Iterator[tuple[str, str, object, str]]:
    """Yield hosts with their options, and a value of each with what is said about it."""
    for option, values in VALUES.items():
        names = [name for name, host in HOSTS.items() if option in host.names]
        left = [*range(len(values))]
        for name in names:
            for number in representatives(HOSTS[name], values, left):
                yield (name, option, *values[number])
        for number in left:
            value, words = values[number]
            name = next(name for name in names if isinstance(value, HOSTS[name].takes))
            yield name, option, value, words


def representatives(host: Host, values: list[tuple[object, str]], left: list[int]) -> list[int]:
    """Return the indices of a right and a wrong value that a host takes, and remove them from those left."""
    taken = [number for number, (value, _) in enumerate(values) if isinstance(value, host.takes)]
    right = [number for number in taken if not values[number][1]]
    wrong = [number for number in taken if values[number][1]]
    chosen = []
    for numbers in (right, wrong):
        untried = [number for number in numbers if number in left]
        chosen += (untried or numbers)[:1]
    left[:] = [number for number in left if number not in chosen]
    return chosen


CASES: dict[str, list[tuple[str, object, str]]] = {option: [] for option in VALUES}
"""For each option, hosts and values, with what is said about them."""
for host_name, option_name, tried, told in cases():
    CASES[option_name].append((host_name, tried, told))


@pytest.mark.parametrize("option", CASES)
def test_a_value_has_the_same_verdict_and_words_in_every_host(option: str, tmp_path: Path) -> None:
    wrong = []
    for number, (name, value, words) in enumerate(CASES[option]):
        folder = tmp_path / str(number)
        folder.mkdir()
        host = HOSTS[name]

        text = host.say(option, value, folder)

        expected = host.spelling.format(option) + words if words else ""
        if (text[: len(expected)] if words else text) != expected:
            wrong.append(f"{name} says {text!r} about {option} = {value!r}, not {expected!r}")
    assert not wrong, "\n".join(wrong)
