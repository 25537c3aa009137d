"""The commands that work on a store: import, add, remove, list, export, backup."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import DOI_ORG, replacing

from doiuri_proxy.app._targets import header_url
from doiuri_proxy.records._files import read_json
from doiuri_proxy.records._validation import DEFAULT_TTL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doiuri_proxy.records._registry import Registry

    Command = Callable[[argparse.Namespace, Registry], None]


def _import(options: argparse.Namespace, registry: Registry) -> None:
    count = registry.register(options.file)
    _print(f"{count} record{'' if count == 1 else 's'} registered in {registry.store.path}")


def _add(options: argparse.Namespace, registry: Registry) -> None:
    doi: str = options.doi.name
    name = registry.registered(doi)
    if name is not None and not (options.replace and name == doi):
        raise ValueError(f"{doi} already exists" + (f" as {name}" if name != doi else ""))
    metadata = {} if options.metadata is None else {"metadata": read_json(options.metadata)}
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    data = {"format": "string", "value": options.url}
    url = {"index": 1, "type": "URL", "data": data, "ttl": DEFAULT_TTL, "timestamp": now}
    registry.register([{"handle": doi, "values": [url], **metadata}])
    _print(f"{doi} now resolves to {options.url}")


def _remove(options: argparse.Namespace, registry: Registry) -> None:
    names = [text if registry.registered(text) is not None else DOI.parse(text).name for text in options.doi]
    for name in registry.remove(names):
        _print(f"{name} removed")


def _list(options: argparse.Namespace, registry: Registry) -> None:
    for name in registry.names(options.start):
        _print(name)


def _export(options: argparse.Namespace, registry: Registry) -> None:
    file = Path(options.file)
    if options.file == "-":
        for line in registry.lines():
            sys.stdout.write(line.decode())
        return
    if file.suffix not in {".jsonl", ".ndjson"}:
        raise ValueError(f"{file} must end in .jsonl or .ndjson, which import reads as JSON Lines")
    with replacing(file) as draft, draft.open("wb") as output:
        output.writelines(registry.lines())


def _backup(options: argparse.Namespace, registry: Registry) -> None:
    file, store = Path(options.file), registry.store
    if file.exists() and (not options.replace or file.samefile(store.path)):
        raise ValueError(f"{file} already exists")
    if not file.parent.is_dir():
        raise ValueError(f"cannot write {file}: there is no folder {file.parent}")
    store.backup(file)
    _print(f"{store.path} copied to {file}")


def run(options: argparse.Namespace) -> int:
    """Open the store, and run a command on it. Raises ValueError, OSError."""
    from doiuri_proxy.records._registry import Registry

    store: str | None = os.environ.get("DOIURI_CACHE") if options.store is None else options.store
    if not store:
        raise ValueError("no store: give --store, or set DOIURI_CACHE")
    if options.command is _add:  # before a store is created
        options.doi = DOI.parse(options.doi)
        if header_url(options.url) is None:
            raise ValueError(f"{options.url!r} is not an http or https URL")
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(encoding="utf-8", newline="\n")  # the encoding of records files
    try:
        if options.command is _remove:  # it must exist
            Registry(store, options.base, write=False).close()
        registry = Registry(store, options.base, write=options.command in {_import, _add, _remove})
    except ValueError as error:
        raise ValueError(f"--store or DOIURI_CACHE: {error}") from None
    with contextlib.closing(registry):
        options.command(options, registry)
    sys.stdout.flush()
    return 0


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""

    def new(name: str, text: str, command: Command) -> Callable[..., argparse.Action]:
        parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        parser.add_argument("--store", help="SQLite file (default: DOIURI_CACHE)")
        text = "base URL to which the records belong (default: %(default)s)"
        parser.add_argument("--base", default=DOI_ORG, help=text)
        parser.set_defaults(run=run, command=command)
        return parser.add_argument

    add = new("import", "register the records of a file in a store", _import)
    add("file", help="JSON or JSON Lines file with records, or a folder of them")
    add = new("add", "register one DOI with its URL in a store", _add)
    add("doi", help="DOI, in any usual form")
    add("url", help="http or https URL that the DOI resolves to")
    add("--replace", action="store_true", help="replace the record if it exists already")
    add("--metadata", metavar="FILE", help="JSON file with its metadata by media type")
    add = new("remove", "delete records from a store", _remove)
    add("doi", nargs="+", help="DOI, in any usual form, or another name as list prints it")
    add = new("list", "print the names of the registered records", _list)
    add("start", nargs="?", default="", help="how the names begin, such as 10.1000/")
    add = new("export", "write the registered records to a file that import reads", _export)
    add("file", nargs="?", default="-", help="file (.jsonl) to write or replace; - is standard output")
    add = new("backup", "copy a store, even while it is being written", _backup)
    add("file", help="file to write")
    add("--replace", action="store_true", help="replace the file if it exists already")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
