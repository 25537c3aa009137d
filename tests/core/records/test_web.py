"""Which URLs of a record may be linked."""

from __future__ import annotations

import pytest
from doiuri import DOI, Record
from doiuri.records import Data, Value
from doiuri.records._text import is_web

GOOD = [
    "http://a",
    "HTTPS://A.example:443/b?c=d#e",
    "http://a.example?x",
    "http://[::1]:8000/",
    "http://user@a.example/",
    "http://müller.example/é",
    "http://a.example:8000",
    "http://a.example/b\\c",
    "http://a.example/?b\\@c",
]
BAD = [
    r"http://x\@y/",
    r"http://good.example\@evil.example/x",
    r"http://good.example\x",
    r"http://a\?x@y",
    r"http:\\x",
    r"http:/\x/",
    r"http://\x/",
    "javascript:alert(1)",
    "http://a.example:0/",
    "http://a.example:65536/",
    "http://a.example:x/",
    "http://a b/",
    "http://a.example/\nb",
    "http://a.example/\x85",
    "http:///a",
    "http://[a",
    "",
]


@pytest.mark.parametrize("url", GOOD)
def test_addresses_of_the_web(url: str) -> None:
    assert is_web(url)


@pytest.mark.parametrize("url", BAD, ids=ascii)
def test_other_addresses(url: str) -> None:
    assert not is_web(url)
    assert Record(DOI("10.1000/1"), [Value(1, "URL", Data("string", url))]).url is None
