"""Fuzz the proxy's answers: no request makes it fail, or puts a header, a target or markup into an answer.

python tests/fuzz/proxy.py [--seconds 60] [--seed N]
"""

from __future__ import annotations

import json
import random
import re
import sys

from doiuri_proxy import Records, Response, answer
from support.fuzzing import rounds
from support.proxy_records import AGENCIES, RECORDS

# Without the records that the proxy rightly fails to read
SOUND = [one for one in RECORDS if one["handle"] not in {"10.1000/broken", "10.1000/bomb"}]
KNOWN = Records({"records": SOUND, "agencies": AGENCIES})
NAMES = [str(one["handle"]).encode().decode("latin-1") for one in RECORDS]
PATHS = [
    *(
        "/",
        "/api/handles/",
        "/api/",
        "/doiRA/",
        "/ra/",
        "/doi:",
        "/urn:doi:",
        "/info:hdl/",
        "//",
        "/healthz",
    )
]
QUERIES = [
    *(
        "noredirect",
        "type=URL",
        "type=url.",
        "index=1",
        "index=x",
        "urlappend=%0d%0aX:y",
        "urlappend=@e",
    ),
    *(
        "locatt=id:0",
        "locatt",
        "auth",
        "cert",
        "nols=y",
        "action=showurls",
        "ignore_aliases",
        "pretty",
    ),
    *("callback=f", "callback=%3Cscript%3E", "=", "&", ";", "%", "%ff", "+", "hdl=10.1000/1"),
]
BITS = [
    *(
        "%0a",
        "%0D",
        "%00",
        "%C3",
        "%2F",
        "%",
        "/",
        "..",
        "\\",
        "<",
        ">",
        "'",
        "#",
        "?",
        ":",
        ",",
        '"',
        " ",
    ),
    *("\r\n", "\xff", "\0"),
]
HEADERS = [
    *(
        ("Accept", "text/html"),
        ("Accept", "application/json;q=x,,;q=2"),
        ("Origin", "null"),
        ("X", "y"),
    ),
    *(
        ("Origin", "https://a\x01"),
        ("Host", "b"),
        ("Content-Type", "text/plain"),
        ("Range", "bytes=0-0"),
    ),
]
METHODS = [*["GET"] * 8, "HEAD", "POST", "OPTIONS", "PUT", "get", "G\0T", ""]


def target(chance: random.Random) -> str:
    """A target, malformed in a few places, with the characters that a server takes."""
    text = chance.choice(PATHS) + chance.choice(NAMES)
    if chance.random() < 0.5:
        text += "?" + chance.choice("&;").join(chance.choices(QUERIES, k=chance.randint(1, 4)))
    for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
        place = chance.randrange(len(text))
        text = text[:place] + chance.choice(BITS) + text[place + chance.choice((0, 1)) :]
    return re.sub(r"[^!-~]", lambda character: f"%{ord(character[0]):02X}", text)


def check(response: Response) -> str:
    """Return what is wrong with an answer, or ""."""
    if response.status == 500:
        return "a failure"
    headers = {name.lower(): value for name, value in response.headers}
    if len(headers) != len(response.headers) or "x" in headers or "set-cookie" in headers:
        return "an injected header"
    if any(re.search(r"[\r\n]", value) for value in headers.values()):
        return "a split header"
    if not re.fullmatch(r"((https?:/)?/[!-~]*)?", headers.get("location", "")):
        return "a bad target"
    if "json" in response.content_type and response.body:
        json.loads(response.body)
    is_markup = b"<script" in response.body.lower() and "text/html" in response.content_type
    return "markup" if is_markup else ""


def main() -> int:
    count = answered = 0
    for chance in rounds(__doc__):
        headers = dict(chance.choices(HEADERS, k=chance.choice((0, 1, 3))))
        asked = chance.choice(METHODS), target(chance), headers
        response = answer(KNOWN, *asked)
        wrong = check(response)
        if wrong:
            print(f"{wrong}\n{asked!r}\n{response!r}")
            return 1
        count += 1
        if response.status < 400:
            answered += 1
    print(f"{count:,} requests, {answered:,} of them served")
    return 0 if answered else 1


if __name__ == "__main__":
    sys.exit(main())
