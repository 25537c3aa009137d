"""Send malformed requests to a running proxy: it must answer correctly and keep running.

python tests/fuzz/proxy.py [--seconds 60] [--seed N]
"""

from __future__ import annotations

import json
import random
import re
import socket
import sys
from contextlib import suppress
from urllib.parse import urlsplit

from doiuri_proxy import running
from support.fuzzing import rounds
from support.proxy_records import AGENCIES, RECORDS

NAMES = [str(one["handle"]).encode() for one in RECORDS]
PATHS = [
    b"/",
    b"/api/handles/",
    b"/api/",
    b"/doiRA/",
    b"/ra/",
    b"/doi:",
    b"/urn:doi:",
    b"/info:hdl/",
    b"//",
    b"/healthz",
]
QUERIES = (
    b"noredirect type=URL type=url. index=1 index=x urlappend=%0d%0aX:y urlappend=@e locatt=id:0 locatt auth "
    b"cert nols=y action=showurls ignore_aliases pretty callback=f callback=%3Cscript%3E = & ; % %ff +"
).split()
BITS = [*b"%0a %0D %00 %C3 %2F % / .. \\ < > ' # ? : ,".split(), b'"', b" ", b"\r\n", b"\xff", b"\x00"]
HEADERS = (
    b"Accept: text/html|Accept: application/json;q=x,,;q=2|Origin: null|Origin: https://a\x01| folded|X|"
    b"Host: b|Connection: close|Content-Length: 5|Content-Length: -1|Transfer-Encoding: chunked|"
    b"Expect: 100-continue|Upgrade: websocket|Connection: upgrade|Cookie: a=b|Range: bytes=0-0|"
    b"Content-Type: text/plain"
).split(b"|")
METHODS = [b"GET"] * 8 + [b"HEAD", b"POST", b"POST", b"OPTIONS", b"PUT", b"get", b"G\x00T", b"CONNECT", b""]


def request(chance: random.Random) -> bytes:
    """One request, malformed in a few places."""
    target = chance.choice(PATHS) + chance.choice(NAMES)
    if chance.random() < 0.5:
        target += b"?" + chance.choice(b"&;").to_bytes(1, "big").join(
            chance.choices(QUERIES, k=chance.randint(1, 4))
        )
    for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
        place = chance.randrange(len(target))
        target = target[:place] + chance.choice(BITS) + target[place + chance.choice((0, 1)) :]
    if chance.random() < 0.9:
        target = re.sub(rb"[^!-~]", lambda match: b"%%%02X" % match[0][0], target)
    version = chance.choice([b"HTTP/1.1"] * 8 + [b"HTTP/1.0", b"HTTP/2", b""])
    headers = [b"Host: a", *chance.choices(HEADERS, k=chance.choice((0, 0, 0, 1, 2, 6)))]
    chance.shuffle(headers)
    end = chance.choice((b"\r\n", b"\r\n", b"\r\n", b"\n"))
    head = end.join([chance.choice(METHODS) + b" " + target + b" " + version, *headers, b"", b""])
    raw = head + chance.choice(
        (b"", b"", b"hello", b"hdl=10.1000/1", b"5\r\nhello\r\n0\r\n\r\n", b"GET / HTTP/1.1\r\n")
    )
    if chance.random() < 0.1:
        place = chance.randrange(len(raw))
        raw = raw[:place] + chance.randbytes(chance.randint(1, 8)) + raw[place + chance.randint(0, 8) :]
    return raw


def ask(url: str, raw: bytes) -> bytes:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        received = b""
        with suppress(ConnectionError, TimeoutError):  # refused before all was sent; kept open for more
            connection.sendall(raw)
            connection.settimeout(0.02)
            while piece := connection.recv(65536):
                received += piece
        return received


def check(raw: bytes, answer: bytes) -> str:
    """Return what is wrong with an answer, or ""."""
    if not answer:
        return ""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d{3}) [A-Za-z -]+\r\n", head + b"\r\n")
    if status is None:
        return "no status line"
    if status[1] == b"500" and not re.search(rb"(?i)/(broken|bomb)", raw):
        return "a failure"
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]]
    if (
        b"set-cookie" in names
        or b"x" in names
        or len(names) != len(set(names))
        or b"\n" in head.replace(b"\r\n", b"")
    ):
        return "an injected header"
    location = re.search(rb"(?mi)^location: (.*?)\r?$", head)
    if location and not re.fullmatch(rb"(https?:/)?/[!-~]*", location[1]):
        return "a bad target"
    if b"application/json" in head and status[1] != b"100" and body and not body.count(b"HTTP/1.1 "):
        json.loads(body)
    return "markup" if b"<script" in body.lower() and b"text/html" in head else ""


def main() -> int:
    count = answered = 0
    with running({"records": RECORDS, "agencies": AGENCIES}) as proxy:
        for chance in rounds(__doc__):
            raw = request(chance)
            answer = ask(proxy.url, raw)
            wrong = check(raw, answer)
            if wrong:
                print(f"{wrong}\n{raw!r}\n{answer!r}")
                return 1
            count += 1
            answered += answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3"))
            proxy.log.clear()
        last = b"GET /api/handles/10.1000/1 HTTP/1.1\r\nHost: a\r\n\r\n"
        # again: on a busy machine the 20 ms above may be over before it is sent
        well = any(ask(proxy.url, last).startswith(b"HTTP/1.1 200") for _ in range(100))
    print(f"{count:,} requests, {answered:,} of them served; the proxy is {'well' if well else 'gone'}")
    return 0 if well and answered else 1


if __name__ == "__main__":
    sys.exit(main())
