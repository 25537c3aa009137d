"""Request targets that clients seldom send, with their answers: names arrive as they were sent."""

import re

import pytest
from doiuri_proxy import Running
from support.http import send

TARGETS = [
    (b"/", 200, "Resolve a DOI Name"),
    (b"//", 200, "Resolve a DOI Name"),
    (b"///10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"/10.1000//1", 404, "DOI Name Not Found"),
    (b"/10.1000%2f1", 302, "http://www.doi.org/index.html"),
    (b"/%31%30.1000/1", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/%2e%2e", 302, "https://example.org/dots"),
    (b"/10.1000/../1", 404, "DOI Name Not Found"),
    (b"/10.1000/./1", 404, "DOI Name Not Found"),
    (b"/./10.1000/1", 404, "DOI Name Not Found"),
    (b"/../10.1000/1", 404, "DOI Name Not Found"),
    (b"/10.1000/456#789", 302, "https://example.org/hash"),
    (b"/10.1000/1#x", 404, "DOI Name Not Found"),
    (b"/10.1000/1?", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/1?#", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/1??", 302, "http://www.doi.org/index.html"),
    (b"/10.1000/1?noredirect?x", 302, "http://www.doi.org/index.html"),
    (b"?noredirect", 200, "Resolve a DOI Name"),
    (b"10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"*", 404, "DOI Name Not Found"),
    (b"/*", 404, "DOI Name Not Found"),
    (b"http://doi.org/10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"HTTPS://doi.org/10.1000/1?auth", 302, "http://www.doi.org/index.html"),
    (b"http://doi.org", 200, "Resolve a DOI Name"),
    (b"http://doi.org?x", 200, "Resolve a DOI Name"),
    (b"http:///10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"ftp://x/10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"doi:10.1000/1", 302, "http://www.doi.org/index.html"),
    (b"/api", 404, "responseCode 4"),
    (b"/api/", 404, "responseCode 4"),
    (b"/api/handles", 400, "responseCode 102"),
    (b"/api/handles/", 400, "responseCode 102"),
    (b"//api/handles/10.1000/1", 404, "DOI Name Not Found"),
    (b"/api//handles/10.1000/1", 404, "responseCode 4"),
    (b"/api/handles//10.1000/1", 404, "responseCode 100"),
    (b"/%61pi/handles/10.1000/1", 404, "DOI Name Not Found"),
    (b"/api%2Fhandles/10.1000/1", 404, "DOI Name Not Found"),
    (b"/api/handles/%31%30.1000%2f1", 200, "responseCode 1"),
    (b"/api/handles/10.1000/x;y&z%3F+%C3%BC", 200, "responseCode 1"),
    (b"/api/handles/10.1000/..", 200, "responseCode 1"),
    (b"/api/handles/10.1000/456%23789", 200, "responseCode 1"),
    (b"/api/handles/10.1000/456#789", 200, "responseCode 1"),
    (b"/healthz/", 404, "DOI Name Not Found"),
    (b"//healthz", 404, "DOI Name Not Found"),
    (b"/%68ealthz", 404, "DOI Name Not Found"),
    (b"/healthz?x", 200, '{"status":"ok"}'),
    (b"/healthz#x", 404, "DOI Name Not Found"),
    (b"/10.1000/%", 400, "Bad Request"),
    (b"/10.1000/%zz", 400, "Bad Request"),
    (b"/10.1000/%ff", 400, "Bad Request"),
    (b"/10.1000/%C3%81", 404, "DOI Name Not Found"),
    (b"/10.1000/\xc3\x81", 400, "Invalid HTTP request received."),
    (b"/10.1000/\xff", 400, "Invalid HTTP request received."),
    (b"/10.1000/%00", 404, "DOI Name Not Found"),
    (b"/10.1000/\x00", 400, "Invalid HTTP request received."),
    (b"/10.1000/\x01", 400, "Invalid HTTP request received."),
    (b"/10.1000/\x7f", 400, "Invalid HTTP request received."),
    (b"/10.1000/a b", 400, "Invalid HTTP request received."),
    (b"/10.1000/\t1", 400, "Invalid HTTP request received."),
    (b"/10.1000/<x>", 404, "DOI Name Not Found"),
    (b'/10.1000/"x"', 404, "DOI Name Not Found"),
    (b"/10.1000/a\\b", 404, "DOI Name Not Found"),
    (b"/10.1000/{x}|^`", 404, "DOI Name Not Found"),
    (b"/10.1000/x%3By%26z%3F%2B%C3%BC", 302, "https://example.org/odd"),
    (b"/10.1000/x;y&z%3F+%C3%BC", 302, "https://example.org/odd"),
    (b"/10.1000/loc?locatt=id:0;x", 302, "https://example.org/uk"),
    (b"/10.1000/1?a=%ff", 400, "Bad Request"),
    (b"/10.1000/1?a=%", 400, "Bad Request"),
    (b"/10.1000/1?\xc3\xbc", 400, "Invalid HTTP request received."),
    (b"/api/handles/10.1000/1?pretty&type=%zz", 400, "responseCode 4"),
    (
        b"/doiRA/10.1000/a%2Cb,10.2000",
        200,
        '[{"DOI":"10.1000/a,b","RA":"Crossref"},{"DOI":"10.2000","RA":"DataCite"}]',
    ),
    (b"/doiRA//10.1000", 200, '[{"DOI":"/10.1000","status":"Invalid DOI"}]'),
    (b"/doiRA/", 200, '[{"DOI":"","status":"Invalid DOI"}]'),
    (b"/doiRA", 404, "DOI Name Not Found"),
    (b"/ra/10.1000,", 200, '[{"DOI":"10.1000","RA":"Crossref"},{"DOI":"","status":"Invalid DOI"}]'),
    (b"", 400, "Invalid HTTP request received."),
    (b"user@host:80", 404, "DOI Name Not Found"),
    (b"host:80", 404, "DOI Name Not Found"),
]


def summary(head: bytes, body: bytes) -> str:
    """Where a redirect leads, else what an answer says in short."""
    if location := re.search(rb"(?mi)^location: (.*?)\r?$", head):
        return location[1].decode()
    if code := re.match(rb'{"responseCode":(\d+)', body):
        return f"responseCode {code[1].decode()}"
    title = re.search(rb"<title>(.*?)</title>", body)
    return (title[1] if title else body).decode()


@pytest.mark.parametrize(
    ("target", "status", "expected"), TARGETS, ids=[repr(one[0])[2:-1] for one in TARGETS]
)
def test_names_in_odd_targets_arrive_as_they_were_sent(
    proxy: Running, target: bytes, status: int, expected: str
) -> None:
    end = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head, _, body = send(proxy.url, b"GET " + target + end).partition(b"\r\n\r\n")
    assert (int(head[9:12]), summary(head, body)) == (status, expected)
    head_alone, _, nothing = send(proxy.url, b"HEAD " + target + end).partition(b"\r\n\r\n")
    assert int(head_alone[9:12]) == status
    assert nothing == b"" or status == 400  # what is not a request may be answered with a body
