"""What a lock file says about DOIs, read without the resolver, whose import takes long."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Lines
from doiuri_cli.rules import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

DOI_ORG = "https://doi.org"
"""The resolver whose answers count for all; ``doiuri.plugins`` has it too, but takes long to import."""

_KEY = re.compile(r"(record|exists|work|bibtex|reference|metadata)(?: .+?)?? (https?://\S+) (.+)", re.DOTALL)
_CONTENTS = frozenset({"json", "text", "base64"})
_ANSWERS = {1: "found", 200: "found", 100: "not-found"}


class Lock(NamedTuple):
    """The content of a lock file.

    :ivar path: the file.
    :ivar text: its text.
    :ivar entries: the key of the DOI that each entry is about, by the entry's name in the file.
    :ivar statuses: whether a DOI is registered, by its key, for those of which the file says it; "accepted"
        if it is known not to be.
    :ivar aliases: the key of the name that a DOI is an alias of, by its key.
    """

    path: str
    text: str
    entries: dict[str, str]
    statuses: dict[str, str]
    aliases: dict[str, str]

    @classmethod
    def read(cls, path: str, base: str = DOI_ORG) -> Lock:
        """Return the content of a file.

        :param base: the base URL of the resolver. Its answers and doi.org's count, those of others do not.
        :raises ValueError: if it is no lock file.
        """
        try:
            text = Path(path).read_text("utf-8")
            content = json.loads(text)
            lock = cls(path, text, {}, {}, {})
            version = content["doiuri-lock"]
            if version in {1, 2} and not isinstance(version, bool):
                lock._read_entries(content["entries"], {DOI_ORG, base})
                if version == 2:
                    lock._read_metadata(content.get("works", {}), content.get("references", {}))
                    lock._read_accepted(content.get("accepted", {}))
                return lock
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
        raise ValueError(_reason(path))

    def unused(self, keys: Collection[str]) -> Iterator[Finding]:
        """Yield a finding for each DOI that is in the file only.

        :param keys: the keys of the DOIs that are used.
        """
        done = self._with_aliases(keys)
        lines = Lines(self.text)
        start = 0
        for name, key in self.entries.items():
            if key in done:
                continue
            done.add(key)
            written = f"{json.dumps(name, ensure_ascii=False)}:"
            start = max(self.text.find(written, start), 0) or max(self.text.find(written), 0)
            line, column = lines.position(start)
            message = f"{key} is in the lock file, but no file mentions it; run doiuri lock --prune"
            end = column + len(name) + 2
            yield Finding(
                self.path,
                line,
                column,
                line,
                end,
                "lock-unused",
                message,
                doi=key,
                excerpt=lines.line(line, 1, 200),
            )

    def _with_aliases(self, keys: Collection[str]) -> set[str]:
        """Return keys of DOIs with those that they are aliases of."""
        done, left = set(keys), list(keys)
        while left:
            alias = self.aliases.get(left.pop())
            if alias is not None and alias not in done:
                done.add(alias)
                left.append(alias)
        return done

    def _read_entries(self, entries: dict[str, dict[str, object]], bases: set[str]) -> None:
        for name, described in entries.items():
            if described.keys().isdisjoint(_CONTENTS):
                raise KeyError(name)
            match = _KEY.fullmatch(name)
            if match is None:
                continue
            kind, base, key = match.groups()
            self.entries[name] = key
            if base not in bases:
                continue
            answer = described.get("json")
            if kind == "exists":
                self.statuses.setdefault(key, "found")
            elif kind == "record":
                status = status_of(answer)
                if status is not None:
                    self.statuses[key] = status
                if alias := _alias(answer):
                    self.aliases[key] = alias

    def _read_metadata(self, works: dict[str, object], references: dict[str, object]) -> None:
        for name, work in works.items():
            self.entries[name] = name
            if work is not None:
                _expect(work, dict)
                self.statuses.setdefault(name, "found")
        for name, reference in references.items():
            _expect(reference, str, NoneType)
            _, _, self.entries[name] = name.split(" ", 2)

    def _read_accepted(self, reasons: dict[str, str]) -> None:
        for name, reason in reasons.items():
            _expect(reason, str)
            self.entries[name] = name
            self.statuses[name] = "accepted"


def ascii_key(name: str) -> str:
    """Return the key of a name that need not be a DOI."""
    return "".join(letter.upper() if letter.isascii() else letter for letter in name)


def status_of(record: object) -> str | None:
    """Return whether a record in a lock file says that its DOI exists; None if it does not say it."""
    code = record.get("responseCode") if isinstance(record, dict) else None
    return _ANSWERS.get(code) if isinstance(code, int) else None


def _expect(value: object, *types: type) -> None:
    if not isinstance(value, types):
        raise TypeError(f"expected {types}, not {value!r}")


def _alias(record: object) -> str | None:
    """Return the key of the name that a record is an alias of."""
    values = record.get("values") if isinstance(record, dict) else None
    for value in values if isinstance(values, list) else ():
        data = value.get("data") if isinstance(value, dict) and value.get("type") == "HS_ALIAS" else None
        name = data.get("value") if isinstance(data, dict) else None
        if isinstance(name, str):
            return ascii_key(name)
    return None


def _reason(path: str) -> str:
    """Return why a file cannot be read as a lock file."""
    from doiuri.resolver import LockFile

    if not Path(path).exists():
        return f"the lock file {path} does not exist; run doiuri lock to write it"
    try:
        LockFile(path)
    except ValueError as error:
        return str(error)
    return f"{path} cannot be read as a lock file"
