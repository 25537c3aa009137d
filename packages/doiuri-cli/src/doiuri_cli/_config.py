"""The configuration, and the file that sets it: doiuri.toml, or [tool.doiuri] in pyproject.toml."""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins.options import Option, choice, hint, number, option, path, texts

from doiuri_cli.files import Patterns, is_pattern
from doiuri_cli.readers import TYPES
from doiuri_cli.rules import LOCK_CODES, RULES, SEARCH_CODES, WORK_CODES

if TYPE_CHECKING:
    from doiuri.plugins.options import Options

    from doiuri_cli.rules import Finding

    Codes = frozenset[str]
    Values = dict[str, object]

NAMES = ("doiuri.toml", "pyproject.toml")  # the files that are looked for
LOCK_NAME = "doi.lock.json"  # the lock file that is used if it exists and no other is named
_EXTENSION = re.compile(r"\.[^./\\]+")
_NO_STAR = re.compile(r"[?\[]")  # what else fnmatch takes for a pattern

DEFAULT_MAX_AGE = 30  # days for which works are fresh, in the lock file and in the cache
GONE = frozenset({"kind-differs"})  # codes that a configuration may still name
FAIL_ON = ("error", "warning", "never")


class Config(NamedTuple):
    """What to check, and how: the values of ``OPTIONS``, and what is no option of its own."""

    # the absolute paths of what is searched: the files and folders that were named, and the current folder
    searched: frozenset[str] = frozenset()
    # the keys of BibTeX entries in what is read, if they hold names
    entry_keys: frozenset[str] = frozenset()
    include: tuple[Patterns, ...] = ()
    exclude: tuple[Patterns, ...] = ()
    extensions: tuple[tuple[str, str], ...] = ()
    force_exclude: bool = False
    select: Codes | None = None
    ignore: Codes = frozenset()
    ignored_dois: tuple[tuple[str, Codes], ...] = ()  # patterns of names, each with codes
    per_file_ignores: tuple[tuple[Patterns, Codes], ...] = ()
    fail_on: str = "error"
    max_size: int = 50_000_000
    tex_escape: str = "any"
    compare: bool = False
    search: bool = False
    max_age: int = DEFAULT_MAX_AGE
    columns: tuple[str, ...] = ()  # if there are any, nothing else is read
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
    def shared(self) -> Options:
        """The options that plugins have too, without the lock file, which the command itself reads."""
        from doiuri.plugins.options import Options  # slow to import

        return Options.read({name: getattr(self, name) for name in _SHARED})

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
        if not self.compare:
            codes -= WORK_CODES
        if not self.search:
            codes -= SEARCH_CODES
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
        if finding.doi is None:
            return False
        for pattern, codes in self.ignored_dois:
            if finding.code in codes and _pattern(pattern).fullmatch(finding.doi):
                return True
        return False


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern of names, in which only ``*`` has a meaning; case does not count.

    ``fnmatch`` matches a text between two stars where it occurs first, so that the time is not exponential.
    """
    return re.compile(fnmatch.translate(_NO_STAR.sub(r"[\g<0>]", pattern)), re.IGNORECASE)


def read_config(file: str | None, *, isolated: bool = False) -> Values:
    """Return the arguments of ``Config`` that a configuration file gives.

    :param file: the file; None: the nearest one in the current folder and those above it.
    :raises ValueError: if the file cannot be read, or contains an unknown key or a wrong value.
    """
    path, table = _table_for(file, isolated=isolated)
    values = _values(table, path)
    lock = values.pop("lock", None)  # "" if the file wants none; None if it says nothing
    if lock is None:
        default = path.parent / LOCK_NAME
        lock = _relative(default) if default.is_file() else None
    return values | {"lock": lock}


def default_lock(file: str | None, *, isolated: bool = False) -> str:
    """Return the path of the lock file that is used if none is named: beside the configuration file."""
    return _relative(_table_for(file, isolated=isolated)[0].parent / LOCK_NAME)


def _relative(path: Path) -> str:
    """Return a path as it is best shown: relative to the current folder, unless that is longer."""
    absolute = os.path.abspath(path)  # noqa: PTH100
    try:
        return min(os.path.relpath(absolute), absolute, key=len)
    except ValueError:  # on another drive
        return absolute


def _table_for(file: str | None, *, isolated: bool) -> tuple[Path, Values]:
    """Return the configuration file and our table in it.

    If there is no file, it is the one that the current folder could have, with an empty table: the lock file lies
    beside it.
    """
    if file is not None and not isolated:
        path = Path(file)
        table = _table(path)
        if table is None:
            raise ValueError(f"{file}: there is no [tool.doiuri] in it")
        return path, table

    here = Path.cwd()
    folders = [] if isolated else [here, *here.parents]
    for folder in folders:
        for name in NAMES:
            path = folder / name
            table = _table(path) if path.is_file() else None
            if table is not None:
                return path, table
    return here / NAMES[0], {}


def _table(path: Path) -> Values | None:
    """Return our table in a file; None if it has none."""
    import tomllib  # slow to import

    try:
        content: Values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or nested too deeply
        raise ValueError(f"{path}: {error}") from None
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool")
    table = tools.get("doiuri") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ValueError(f"{path}: tool.doiuri must be a table")
    return table


def _values(table: Values, file: Path) -> Values:
    """Return the arguments of ``Config`` that our table in a file gives.

    :raises ValueError: if it contains an unknown key or a wrong value; the message begins with both names.
    """
    values: Values = {}
    prefix = f"{_relative(file)}: "
    folder = os.path.abspath(file.parent)  # noqa: PTH100
    for key, value in table.items():
        where = f"{prefix}{key}"
        if key in _NOT_HERE:
            raise ValueError(f"{where}: {_NOT_HERE[key]}, not in a configuration file")
        if key not in OPTIONS:
            raise ValueError(f"{where}: unknown key{hint(key, OPTIONS)}")

        # Of the file alone: ``make_config`` reads the variables, which take precedence
        checked = OPTIONS[key].read({where: value}, prefix, environ={})
        if key in _INSTEAD and checked not in {"", None, ":memory:"}:
            checked = _below(checked, folder, where, key)

        name = key.replace("-", "_")
        if key == "ignore" and isinstance(checked, tuple):  # a table of DOIs, not a list of codes
            name = "ignored_dois"
        values[name] = with_folder(key, checked, folder)
    return values


def _below(address: str, folder: str, where: str, key: str) -> str:
    """Return a path from a configuration file, which is untrusted: nothing outside the tree is written.

    The path of the lock file is as short as possible, since messages name it.

    :param where: the file and the key, for the message.
    :raises ValueError: if the path leads out of the folder.
    """
    path = Path(folder, address)
    is_url = ":" in address
    if is_url or not path.resolve().is_relative_to(Path(folder).resolve()):
        raise ValueError(
            f"{where}: {address!r} is not a path below {folder}; name it with {_INSTEAD[key]}"
        )
    return _relative(path) if key == "lock" else str(path)


def with_folder(key: str, value: object, folder: str) -> object:
    """Return the value of an option, its patterns relative to a folder."""
    match key, value:
        case "include" | "exclude", tuple():
            return (Patterns(folder, value),)
        case "per-file-ignores", tuple():
            return tuple((Patterns(folder, (pattern,)), codes) for pattern, codes in value)
    return value


def _columns(value: object) -> tuple[str, ...]:
    """Return the names of columns in lines of CSV, each once: ``["doi", 'id, "a, b"']`` has three names.

    :raises ValueError: if one is empty.
    """
    import csv  # rarely needed

    names: list[str] = []
    for line in csv.reader(texts(value), skipinitialspace=True):
        names += line or [""]
    if "" in names:
        raise ValueError("the name of a column is empty")
    return tuple(dict.fromkeys(names))


def _patterns(value: object) -> tuple[str, ...]:
    lines = texts(value)
    for line in lines:
        if not is_pattern(line):
            raise ValueError(f"{line!r} is not a pattern")
    return lines


def _codes(value: object) -> Codes:
    """Return codes, which may be separated by commas, without those that are gone."""
    words = ",".join(texts(value)).split(",")  # each text may list several codes
    codes = {word.strip() for word in words} - {""}
    for code in sorted(codes & GONE):
        sys.stderr.write(f"doiuri: there is no code {code} any more; remove it\n")
    for code in sorted(codes - RULES.keys() - GONE):
        raise ValueError(f"unknown code {code!r}{hint(code, RULES)}")
    return frozenset(codes - GONE)


def _table_of_codes(value: object) -> tuple[tuple[str, Codes], ...]:
    """Return the patterns in a table, each with its codes. Raises ValueError if it is none."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.80} is not a table of patterns with lists of codes")  # noqa: TRY004
    return tuple((pattern, _codes(codes)) for pattern, codes in value.items())


def _ignore(value: object) -> Codes | tuple[tuple[str, Codes], ...]:
    return _table_of_codes(value) if isinstance(value, dict) else _codes(value)


def _per_file(value: object) -> tuple[tuple[str, Codes], ...]:
    table = _table_of_codes(value)
    _patterns([pattern for pattern, _ in table])  # raises ValueError if one is none
    return table


def _extensions(value: object) -> tuple[tuple[str, str], ...]:
    """Return extensions, in lower case, each with the type of its files. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError(f'{value!r:.80} is not a table such as {{ ".jl" = "text" }}')  # noqa: TRY004
    for extension in value:
        if not _EXTENSION.fullmatch(extension):
            raise ValueError(f"{extension!r:.80} is not an extension such as '.jl'")
    return tuple((extension.lower(), choice(*TYPES)(name)) for extension, name in value.items())


def _lock(value: object) -> str:
    """Return the path of the lock file; "" for none."""
    return "" if value is False else path(value)


_DAYS = number("days", whole=True, zero=True)
_SHARED = ("resolver", "offline", "mailto", "cache", "timeout")
_INSTEAD = {"cache": "--cache or DOIURI_CACHE", "lock": "--lock"}  # what may name paths elsewhere

OPTIONS = {
    option.name: option
    for option in (
        Option(
            "include",
            (),
            "in folders, read only files that match; patterns as in .gitignore",
            _patterns,
        ),
        Option(
            "exclude",
            (),
            "in folders, leave out what matches; patterns as in .gitignore",
            _patterns,
        ),
        Option("extensions", (), "more extensions, each with the type of such files", _extensions),
        Option(
            "force-exclude", False, "also leave out named files that match --exclude; for hooks"
        ),
        Option("select", None, "report only these codes, separated by commas", _codes),
        Option("ignore", (), "do not report these codes, separated by commas", _ignore),
        Option(
            "per-file-ignores", (), "codes not to report in files that match a pattern", _per_file
        ),
        Option(
            "fail-on", "error", "the lowest severity for which the exit code is 1", choice(*FAIL_ON)
        ),
        Option("tex-escape", "any", "how BibTeX has to write `_`", choice("any", "raw", "escape")),
        Option("max-size", 50_000_000, "bytes of files in folders", number("bytes", whole=True)),
        Option("lock", LOCK_NAME, "the lock file, if it exists; '' for none", _lock),
        Option("locked", False, "send no requests: all answers have to come from the lock file"),
        Option("compare", False, "compare entries with the registry's metadata"),
        Option(
            "max-age", DEFAULT_MAX_AGE, "days that locked works are fresh; 0: ask for all", _DAYS
        ),
        *map(option, _SHARED),
        option("budget", default=None),
        option("rate"),
    )
}
"""The options that a configuration file may set: the fields of ``Config``, with hyphens."""

SEARCH = Option(
    "search",
    False,
    "search for works without a DOI at Crossref and DataCite, to which titles, authors and years are sent",
    variable="DOIURI_SEARCH",
)
"""An option of the command line only: a stranger may have written the configuration file."""

_NOT_HERE = {
    "search": "turn on the search with --search or DOIURI_SEARCH",
    "crossref": "name the server with DOIURI_CROSSREF",
    "datacite": "name the server with DOIURI_DATACITE",
}

COLUMNS = Option(
    "columns", (), "read only these columns of CSV and TSV, and keys of JSON and YAML", _columns
)
"""An option of the command line only: the columns differ from file to file."""
