"""The command line."""

from __future__ import annotations

import argparse
import logging
import os
import random
import re
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG

from doiuri_proxy._commands import add_commands
from doiuri_proxy.records._validation import RecordsError

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def _serve(options: argparse.Namespace) -> int:
    if not options.records and options.upstream is None:
        raise ValueError("nothing to serve: give --records, --upstream or both")
    if options.cache is not None and options.upstream is None:
        raise ValueError("--cache stores the answers of --upstream: give --upstream as well")
    # the other commands need no server
    from doiuri_proxy._server import HangUp, access_log, bind, configure, reload, serve
    from doiuri_proxy.app._app import App
    from doiuri_proxy.app._metrics import Metrics
    from doiuri_proxy.app._redirect import Choice
    from doiuri_proxy.records._open import open_local, open_source

    hang_up, metrics, records = HangUp(), Metrics(), options.records or None
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
        app.on_response = access_log(options.access_log, metrics.count_log_failure)
    hang_up.reload = lambda: reload(app, lambda: open_local(records, options.base))
    config = configure(
        app,
        connections=options.max_connections,
        header=options.max_header,
        trusted=options.forwarded_allow_ips,
    )
    serve(app, bind(options.host, options.port), config, hang_up)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="doiuri-proxy",
        description="A local DOI proxy. Without a command it serves; the commands work on a store.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('doiuri-proxy')}")
    parser.set_defaults(run=_serve)
    _records_options(parser)
    _server_options(parser)
    add_commands(parser.add_subparsers(title="commands", metavar="COMMAND"))
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
