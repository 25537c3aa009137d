"""The command line: serve, or work on a store of records."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import random
import re
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import DOI_ORG, replacing

from doiuri_proxy.app._targets import header_url
from doiuri_proxy.records._files import DEFAULT_TTL, RecordsError, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from doiuri_proxy.records._store import Registry

    Command = Callable[[argparse.Namespace, Registry], None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if records, a store, a URL or an address cannot be used."""
    options = _parser().parse_args(argv)
    logging.basicConfig(format="doiuri-proxy: %(message)s", level=logging.WARNING)
    logging.getLogger("doiuri_proxy").setLevel(logging.INFO)
    # not a line for each invalid request, nor a traceback for what follows a request that was refused
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.captureWarnings(capture=True)
    try:
        status: int = options.run(options)
    except BrokenPipeError:  # a subclass of OSError
        # Python flushes standard output at exit, which would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as shells report a process that SIGPIPE ended
    except (RecordsError, ValueError, OSError, UserWarning) as error:
        sys.stderr.write(f"doiuri-proxy: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130  # as shells report a process that SIGINT ended
    return status


def _serve(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if not options.records and options.upstream is None:
        parser.error("nothing to serve: give --records FILE, --upstream URL or both")
    if options.cache is not None and options.upstream is None:
        parser.error("--cache stores the answers of --upstream: give --upstream as well")
    # the other commands need no server
    from doiuri_proxy._server import access_log, bind, configure, hold_hang_ups, reload, serve
    from doiuri_proxy.app._app import App
    from doiuri_proxy.app._metrics import Metrics
    from doiuri_proxy.app._redirect import Choice
    from doiuri_proxy.records._open import open_local, open_source

    hold_hang_ups()
    metrics, records = Metrics(), options.records or None
    source = open_source(
        records,
        base=options.base,
        upstream=options.upstream,
        cache=options.cache,
        on_reply=metrics.count_upstream,
    )
    choice = Choice(random.Random() if options.pick == "random" else "highest", options.country)  # noqa: S311
    app = App(source, choice, max_target=options.max_url, metrics=metrics)
    if options.access_log is not None:
        app.on_response = access_log(options.access_log, metrics.log_failures.inc)
    config = configure(
        app,
        connections=options.max_connections,
        header=options.max_header,
        trusted=options.forwarded_allow_ips,
    )
    listener = bind(options.host, options.port)
    serve(app, listener, config, lambda: reload(app, lambda: open_local(records, options.base)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="doiuri-proxy",
        description="A local DOI proxy. Without a command it serves; the commands work on a store.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('doiuri-proxy')}")
    parser.set_defaults(run=partial(_serve, parser))
    _records_options(parser)
    _server_options(parser)
    _add_commands(parser.add_subparsers(title="commands", metavar="COMMAND"))
    return parser


def _records_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("records")
    add = group.add_argument
    add("--records", help="JSON or JSON Lines file, a folder of them, or a store (an SQLite file)")
    add("--base", default=DOI_ORG, help="base URL of the records to read from a store (default: %(default)s)")
    add("--upstream", metavar="URL", help="proxy to ask for DOIs that are not in the records")
    add("--cache", help="store for the answers of --upstream (default: DOIURI_CACHE)")
    add(
        "--pick",
        choices=("random", "highest"),
        default="random",
        help="among several locations, choose at random by weight or take the highest weight"
        " (default: %(default)s)",
    )
    add(
        "--country",
        metavar="CODE",
        type=_country,
        help="two-letter code of the country whose locations are preferred",
    )


def _server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("server")
    add = group.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_port, default=8053, help="port; 0 picks a free one (default: %(default)s)")
    add(
        "--access-log",
        metavar="FILE",
        nargs="?",
        const="-",
        help="append a line for each request to FILE; without FILE or with -, write it to standard error",
    )
    add(
        "--forwarded-allow-ips",
        metavar="IPS",
        help="addresses and networks of reverse proxies, separated by commas, whose X-Forwarded-For"
        " names the client in the access log; * trusts all (default: none)",
    )
    add(
        "--max-connections",
        metavar="COUNT",
        type=_positive,
        default=10_000,
        help="limit of connections; further ones get status 503 (default: %(default)s)",
    )
    add(
        "--max-header",
        metavar="BYTES",
        type=_positive,
        default=32_768,
        help="limit of a request line with its headers; longer ones get status 400 (default: %(default)s)",
    )
    add(
        "--max-url",
        metavar="BYTES",
        type=_positive,
        default=8192,
        help="limit of path and query; longer ones get status 414 (default: %(default)s)",
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number, 0 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def _country(text: str) -> str:
    if not re.fullmatch("[A-Za-z]{2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a country code of two letters")
    return text


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
    store.backup(file)
    _print(f"{store.path} copied to {file}")


def _run(options: argparse.Namespace) -> int:
    """Open the store, and run a command on it. Raises ValueError, OSError."""
    from doiuri_proxy.records._store import Registry

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
        registry = Registry(store, options.base, create=options.command in {_import, _add})
    except ValueError as error:
        raise ValueError(f"--store or DOIURI_CACHE: {error}") from None
    with contextlib.closing(registry):
        options.command(options, registry)
    sys.stdout.flush()
    return 0


def _add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""

    def new(name: str, text: str, command: Command) -> Callable[..., argparse.Action]:
        parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        parser.add_argument("--store", help="SQLite file (default: DOIURI_CACHE)")
        if command is not _backup:  # which copies all
            text = "base URL to which the records belong (default: %(default)s)"
            parser.add_argument("--base", default=DOI_ORG, help=text)
        parser.set_defaults(run=_run, command=command)
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
