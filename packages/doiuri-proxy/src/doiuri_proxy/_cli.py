"""The command line."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import random
import re
import sys
import time
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import DOI_ORG

from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.app._targets import header_url
from doiuri_proxy.records._files import read_json
from doiuri_proxy.records._validation import DEFAULT_TTL, RecordsError
from doiuri_proxy.server._access_log import AccessLog
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from doiuri_proxy.records._registry import Registry


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if records, a store, a URL or an address cannot be used."""
    options = _parser().parse_args(argv)
    logging.basicConfig(format="doiuri-proxy: %(message)s", level=logging.WARNING)
    logging.getLogger("doiuri_proxy").setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    try:
        status: int = options.run(options)
    except (RecordsError, ValueError, OSError, UserWarning) as error:
        _print(f"doiuri-proxy: {error}", sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as shells report a process that SIGINT ended
    return status


def _serve(options: argparse.Namespace) -> int:
    _check_serve(options)
    return Service(
        records=options.records or None,
        host=options.host,
        port=options.port,
        workers=options.workers,
        base=options.base,
        upstream=options.upstream,
        cache=options.cache,
        choice=Choice(random.Random() if options.pick == "random" else "highest", options.country),  # noqa: S311
        limits=Limits(connections=options.max_connections, head=options.max_header),
        max_target=options.max_url,
        access_log=None if options.access_log is None else AccessLog(options.access_log),
    ).run()


def _check_serve(options: argparse.Namespace) -> None:
    if not options.records and options.upstream is None:
        raise ValueError("nothing to serve: give --records, --upstream or both")
    if options.cache is not None and options.upstream is None:
        raise ValueError("--cache stores the answers of --upstream: give --upstream, too")
    if options.workers < 1:
        raise ValueError(f"--workers is {options.workers}; give at least 1")
    if options.workers > 1 and not hasattr(os, "fork"):
        raise ValueError("multiple workers need os.fork, which this system lacks")


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

    store = os.environ.get("DOIURI_CACHE") if options.store is None else options.store
    if not store:
        raise ValueError("no store: give --store, or set DOIURI_CACHE")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # the store only warns if it cannot be written
        try:
            registry = Registry(store, options.base)
        except ValueError as error:
            raise ValueError(f"--store or DOIURI_CACHE: {error}") from None
        with contextlib.closing(registry):
            yield registry


def _print(text: str, file: TextIO | None = None) -> None:
    print(text, file=file)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="doiuri-proxy",
        description="A local DOI proxy. Without a command it serves records; the commands register records.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('doiuri-proxy')}")
    parser.set_defaults(run=_serve)
    _records_options(parser)
    _server_options(parser)
    commands = parser.add_subparsers(title="commands", metavar="{import,add}")
    _import_options(commands.add_parser("import", help="register the records of a file in a store"))
    _add_options(commands.add_parser("add", help="register one DOI with its URL in a store"))
    return parser


def _records_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("records")
    add = group.add_argument
    add("--records", help="JSON or JSON Lines file, a folder of them, an SQLite file or a redis:// URL")
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
        help="country code of two letters: prefer locations for this country",
    )


def _server_options(parser: argparse.ArgumentParser) -> None:
    limits = Limits()
    group = parser.add_argument_group("server")
    add = group.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_port, default=8053, help="port; 0 picks a free one (default: %(default)s)")
    add("--workers", type=int, default=1, help="number of processes (default: %(default)s)")
    add(
        "--access-log",
        metavar="FILE",
        nargs="?",
        const="-",
        help="append a line for each request to FILE; without FILE or with -, write it to standard error",
    )
    add(
        "--max-connections",
        metavar="COUNT",
        type=_positive,
        default=limits.connections,
        help="limit of connections for each worker (default: %(default)s)",
    )
    add(
        "--max-header",
        metavar="BYTES",
        type=_positive,
        default=limits.head,
        help="limit of a request line with its headers (default: %(default)s)",
    )
    add(
        "--max-url",
        metavar="BYTES",
        type=_positive,
        default=8192,
        help="limit of path and query (default: %(default)s)",
    )


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="JSON or JSON Lines file with records, or a folder of them")
    _store_options(parser)
    parser.set_defaults(run=_import)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("doi", help="DOI, in any usual form")
    parser.add_argument("url", help="http or https URL that the DOI resolves to")
    parser.add_argument("--replace", action="store_true", help="replace the record if there is one already")
    parser.add_argument("--metadata", metavar="FILE", help="JSON file with its metadata by media type")
    _store_options(parser)
    parser.set_defaults(run=_add)


def _store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", help="SQLite file or redis:// URL (default: DOIURI_CACHE)")
    parser.add_argument(
        "--base", default=DOI_ORG, help="base URL to which the records belong (default: %(default)s)"
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
