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
from doiuri_proxy.app._target import header_url
from doiuri_proxy.records._records import DEFAULT_TTL, RecordsError
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from doiuri_proxy.records._stores import Registry


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status: 1 where records, store, URL or address are no good."""
    options = _parser().parse_args(argv)
    logging.basicConfig(format="doiuri-proxy: %(message)s", level=logging.WARNING)
    logging.getLogger("doiuri_proxy").setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    try:
        status: int = options.run(options)
    except (RecordsError, ValueError, OSError, UserWarning) as error:
        _say(f"doiuri-proxy: {error}", sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as shells report a program that SIGINT ended
    return status


def _serve(options: argparse.Namespace) -> int:
    if not options.records and options.upstream is None:
        raise ValueError("nothing to serve: give --records, --upstream or both")
    if options.cache is not None and options.upstream is None:
        raise ValueError("--cache is for what --upstream answers: give that too")
    if options.workers < 1 or (options.workers > 1 and not hasattr(os, "fork")):
        raise ValueError(f"{options.workers} workers cannot be had here")
    with contextlib.ExitStack() as stack:
        log = options.access_log
        if log is not None:
            log = sys.stderr if log == "-" else stack.enter_context(_open_log(log))
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
            access_log=log,
        ).run()


def _open_log(name: str) -> TextIO:
    try:
        return open(name, "a", encoding="utf-8")  # noqa: PTH123 - for as long as the service runs
    except OSError as error:
        raise OSError(f"cannot write the access log {name}: {error.strerror}") from None


def _import(options: argparse.Namespace) -> int:
    with _registry(options) as registry:
        _say(f"{registry.register(options.file)} records are in {registry.address}")
    return 0


def _add(options: argparse.Namespace) -> int:
    doi = DOI.parse(options.doi)
    if header_url(options.url) is None:
        raise ValueError(f"{options.url!r} is not an http or https URL")
    with _registry(options) as registry:
        there = registry.registered(doi.name)
        if there is not None and not (options.replace and there == doi.name):
            raise ValueError(f"{doi.name} is already there" + (f" as {there}" if there != doi.name else ""))
        registry.register([_url_record(doi, options.url)])
    _say(f"{doi.name} now leads to {options.url}")
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
    from doiuri_proxy.records._stores import Registry

    if not options.store:
        raise ValueError("which store? Give --store, or set DOIURI_CACHE")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a store that cannot be written only warns
        try:
            registry = Registry(options.store, options.base)
        except ValueError as error:
            raise ValueError(f"--store or DOIURI_CACHE: {error}") from None
        try:
            yield registry
        finally:
            registry.close()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size: a number from 1")
    return int(text)


def _country(text: str) -> str:
    if not re.fullmatch("[A-Za-z]{2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a country's code of two letters")
    return text


def _say(text: str, file: TextIO | None = None) -> None:
    print(text, file=file)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="doiuri-proxy",
        description="A local DOI proxy: serves records, or puts them into a store.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('doiuri-proxy')}")
    parser.set_defaults(run=_serve)
    _source_options(parser)
    _server_options(parser)
    commands = parser.add_subparsers(title="commands", metavar="{import,add}")
    importing = commands.add_parser("import", help="put the records of a file into a store")
    importing.add_argument("file", help="records: a JSON or JSON Lines file, or a folder of them")
    importing.set_defaults(run=_import)
    adding = commands.add_parser("add", help="put one DOI with its URL into a store")
    adding.add_argument("doi", help="the DOI, in any usual form")
    adding.add_argument("url", help="where it leads: an http or https URL")
    adding.add_argument("--replace", action="store_true", help="replace the record if the DOI is there")
    adding.set_defaults(run=_add)
    for command in (importing, adding):
        command.add_argument(
            "--store", default=os.environ.get("DOIURI_CACHE"), help="SQLite file or redis:// URL"
        )
        command.add_argument("--base", default=DOI_ORG, help="whose records these are (default: %(default)s)")
    return parser


def _source_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("records")
    group.add_argument(
        "--records", help="JSON or JSON Lines file, folder of them, SQLite file or redis:// URL"
    )
    group.add_argument(
        "--base", default=DOI_ORG, help="whose records to read from a store (default: %(default)s)"
    )
    group.add_argument("--upstream", metavar="URL", help="proxy to ask for what is not in the records")
    group.add_argument("--cache", help="store for what upstream answers (default: DOIURI_CACHE)")
    group.add_argument(
        "--pick",
        choices=("random", "highest"),
        default="random",
        help="between locations: at random by weight, or the highest weight (default: %(default)s)",
    )
    group.add_argument(
        "--country", metavar="CODE", type=_country, help="two letters: prefer locations for this country"
    )


def _server_options(parser: argparse.ArgumentParser) -> None:
    limits = Limits()
    group = parser.add_argument_group("server")
    group.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    group.add_argument("--port", type=_port, default=8053, help="0 picks a free one (default: %(default)s)")
    group.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
    group.add_argument("--access-log", metavar="FILE", nargs="?", const="-", help="log requests; - is stderr")
    group.add_argument("--max-connections", type=_size, default=limits.connections, help="for each worker")
    group.add_argument("--max-header", type=_size, default=limits.head, help="bytes (default: %(default)s)")
    group.add_argument(
        "--max-url", type=_size, default=8192, help="bytes of path and query (default: %(default)s)"
    )
