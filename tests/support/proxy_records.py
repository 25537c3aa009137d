"""The records that the tests' proxy serves, and helpers to write records."""

import base64
from typing import Any


def value(
    kind: str, data: Any, index: int = 1, fmt: str = "string", **members: Any
) -> dict[str, Any]:
    """Return a value of a record in the form of the REST API; ``members`` replace the usual ones.

    :param fmt: the format of the data.
    """
    return {
        "index": index,
        "type": kind,
        "data": {"format": fmt, "value": data},
        "ttl": 86400,
        "timestamp": "2020-01-02T03:04:05Z",
        **members,
    }


def record(handle: str, *values: dict[str, Any]) -> dict[str, Any]:
    return {"handle": handle, "values": list(values)}


def link(handle: str, url: str, **more: Any) -> dict[str, Any]:
    return record(handle, value("URL", url, **more))


def alias(handle: str, target: str) -> dict[str, Any]:
    return record(handle, value("HS_ALIAS", target))


def loc(handle: str, xml: str, *more: dict[str, Any]) -> dict[str, Any]:
    return record(handle, value("10320/loc", xml, index=1000), *more)


# draft-lemieux-doi-uri-scheme-00 Figure 1
FIGURE_1: dict[str, Any] = {
    "responseCode": 1,
    **record(
        "10.1000/182",
        value("URL", "http://www.doi.org/hb.html", timestamp="2004-01-21T14:14:17Z"),
        value(
            "HS_ADMIN",
            {
                "handle": "0.na/10.1000",
                "index": 200,
                "permissions": "011111110010",
                "legacyByteLength": True,
            },
            fmt="admin",
            index=100,
            timestamp="2000-06-23T15:17:46Z",
        ),
    ),
}

FORMATS = record(
    "10.1000/formats",
    value("EMAIL", "someone@example.org"),
    value("B", base64.b64encode(b"\xff\x00").decode(), fmt="base64", index=2),
    value("H", "ff00", fmt="hex", index=3),
    value(
        "HS_ADMIN",
        {"handle": "0.NA/10.1000", "index": 200, "permissions": "011111111111"},
        fmt="admin",
        index=4,
    ),
    value("HS_VLIST", [{"handle": "0.NA/10.1000", "index": 300}], fmt="vlist", index=5),
    value("HS_SITE", {"version": 1, "servers": [{"serverId": 1}]}, fmt="site", index=6),
    value("HS_PUBKEY", {"kty": "DSA", "y": "AA"}, fmt="key", index=7),
    value("NEW", {"anything": [1, None, "x"]}, fmt="of-tomorrow", index=8),
)

LOCATIONS = (
    '<locations chooseby="locatt,country,weighted">'
    '<location id="0" href="https://example.org/uk" country="gb" weight="0" />'
    '<location id="1" href="https://example.org/main" weight="1" />'
    '<location id="2" href_template="https://example.org/api?id={hdl}" http_role="conneg" weight="0" />'
    '<location id="3" href="https://example.org/pdf" weight="0" rel="item" media-type="application/pdf" />'
    "</locations>"
)

RECORDS = [
    FIGURE_1,
    link("10.1000/1", "http://www.doi.org/index.html"),
    FORMATS,
    record(
        "10.1000/many",
        value("URL", "https://example.org/one"),
        value("URL", "https://example.org/two", index=2),
        value("EMAIL", "someone@example.org", index=3),
        value("URL.FOO", "https://example.org/foo", index=4),
    ),
    record("10.1000/mail", value("EMAIL", "someone@example.org")),
    {"responseCode": 200, "handle": "10.1000/empty", "values": []},
    record("10.1000/hidden", value("URL", "https://example.org/hidden", permissions="1100")),
    record(
        "10.1000/half",
        value("URL", "https://example.org/secret", permissions="1100"),
        value("URL", "https://example.org/open", index=2, permissions="1111", references=[]),
    ),
    link("10.123/456ABC/zyz", "https://example.org/urn"),
    link("10.123/ABC", "https://example.org/abc"),
    link("10.1000/a:b", "https://example.org/colon"),
    link("10.1000/456#789", "https://example.org/hash"),
    link("10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03", "https://example.org/zarza"),
    link("10.1000/..", "https://example.org/dots"),
    link("10.1000/x;y&z?+ü", "https://example.org/odd"),
    link("10.1000/target", "https://example.org/target"),
    alias("10.1000/alias", "10.1000/target"),
    alias("10.1000/alias2", "10.1000/ALIAS"),
    alias("10/abcd", "10.1000/TARGET"),
    alias("10.1000/dangling", "10.1000/nowhere"),
    alias("10.1000/loop", "10.1000/LOOP"),
    alias("10.1000/odd-alias", "10.1000/x;y&z?+ü"),
    record(
        "10.1000/not-an-alias",
        value("HS_ALIAS", "//evil.example"),
        value("URL", "https://example.org/", index=2),
    ),
    *(alias(f"10.1000/chain{n}", f"10.1000/chain{n + 1}") for n in range(22)),
    link("10.1000/chain22", "https://example.org/chain"),
    link("10.1000/idna", "https://BÜcher.example:8443/ü?q=ü#ü%20%zz"),
    link("10.1000/illegal", "https://example.org/a b<c>\"d'\\{}|^`[1]"),
    link("10.1000/short", "https://example.org/short", ttl=60),
    link("10.1000/absolute", "https://example.org/absolute", ttl="2020-01-01T00:00:00+01:00"),
    link("10.1000/javascript", "javascript:alert(1)"),
    link("10.1000/file", "file:///etc/passwd"),
    record(
        "10.1000/second",
        value("URL", "ftp://example.org/1"),
        value("URL", "https://example.org/2", index=2),
    ),
    link("10.1000/bare", "https://example.org"),
    link("10.1000/marked", "http://good.example\\@evil.example/x"),
    link("10.1000/spaced", " https://example.org/ "),
    link("10.1000/query", "https://example.org/a?b=c#d"),
    link("20.500.12345/x", "https://example.org/h"),
    link("10.1000/<script>alert(1)</script>", "ftp://example.org/<script>alert(1)</script>"),
    loc("10.1000/loc", LOCATIONS, value("URL", "https://example.org/plain", ttl=3600)),
    loc(
        "10.1000/sc",
        '<locations http_sc="307">'
        '<location href="https://example.org/a" http_sc="303" rel="a" type="b/c"/></locations>',
    ),
    loc(
        "10.1000/sc2",
        '<locations http_sc="308"><location href="https://example.org/a"/></locations>',
    ),
    loc(
        "10.1000/sc3",
        '<locations http_sc="200"><location href="https://example.org/a"/></locations>',
    ),
    loc("10.1000/broken", "<locations><location", value("URL", "https://example.org/plain")),
    loc(
        "10.1000/bomb",
        '<!DOCTYPE l [<!ENTITY a "aaa">]><locations><location href="&a;"/></locations>',
    ),
    loc("10.1000/no-places", "<locations></locations>", value("URL", "https://example.org/plain")),
    loc("10.1000/evil", '<locations><location href="javascript:alert(1)" rel="item"/></locations>'),
    record("0.NA/10.2000", value("10320/ra_name", "DataCite")),
    link("10.2000/x", "https://example.org/datacite"),
    link("10.2000.7.8/x", "https://example.org/subdivided"),
    link("10.1000.10/x", "https://example.org/subdivided"),
    link("10.1000.10.3/x.y", "https://example.org/subdivided"),
    link("10.1000.4/x", "https://example.org/subdivided"),
    link("10.10001/x", "https://example.org/no-agency"),
    link("10.3000/x", "https://example.org/no-agency"),
    link("10.1000/a,b", "https://example.org/comma"),
    record(
        "10.1000/zero",
        value("URL", "https://example.org/zero", timestamp=0),
        value("X", "zero", index=2, timestamp="1970-01-01T00:00:00Z"),
    ),
    record(
        "10.1000/all-keys",
        {
            "references": [{"handle": "10.1000/1", "index": 1}],
            "timestamp": "2020-01-02T03:04:05Z",
            "ttl": "2030-01-01T00:00:00+01:00",
            "permissions": "1111",
            "data": {"format": "string", "value": "x"},
            "type": "X",
            "index": 1,
        },
    ),
]

AGENCIES = {"10.1000": "Crossref", "10.1000.10": "mEDRA", "10.1045": "Crossref", "10.5240": "EIDR"}
AGENCIES |= {"10.1000/LOC": "OP", "10.1000/many": "Airiti"}
