"""The configuration, and the file that sets it: doiuri.toml, or [tool.doiuri] in pyproject.toml."""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Patterns, is_pattern
from doiuri_cli.readers import TYPES
from doiuri_cli.rules import LOCK_CODES, RECORD_CODES, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doiuri_cli.rules import Finding

    Codes = frozenset[str]
    Values = dict[str, object]
    Check = Callable[[object, str], object]

NAMES = ("doiuri.toml", "pyproject.toml")
"""The files that are looked for."""

LOCK_NAME = "doi.lock.json"
"""The lock file that is used if it exists and no other is named."""

_EXTENSION = re.compile(r"\.[^./\\]+")
_NO_STAR = re.compile(r"[?\[]")  # what else fnmatch takes for a pattern

DEFAULT_MAX_AGE = 30
"""Days for which works are fresh, in the lock file and in the cache."""

GONE = frozenset({"kind-differs"})
"""Codes that a configuration may still name."""

FAIL_ON = ("error", "warning", "never")
TEX_ESCAPE = ("any", "raw", "escape")


class ConfigError(ValueError):
    """The configuration is wrong; the message says where."""


class Config(NamedTuple):
    """What to check, and how.

    :ivar folders: the absolute paths of the folders that are searched.
    :ivar include: if there are any, a file in a folder must match one of them.
    :ivar exclude: files and folders to leave out.
    :ivar extensions: more extensions, in lower case, each with the type that such files are read as.
    :ivar force_exclude: whether ``exclude`` is for named files, too.
    :ivar select: the codes to report; None: all.
    :ivar ignore: the codes not to report.
    :ivar ignored_dois: the codes not to report of DOIs that match a pattern; ``*`` in it is any text.
    :ivar per_file_ignores: the codes not to report in files that match a pattern.
    :ivar fail_on: findings of this severity or worse make the exit code 1: "error", "warning" or "never".
    :ivar max_size: files in folders are read up to this size, in bytes.
    :ivar tex_escape: how DOI fields of BibTeX have to write ``_``: "raw", "escape" or "any".
    :ivar records: whether to compare entries with the registry's metadata.
    :ivar max_age: works in the lock file that are older than so many days are asked for again; 0: all.
    :ivar columns: if there are any, only the columns with these names are read.
    :ivar lock: the path of the lock file; None: none.
    :ivar locked: whether all answers have to come from the lock file.
    :ivar resolver: URL of the resolver; None: ``DOIURI_RESOLVER`` or https://doi.org.
    :ivar offline: send no requests; None: what ``DOIURI_OFFLINE`` says.
    :ivar mailto: mail address for the User-Agent header; None: ``DOIURI_MAILTO``.
    :ivar cache: path or URL of the store; None: ``DOIURI_CACHE`` or the user's cache folder.
    :ivar timeout: seconds for one request.
    :ivar budget: seconds for all requests; None: no limit.
    :ivar rate: requests per second; None: the resolver's default.
    """

    folders: tuple[str, ...] = ()
    include: tuple[Patterns, ...] = ()
    exclude: tuple[Patterns, ...] = ()
    extensions: tuple[tuple[str, str], ...] = ()
    force_exclude: bool = False
    select: Codes | None = None
    ignore: Codes = frozenset()
    ignored_dois: tuple[tuple[str, Codes], ...] = ()
    per_file_ignores: tuple[tuple[Patterns, Codes], ...] = ()
    fail_on: str = "error"
    max_size: int = 50_000_000
    tex_escape: str = "any"
    records: bool = False
    max_age: int = DEFAULT_MAX_AGE
    columns: tuple[str, ...] = ()
    lock: str | None = None
    locked: bool = False
    resolver: str | None = None
    offline: bool | None = None
    mailto: str | None = None
    cache: str | None = None
    timeout: float = 10.0
    budget: float | None = None
    rate: float | None = None

    @property
    def needs_lock(self) -> bool:
        """Whether the lock file has to have all DOIs: nobody else is asked."""
        return self.lock is not None and bool(self.locked or self.offline)

    @property
    def codes(self) -> Codes:
        """The codes that are checked."""
        codes = frozenset(RULES) if self.select is None else self.select
        if not self.needs_lock:
            codes -= LOCK_CODES
        if not self.records:
            codes -= RECORD_CODES
        return codes - self.ignore

    def codes_for(self, path: str) -> Codes:
        """Return the codes that are checked in a file."""
        codes = self.codes
        if self.per_file_ignores:
            absolute = os.path.abspath(path)  # noqa: PTH100 - links are not followed
            for patterns, ignored in self.per_file_ignores:
                if patterns.match(absolute):
                    codes -= ignored
        return codes

    def ignores(self, finding: Finding) -> bool:
        """Return whether a finding is ignored because of its DOI."""
        return finding.doi is not None and any(
            finding.code in codes and _pattern(pattern).fullmatch(finding.doi)
            for pattern, codes in self.ignored_dois
        )


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern of names: ASCII letters match in upper and lower case.

    A text between two stars is matched where it occurs first, so that the time is not exponential.
    """
    return re.compile(fnmatch.translate(_NO_STAR.sub(r"[\g<0>]", pattern)), re.IGNORECASE)


def read_config(file: str | None, *, isolated: bool = False) -> Values:
    """Return the arguments of ``Config`` that a configuration file gives.

    :param file: the file; None: the nearest one in the current folder and those above it.
    :param isolated: read no file; only the default lock file in the current folder counts.
    :raises ConfigError: if the file cannot be read, or contains an unknown key or a wrong value.
    """
    path, table = _table_for(file, isolated=isolated)
    values = _values(table, path)
    lock = values.pop("lock", None)
    if lock is None:
        default = path.parent / LOCK_NAME
        lock = _relative(default) if default.is_file() else None
    return values | {"lock": lock or None}


def default_lock(file: str | None, *, isolated: bool = False) -> str:
    """Return the path of the lock file that is used if none is named: beside the configuration file.

    :param file: the configuration file; None: the nearest one.
    :param isolated: read no file.
    """
    return _relative(_table_for(file, isolated=isolated)[0].parent / LOCK_NAME)


def _relative(path: Path) -> str:
    """Return a path as it is best shown: relative to the current folder, unless that is longer."""
    absolute = os.path.abspath(path)  # noqa: PTH100
    try:
        return min(os.path.relpath(absolute), absolute, key=len)
    except ValueError:  # on another drive
        return absolute


def _table_for(file: str | None, *, isolated: bool) -> tuple[Path, Values]:
    """Return the configuration file and our table in it; an empty one if there is no file."""
    if file is not None and not isolated:
        path = Path(file)
        table = _table(path)
        if table is None:
            raise ConfigError(f"{file}: there is no [tool.doiuri] in it")
        return path, table
    here = Path.cwd()
    for folder in () if isolated else (here, *here.parents):
        for name in NAMES:
            path = folder / name
            if path.is_file() and (table := _table(path)) is not None:
                return path, table
    return here / NAMES[0], {}


def _table(path: Path) -> Values | None:
    """Return our table in a file; None if it has none."""
    import tomllib  # slow to import

    try:
        content: Values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or nested too deeply
        raise ConfigError(f"{path}: {error}") from None
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool")
    table = tools.get("doiuri") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.doiuri must be a table")
    return table


def _values(table: Values, path: Path) -> Values:
    values: Values = {}
    folder = os.path.abspath(path.parent)  # noqa: PTH100
    for key, value in table.items():
        if key not in CHECKS:
            raise ConfigError(f"{_relative(path)}: {key}: unknown key{hint(key, CHECKS)}")
        try:
            checked = CHECKS[key](value, folder)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{_relative(path)}: {key}: {error}") from None
        # as a table, it is for DOIs
        is_for_dois = key == "ignore" and isinstance(checked, tuple)
        values["ignored_dois" if is_for_dois else key.replace("-", "_")] = checked
    return values


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the most similar known one, or all of them."""
    from difflib import get_close_matches  # slow to import

    near = get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"


def check_codes(codes: Iterable[str]) -> frozenset[str]:
    """Return codes as a set; codes that are gone are left out, with a note on standard error.

    :raises ValueError: if one is unknown.
    """
    found = frozenset(codes)
    for code in sorted(found & GONE):
        sys.stderr.write(f"doiuri: there is no code {code} any more; remove it\n")
    for code in sorted(found - RULES.keys() - GONE):
        raise ValueError(f"unknown code {code!r}{hint(code, RULES)}")
    return found - GONE


def check_columns(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns.

    :param texts: names such as ``doi,paper``; quotation marks as in CSV enclose names with commas.
    :raises ValueError: if a name is empty.
    """
    import csv  # rarely needed

    names = [name for line in csv.reader(texts, skipinitialspace=True) for name in line or [""]]
    if "" in names:
        raise ValueError("--columns: the name of a column is empty")
    return tuple(dict.fromkeys(names))


def check_patterns(lines: Iterable[str], folder: str) -> Patterns:
    """Return patterns relative to a folder.

    :raises ValueError: if one is invalid.
    """
    found = Patterns(folder, tuple(lines))
    for line in found.lines:
        if not is_pattern(line):
            raise ValueError(f"invalid pattern {line!r}")
    return found


def _words(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"expected a list of strings, not {value!r}")
    return value


def _codes(value: object, _folder: str) -> frozenset[str]:
    return check_codes(_words(value))


def _patterns(value: object, folder: str) -> tuple[Patterns, ...]:
    return (check_patterns(_words(value), folder),)


def _ignore(value: object, folder: str) -> frozenset[str] | tuple[tuple[str, frozenset[str]], ...]:
    if isinstance(value, list):
        return _codes(value, folder)
    if not isinstance(value, dict):
        raise TypeError(f"expected a list of codes, or a table of DOIs with such lists, not {value!r}")
    return tuple((pattern, _codes(codes, folder)) for pattern, codes in value.items())


def _per_file(value: object, folder: str) -> tuple[tuple[Patterns, frozenset[str]], ...]:
    if not isinstance(value, dict):
        raise TypeError(f"expected a table of patterns with lists of codes, not {value!r}")
    return tuple(
        (check_patterns([pattern], folder), _codes(codes, folder)) for pattern, codes in value.items()
    )


def _word(value: object, _folder: str, words: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in words:
        raise TypeError(f"expected {', '.join(words[:-1])} or {words[-1]}, not {value!r}")
    return value


def _flag(value: object, _folder: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, not {value!r}")
    return value


def _text(value: object, _folder: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"expected a string, not {value!r}")
    return value


def _number(value: object, _folder: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise TypeError(f"expected a number above 0, not {value!r}")
    return value


def _count(value: object, _folder: str, unit: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise TypeError(f"expected a number of {unit}, not {value!r}")
    return value


def _extensions(value: object, folder: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise TypeError(f'expected a table such as {{ ".jl" = "text" }}, not {value!r}')
    for extension in value:
        if not _EXTENSION.fullmatch(extension):
            raise ValueError(f"expected an extension such as '.jl', not {extension!r}")
    return tuple((extension.lower(), _word(name, folder, TYPES)) for extension, name in value.items())


def _lock(value: object, folder: str) -> str:
    """Return the path of the lock file; "" for none."""
    return "" if value is False else _relative(_below(_text(value, folder), folder, "--lock"))


def _cache(value: object, folder: str) -> str:
    """Return the path of a cache."""
    address = _text(value, folder)
    return address if address == ":memory:" else str(_below(address, folder, "--cache or DOIURI_CACHE"))


def _below(address: str, folder: str, instead: str) -> Path:
    """Return a path that a stranger may have named: nothing outside of the tree is written because of it."""
    path = Path(folder, address)
    if ":" in address or not path.resolve().is_relative_to(Path(folder).resolve()):
        raise ValueError(f"{address!r} is not a path below {folder}; name it with {instead}")
    return path.absolute()


CHECKS: dict[str, Check] = {
    "include": _patterns,
    "exclude": _patterns,
    "extensions": _extensions,
    "force-exclude": _flag,
    "select": _codes,
    "ignore": _ignore,
    "per-file-ignores": _per_file,
    "fail-on": partial(_word, words=FAIL_ON),
    "tex-escape": partial(_word, words=TEX_ESCAPE),
    "max-size": partial(_count, unit="bytes", least=1),
    "lock": _lock,
    "locked": _flag,
    "records": _flag,
    "max-age": partial(_count, unit="days", least=0),
    "resolver": _text,
    "offline": _flag,
    "mailto": _text,
    "cache": _cache,
    "timeout": _number,
    "budget": _number,
    "rate": _number,
}
"""What checks the value of each key; a key is the name of a field of ``Config``, with hyphens."""
