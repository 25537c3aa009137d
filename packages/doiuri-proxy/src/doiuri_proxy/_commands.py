"""The commands that work on a store: import, add, remove, list, export, backup."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import DOI_ORG, replacing

from doiuri_proxy.app._targets import header_url
from doiuri_proxy.records._files import read_json
from doiuri_proxy.records._validation import DEFAULT_TTL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from doiuri_proxy.records._listing import Listing
    from doiuri_proxy.records._registry import Registry


def _import(options: argparse.Namespace) -> int:
    with _registry(options) as registry:
        count = registry.register(options.file)
        _print(f"{count} record{'' if count == 1 else 's'} registered in {registry.address}")
    return 0


def _add(options: argparse.Namespace) -> int:
    doi = DOI.parse(options.doi)
    if header_url(options.url) is None:
        raise ValueError(f"{options.url!r} is not an http or https URL")
    metadata = {} if options.metadata is None else {"metadata": read_json(options.metadata)}
    with _registry(options) as registry:
        name = registry.registered(doi.name)
        if name is not None and not (options.replace and name == doi.name):
            raise ValueError(f"{doi.name} already exists" + (f" as {name}" if name != doi.name else ""))
        registry.register([_url_record(doi, options.url) | metadata])
    _print(f"{doi.name} now resolves to {options.url}")
    return 0


def _url_record(doi: DOI, url: str) -> dict[str, object]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    data = {"format": "string", "value": url}
    return {
        "handle": doi.name,
        "values": [{"index": 1, "type": "URL", "data": data, "ttl": DEFAULT_TTL, "timestamp": now}],
    }


@contextlib.contextmanager
def _registry(options: argparse.Namespace) -> Iterator[Registry]:
    from doiuri_proxy.records._registry import Registry

    store = _address(options)
    try:
        registry = Registry(store, options.base)
    except ValueError as error:
        raise ValueError(f"--store or DOIURI_CACHE: {error}") from None
    with closing(registry):
        yield registry


def _remove(options: argparse.Namespace) -> int:
    from doiuri_proxy.records._listing import open_existing

    open_existing(_address(options)).close()
    with _registry(options) as registry:
        names = [
            text if registry.registered(text) is not None else DOI.parse(text).name for text in options.doi
        ]
        for name in registry.remove(names):
            _print(f"{name} removed")
    return 0


def _list(options: argparse.Namespace) -> int:
    with _listing(options) as listing:
        for name in listing.names(options.start):
            _print(name)
    sys.stdout.flush()
    return 0


def _export(options: argparse.Namespace) -> int:
    with _listing(options) as listing:
        if options.file == "-":
            for line in listing.lines():
                sys.stdout.write(line.decode())
            sys.stdout.flush()
            return 0
        file = Path(options.file)
        if file.suffix not in {".jsonl", ".ndjson"}:
            raise ValueError(f"{file} must end in .jsonl or .ndjson, which import reads as JSON Lines")
        with replacing(file) as draft, draft.open("wb") as output:
            output.writelines(listing.lines())
    return 0


def _backup(options: argparse.Namespace) -> int:
    from doiuri_proxy.records._listing import open_existing

    file = Path(options.file)
    with closing(open_existing(_address(options))) as store:
        if file.exists() and (not options.replace or file.samefile(store.path)):
            raise ValueError(f"{file} already exists")
        if not file.parent.is_dir():
            raise ValueError(f"cannot write {file}: there is no folder {file.parent}")
        store.backup(file)
    _print(f"{store.path} copied to {file}")
    return 0


@contextlib.contextmanager
def _listing(options: argparse.Namespace) -> Iterator[Listing]:
    from doiuri_proxy.records._listing import open_listing

    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(encoding="utf-8", newline="\n")  # the encoding of records files
    with open_listing(_address(options), options.base) as listing:
        yield listing


def _address(options: argparse.Namespace) -> str:
    store: str | None = os.environ.get("DOIURI_CACHE") if options.store is None else options.store
    if not store:
        raise ValueError("no store: give --store, or set DOIURI_CACHE")
    return store


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    for name, text, options, run in (
        ("import", "register the records of a file in a store", _import_options, _import),
        ("add", "register one DOI with its URL in a store", _add_options, _add),
        ("remove", "delete records from a store", _remove_options, _remove),
        ("list", "print the names of the registered records", _list_options, _list),
        ("export", "write the registered records to a file that import reads", _export_options, _export),
        ("backup", "copy a store, even while it is being written", _backup_options, _backup),
    ):
        parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        options(parser)
        parser.add_argument("--store", help="SQLite file (default: DOIURI_CACHE)")
        parser.set_defaults(run=run)


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="JSON or JSON Lines file with records, or a folder of them")
    _base_option(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("doi", help="DOI, in any usual form")
    parser.add_argument("url", help="http or https URL that the DOI resolves to")
    parser.add_argument("--replace", action="store_true", help="replace the record if it exists already")
    parser.add_argument("--metadata", metavar="FILE", help="JSON file with its metadata by media type")
    _base_option(parser)


def _remove_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("doi", nargs="+", help="DOI, in any usual form, or another name as list prints it")
    _base_option(parser)


def _list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("start", nargs="?", default="", help="how the names begin, such as 10.1000/")
    _base_option(parser)


def _export_options(parser: argparse.ArgumentParser) -> None:
    text = "file (.jsonl) to write or replace; - is standard output"
    parser.add_argument("file", nargs="?", default="-", help=text)
    _base_option(parser)


def _backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="file to write")
    parser.add_argument("--replace", action="store_true", help="replace the file if it exists already")


def _base_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--base", default=DOI_ORG, help="base URL to which the records belong (default: %(default)s)"
    )
