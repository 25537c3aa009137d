"""The options of all packages, each declared once: name, type, default, environment variable, help.

A host, such as Sphinx or the command, translates the table ``OPTIONS`` into its own options, collects what the
user wrote, and gives it to ``read_options``. The value of each option is then

1. what the user wrote, unless that is nothing;
2. or the environment variable of the option, if it has one;
3. or its default;

and is read from strings, checked, and, if it is the path of a file, taken from the host's folder.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from doiuri._urls import DOI_ORG, read_base


class Default(Enum):
    """The type of an argument that was left out."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT

MEMORY = ":memory:"
"""The value of ``cache`` for a store in memory."""

_HOME = "https://github.com/doiuri/doiuri"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_NOT_IN_ADDRESSES = frozenset(' ();<>,"')
_REDIS = {"redis", "rediss", "valkey", "valkeys", "unix"}
_LOCK_FILES = (".json", ".lock")
_SCHEME = "[A-Za-z][A-Za-z0-9+.-]+:"  # RFC 3986 section 3.1; one letter is a drive of Windows

OF_WORKS = frozenset({"authors", "year", "title"})
"""The fields of ``check_display`` that need the work."""

_FIELDS = OF_WORKS | {"name", "prefix", "suffix", "uri", "url"}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of plugins: its name, default and description, and how its values are read.

    >>> Option("details", False, "add cards to links").read({"doi_details": "Yes"}, prefix="doi_")
    True
    """

    name: str
    """The name, without the prefix that hosts such as Sphinx add."""

    default: object
    """The value of an option that is not given."""

    help: str
    """What the option is for: a phrase, with literals in backticks."""

    reader: Callable[[Any], object] | None = None
    """Returns the value for what a user wrote, or raises ValueError; by default for a flag or a string."""

    none: object = None
    """What None stands for, if the host gives it as the value; None: the default."""

    variable: str | None = None
    """The environment variable that is read if the option is not given."""

    file_suffix: str | None = None
    """The end of values that are paths of files, such as ".csl"; "" if all values are, None if no value is."""

    is_folder: bool = False
    """Whether values are paths of folders."""

    def read(
        self,
        given: Mapping[str, object],
        prefix: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the value: the one given, or that of the variable, or the default.

        An empty string counts as not given, if the option has a variable or no default.

        :param given: values by the names that users write; others are ignored.
        :param prefix: what these names begin with, such as ``"doi_"``.
        :param environ: variables to read instead of the process's environment.
        :raises ValueError: if the value is invalid; the message begins with the option or variable.
        """
        where = prefix + self.name
        value = given.get(where, self.default)
        if value == "" and (self.variable is not None or self.default in (None, ())):
            value = None

        # Nothing is given: the variable counts
        is_given = where in given and value is not None
        if not is_given and self.variable is not None:
            where = self.variable
            variables = os.environ if environ is None else environ
            value = variables.get(where) or self.default

        # None is given, or the default
        if value is None:
            return self.default if self.none is None else self.none
        try:
            return self._checked(value)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None

    def _checked(self, value: object) -> object:
        """Return a value as the type of the option; without a reader, one whose default is a bool is a flag."""
        if self.reader is not None:
            return self.reader(value)
        if isinstance(self.default, bool):
            return flag(value)
        return text(value)

    def names_file(self, value: object) -> bool:
        """Return whether a value is the path of a file.

        >>> option("reference_style").names_file("own.csl"), option("reference_style").names_file("numeric")
        (True, False)
        """
        if not isinstance(value, str) or not value or self.file_suffix is None:
            return False
        return value.lower().endswith(self.file_suffix)

    def in_folder(self, value: Any, folder: str | os.PathLike[str]) -> Any:
        """Return a value with the relative paths of files in it as seen from a folder, and ``~`` as the user's.

        >>> option("works").in_folder(["works.bib", "/more.bib"], "docs")
        ['docs/works.bib', '/more.bib']
        >>> option("reference_style").in_folder("numeric", "docs")
        'numeric'
        """
        if isinstance(value, list | tuple):
            return type(value)(self.in_folder(each, folder) for each in value)
        if self.is_folder or self.names_file(value):
            return str(Path(folder, os.path.expanduser(value)))  # noqa: PTH111 (raises for unknown users)
        return value

    def describe(self) -> str:
        """Return what the option is for, and its default, as a line of plain text.

        >>> option("offline").describe()
        'Send no requests; use the cache and the lock file (default: DOIURI_OFFLINE, else no)'
        """
        defaults = []
        if self.variable is not None:
            defaults.append(self.variable)
        if isinstance(self.default, bool):
            word = "yes" if self.default else "no"
            defaults.append(word)
        elif self.default not in (None, ()):
            defaults.append(f"{self.default}")

        meaning = self.help[:1].upper() + self.help[1:].replace("`", "")
        if not defaults:
            return meaning
        return f"{meaning} (default: {', else '.join(defaults)})"


def text(value: object) -> str:
    """Return a string; raises ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.80} is not a string")  # noqa: TRY004
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return the strings in a list, or the only one; raises ValueError for anything else.

    >>> texts("a.bib"), texts(["a.bib", "b.bib"])
    (('a.bib',), ('a.bib', 'b.bib'))
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError(f"{value!r:.80} is not a list of strings")


def path(value: object) -> str:
    """Return a path as a string; raises ValueError for anything but a string or a path."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return text(value)


def flag(value: object) -> bool:
    """Return whether a flag is on; raises ValueError for any other word."""
    word = str(value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(
        f"{value!r:.80} is neither true (1, true, yes, on) nor false (0, false, no, off)"
    )


def number(unit: str, *, whole: bool = False, zero: bool = False) -> Callable[[object], float]:
    """Return the reader of an option whose values are numbers above 0, or strings of such numbers.

    >>> number("seconds")("2.5")
    2.5

    :param unit: what is counted, such as "seconds".
    :param whole: the number is an integer.
    :param zero: the number may be 0.
    """
    kind = "whole number" if whole else "number"
    least = ", 0 or more" if zero else " above 0"

    def read(value: object) -> float:
        count = _whole_number(value) if whole else _number(value)
        is_zero = zero and count == 0
        if count is None or not (is_zero or 0 < count < inf):
            raise ValueError(f"{value!r:.80} is not a {kind} of {unit}{least}")
        return count

    return read


def _whole_number(value: object) -> int | None:
    """Return a value as an integer; None if it is not one."""
    if isinstance(value, int | str) and not isinstance(value, bool):
        with suppress(ValueError):
            return int(value)
    return None


def _number(value: object) -> float | None:
    """Return a value as a float; None if it is not a number, or too large."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            return float(value)
    return None


def choice(*words: str) -> Callable[[object], str]:
    """Return the reader of an option whose value is one of some words."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"{value!r:.80} is not one of {', '.join(words)}")
        return value

    return read


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the most similar known one, or all of them.

    >>> hint("offlin", ["offline", "cache"]), hint("x", ["offline", "cache"])
    ('; did you mean offline?', '; known are cache, offline')
    """
    from difflib import get_close_matches  # slow to import

    similar = get_close_matches(word, known, 1)
    if similar:
        return f"; did you mean {similar[0]}?"
    return f"; known are {', '.join(sorted(known))}"


def _base(value: object) -> str:
    return read_base(text(value))


def _address(value: object) -> str:
    """Return a mail address without "mailto:"; raises ValueError for anything else.

    It becomes part of a comment in the User-Agent header, so it may have no blanks, brackets or separators.
    """
    address = text(value).strip().removeprefix("mailto:")
    local, _, domain = address.rpartition("@")
    is_printable = address.isascii() and address.isprintable()
    if not (local and domain and is_printable and _NOT_IN_ADDRESSES.isdisjoint(address)):
        raise ValueError(f"{value!r:.80} is not a mail address")
    return address


def _cache(value: object) -> str:
    address = path(value)
    store_kind(address)
    return address


def check_display(text: str) -> str:
    """Return ``text`` if ``display`` takes it: "name", "link", or a template.

    A template may contain ``{name}``, ``{prefix}``, ``{suffix}``, ``{uri}`` and ``{url}``, and of the work
    ``{authors}``, ``{year}`` and ``{title}``.

    :raises ValueError: if it is anything else.
    """
    from string import Formatter  # slow to import

    if text in {"name", "link"}:
        return text
    no_template = f"not a template for DOIs: {text!r}"
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"{no_template} ({error})") from None

    # Each piece is some text and the field after it, whose name is None if none follows
    fields = [piece for piece in pieces if piece[1] is not None]
    for _, name, spec, conversion in fields:
        if name not in _FIELDS or spec or conversion:
            raise ValueError(f"{no_template} (fields are {', '.join(sorted(_FIELDS))})")
    if not fields:
        raise ValueError(f'{no_template} (use "name", "link", or text with {{name}})')
    return text


def _user_agent(value: object) -> str:
    agent = text(value)
    if not (agent.isascii() and agent.isprintable()):  # RFC 9110 section 5.5
        raise ValueError(f"{value!r:.80} is not printable ASCII text")
    return agent


SETTINGS = (
    Option("resolver", DOI_ORG, "base URL of the DOI proxy", _base, variable="DOIURI_RESOLVER"),
    Option(
        "offline",
        False,
        "send no requests; use the cache and the lock file",
        variable="DOIURI_OFFLINE",
    ),
    Option("mailto", None, "mail address sent with requests", _address, variable="DOIURI_MAILTO"),
    Option("cache", None, "path or URL of the cache", _cache, variable="DOIURI_CACHE"),
)
"""The options that every package has."""

OPTIONS = (
    *SETTINGS,
    Option("resolve", True, "look up DOIs", none=False),
    Option("timeout", 10, "seconds for one request", number("seconds")),
    Option("budget", 2, "seconds for all requests", number("seconds")),
    Option("lock", None, "path of a lock file", path, file_suffix=""),
    Option(
        "text",
        "name",
        "text of links without one: `name`, `link` or a template",
        lambda value: check_display(text(value)),
    ),
    Option("link", DOI_ORG, "base URL of the links", _base),
    Option(
        "citation",
        None,
        "form of citations, to override the style: `author-year` or `number`",
        choice("author-year", "number"),
    ),
    Option("notes", None, "whether citations become footnotes, if the style is one of notes", flag),
    Option(
        "reference_style",
        None,
        "style of the list: `author-date`, `numeric`, the path of a .csl file or a name in `csl_path`",
        file_suffix=".csl",
    ),
    Option(
        "csl_path",
        (),
        "folders of .csl files, such as Zotero's, in which styles are found by name",
        texts,
        is_folder=True,
    ),
    Option(
        "abbreviations",
        None,
        "JSON file of abbreviations of journals, as Zotero has them",
        path,
        file_suffix="",
    ),
    Option(
        "reference_locale",
        None,
        "locale of the list of references, such as `de-DE`, or the path of its .xml file",
        file_suffix=".xml",
    ),
    Option(
        "works",
        (),
        "files of works without a DOI and of corrections: BibTeX, CSL-JSON, CSL-YAML",
        texts,
        file_suffix="",
    ),
)
"""The options of all plugins that show DOIs, each declared here only: hosts translate this table."""

_OF_SOME = (
    Option("details", False, "add cards with title, authors, journal and year to links"),
    Option("bare", True, "link `doi:10.1000/182` in running text", none=False),
    Option("bare_names", False, "link `10.1000/182` in running text, without a label"),
    Option("bare_links", False, "link `https://doi.org/10.1000/182` in running text"),
    Option("follow", "record", "what a `doi:` URI returns", choice("record", "target")),
    Option("private", False, "whether redirects may lead into a private network"),
    Option("rate", None, "requests per second", number("requests per second")),
    Option("concurrency", 3, "requests in flight at the same time", number("requests", whole=True)),
    Option("user_agent", None, "the User-Agent header", _user_agent),
    Option("long_running", False, "whether the process is a server"),
)

_BY_NAME = {option.name: option for option in (*OPTIONS, *_OF_SOME)}


def option(name: str, /, **changes: Any) -> Option:
    """Return an option that several packages have.

    >>> option("budget", default=60).read({})
    60.0

    :param changes: what this host changes, such as the ``default``.
    """
    return replace(_BY_NAME[name], **changes)


def read_options(
    options: Iterable[Option],
    given: Mapping[str, object],
    prefix: str = "",
    environ: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] = "",
) -> dict[str, Any]:
    """Return the values of options by their names, checked; those given may be strings.

    An option that is missing or None has its default, but None turns ``resolve`` off. ``resolver``,
    ``offline``, ``mailto`` and ``cache`` default to their environment variables. An empty string means "not
    given" for these and for options without a default.

    :param options: the options to read, such as ``SETTINGS``.
    :param given: values by the names that users write; others are ignored.
    :param prefix: what all these names begin with, such as ``"doi_"``.
    :param environ: variables to read instead of the process's environment.
    :param folder: the folder of relative paths of files; by default the current one.
    :raises ValueError: if a value is invalid; the message begins with the name of the option or variable.
    """
    values = {}
    for option in options:
        value = option.read(given, prefix, environ)
        values[option.name] = option.in_folder(value, folder)
    return values


def with_defaults(**defaults: object) -> tuple[Option, ...]:
    """Return ``OPTIONS``, some with other defaults: ``with_defaults(budget=60)``."""
    options = []
    for option in OPTIONS:
        default = defaults.get(option.name, option.default)
        options.append(replace(option, default=default))
    return tuple(options)


def store_kind(address: str) -> tuple[Literal["memory", "redis", "lock", "sqlite"], str]:
    """Return the kind of store that an address names, and the store's path or URL; open nothing.

    >>> [store_kind(address) for address in (":memory:", "cache.sqlite", "sqlite:///tmp/a", "doi.lock.json")]
    [('memory', ''), ('sqlite', 'cache.sqlite'), ('sqlite', '/tmp/a'), ('lock', 'doi.lock.json')]

    :raises ValueError: if the address names no store, or redis-py is needed and not installed.
    """
    scheme, colon, rest = address.partition(":")
    if address == MEMORY:
        return "memory", ""
    if colon and scheme.lower() in _REDIS and rest.startswith("//"):
        return "redis", _redis_url(address)
    if address.strip(":").lower() == "memory":
        raise ValueError(
            f"{address!r} is not a store: give {MEMORY} for a store in memory, ./memory for a file"
        )

    path = address
    if re.match(_SCHEME, address):
        if scheme.lower() != "sqlite":
            raise ValueError(
                f"no store is known for {scheme}: (a path, {MEMORY}, redis://… or rediss://…)"
            )
        path = rest.removeprefix("//")
    has_unknown_home = os.path.expanduser(path).startswith("~")  # noqa: PTH111
    if not path.strip() or "\0" in path or has_unknown_home:
        raise ValueError(f"{path!r} is not a path for a store")
    if path.lower().endswith(_LOCK_FILES):
        return "lock", path
    return "sqlite", path


def _redis_url(url: str) -> str:
    """Return the URL of a Redis server; raises ValueError if it is invalid or redis-py is not installed."""
    if find_spec("redis") is None:
        raise ValueError("a store on Redis needs redis-py: pip install 'doiuri[redis]'")
    try:
        _ = urlsplit(url).port
    except ValueError:  # its text may hold a part of the password
        raise ValueError("not a URL of a Redis server, such as redis://localhost:6379/0") from None
    return url


def deadline_in(seconds: float | None) -> float:
    """Return when a budget ends that begins now, on the clock of ``time.monotonic``.

    :param seconds: the budget; None: no limit, so infinity.
    """
    return inf if seconds is None else time.monotonic() + seconds


def time_left(deadline: float) -> float | None:
    """Return the budget that is left: the seconds until a deadline, or None if that is infinite.

    At the end it is a millisecond, so that what is stored is read in any case.
    """
    return None if deadline == inf else max(deadline - time.monotonic(), 0.001)


@cache
def user_agent(distribution: str = "doiuri", mailto: str | None = None) -> str:
    """Return the User-Agent header for a package that uses doiuri: its name and version first, contact last.

    Such as "sphinx-doiuri/1.0 doiuri/1.0 (+https://github.com/doiuri/doiuri; mailto:me@example.org)".

    :param distribution: the name of the installed distribution that sends the request.
    :param mailto: the user's mail address.
    """
    contact = f"+{_HOME}"
    if mailto:
        contact = f"{contact}; mailto:{mailto}"
    core = f"{_product('doiuri')} ({contact})"
    if distribution == "doiuri":
        return core
    return f"{_product(distribution)} {core}"


def _product(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return f"{distribution}/{version(distribution)}"
    except PackageNotFoundError:  # run from a source tree that is not installed
        return distribution


Option.__module__ = "doiuri.plugins.options"  # for tracebacks and pickles
