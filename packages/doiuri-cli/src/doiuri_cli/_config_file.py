"""The configuration file: ``[tool.doiuri]`` in pyproject.toml, or doiuri.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri_cli._config import FAIL_ON, LOCK_NAME, TEX_ESCAPE, ConfigError
from doiuri_cli.files import Patterns, is_pattern
from doiuri_cli.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Values = dict[str, object]
    Check = Callable[[object, str], object]

NAMES = ("doiuri.toml", "pyproject.toml")


def read_config(file: str | None, *, isolated: bool = False) -> Values:
    """Return the arguments of ``Config`` that a configuration file gives.

    :param file: the file; None: the nearest one in the current folder and those above it.
    :param isolated: read no file.
    :raises ConfigError: if the file cannot be read, or contains an unknown key or a wrong value.
    """
    if isolated:
        return {}
    if file is not None:
        path = Path(file)
        table = _table(path)
        if table is None:
            raise ConfigError(f"{file}: there is no [tool.doiuri] in it")
    else:
        path, table = _nearest()
    values = _values(table or {}, path)
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
    if isolated:
        return LOCK_NAME
    return _relative((Path(file) if file is not None else _nearest()[0]).parent / LOCK_NAME)


def _relative(path: Path) -> str:
    """Return a path as it is best shown: relative to the current folder, unless that is longer."""
    absolute = os.path.abspath(path)  # noqa: PTH100
    try:
        return min(os.path.relpath(absolute), absolute, key=len)
    except ValueError:  # on another drive
        return absolute


def _nearest() -> tuple[Path, Values | None]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in NAMES:
            path = folder / name
            if path.is_file() and (table := _table(path)) is not None:
                return path, table
    return here / NAMES[0], None


def _table(path: Path) -> Values | None:
    """Return our table in a file; None if it has none."""
    import tomllib  # slow to import

    try:
        content: Values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # no TOML, or no UTF-8
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
        name, check = CHECKS[key]
        try:
            values[name] = check(value, folder)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{_relative(path)}: {key}: {error}") from None
    return _split_ignore(values)


def _split_ignore(values: Values) -> Values:
    """Return the values with ``ignore`` as codes; if it is a table, it is for DOIs."""
    if isinstance(values.get("ignore"), tuple):
        values["ignored_dois"] = values.pop("ignore")
    return values


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the most similar known one, or all of them."""
    from difflib import get_close_matches  # slow to import

    near = get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"


def check_codes(codes: Iterable[str]) -> frozenset[str]:
    """Return codes as a set.

    :raises ValueError: if one is unknown.
    """
    found = frozenset(codes)
    for code in sorted(found - RULES.keys()):
        raise ValueError(f"unknown code {code!r}{hint(code, RULES)}")
    return found


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


def _word(value: object, words: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in words:
        raise TypeError(f"expected {', '.join(words[:-1])} or {words[-1]}, not {value!r}")
    return value


def _fail_on(value: object, _folder: str) -> str:
    return _word(value, FAIL_ON)


def _tex_escape(value: object, _folder: str) -> str:
    return _word(value, TEX_ESCAPE)


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


def _size(value: object, folder: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"expected a number of bytes, not {value!r}")
    return int(_number(value, folder))


def _lock(value: object, folder: str) -> str:
    """Return the path of the lock file; "" for none."""
    return "" if value is False else _relative(Path(folder, _text(value, folder)))


def _cache(value: object, folder: str) -> str:
    address = _text(value, folder)
    return address if ":" in address else str(Path(folder, address).absolute())


CHECKS: dict[str, tuple[str, Check]] = {
    "include": ("include", _patterns),
    "exclude": ("exclude", _patterns),
    "force-exclude": ("force_exclude", _flag),
    "select": ("select", _codes),
    "ignore": ("ignore", _ignore),
    "per-file-ignores": ("per_file_ignores", _per_file),
    "fail-on": ("fail_on", _fail_on),
    "tex-escape": ("tex_escape", _tex_escape),
    "max-size": ("max_size", _size),
    "lock": ("lock", _lock),
    "locked": ("locked", _flag),
    "records": ("records", _flag),
    "resolver": ("resolver", _text),
    "offline": ("offline", _flag),
    "mailto": ("mailto", _text),
    "cache": ("cache", _cache),
    "timeout": ("timeout", _number),
    "budget": ("budget", _number),
    "rate": ("rate", _number),
}
"""For each key of the file: the field of ``Config``, and what checks its value."""
