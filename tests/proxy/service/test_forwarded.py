"""The client's address behind reverse proxies."""

import pytest
from doiuri_proxy._cli import main
from doiuri_proxy.app._http import Request
from doiuri_proxy.server._forwarded import TrustedPeers
from support.growth import is_fast

TRUSTED = "127.0.0.1, 10.0.0.0/8,::1,2001:db8::/32"


def client(headers: dict[str, str], peer: str = "127.0.0.1", trusted: str = TRUSTED) -> str:
    return TrustedPeers(trusted).client_of(Request("GET", b"/", headers=headers), peer)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1, 10.1.2.3,127.0.0.1", "192.0.2.1"),  # the first is the client's own claim
        ("10.9.9.9, 10.1.2.3", "10.9.9.9"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("[2001:db9::1]:443", "2001:db9::1"),
        ("2001:DB9::0001", "2001:db9::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ('192.0.2.1" 200 1\n', "127.0.0.1"),
        ("192.0.2.1, evil, 10.1.2.3", "10.1.2.3"),
        ("192.0.2.1,, 10.1.2.3", "10.1.2.3"),
        (", ".join(["192.0.2.1", *["10.0.0.1"] * 5000]), "10.0.0.1"),
    ],
)
def test_x_forwarded_for_is_read_from_its_end(header: str, expected: str) -> None:
    assert client({"x-forwarded-for": header}) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for=192.0.2.1", "192.0.2.1"),
        ("For=192.0.2.1;proto=https;by=203.0.113.43", "192.0.2.1"),
        ('proto=https; for="[2001:db9:cafe::17]:4711"', "2001:db9:cafe::17"),
        ('for=192.0.2.1, for="10.0.0.1"', "192.0.2.1"),
        ('for="192.0.2.1, 203.0.113.7", for=10.0.0.1', "10.0.0.1"),
        ("for=192.0.2.1, for=_hidden", "127.0.0.1"),
        ("for=192.0.2.1, for=unknown, for=10.0.0.1", "10.0.0.1"),
        ("proto=https", "127.0.0.1"),
        ('host="for=192.0.2.9";for=192.0.2.1', "192.0.2.1"),
        ('host="a;for=192.0.2.9"', "127.0.0.1"),
        ('for="192.0.2.1', "127.0.0.1"),
        ('for="x, for=192.0.2.1', "127.0.0.1"),
    ],
)
def test_forwarded_is_read_as_rfc_7239_says(header: str, expected: str) -> None:
    assert client({"forwarded": header}) == expected


def test_only_trusted_peers_are_believed() -> None:
    headers = {"x-forwarded-for": "192.0.2.1", "forwarded": "for=192.0.2.1"}
    assert client(headers, "198.51.100.1") == "198.51.100.1"
    assert client(headers, "10.255.0.1") == "192.0.2.1"
    assert client(headers, "::ffff:10.255.0.1") == "192.0.2.1"
    assert client(headers, "198.51.100.1", "*") == "192.0.2.1"
    assert client(headers, "-") == "-"
    assert client({"x-forwarded-for": "192.0.2.1, 192.0.2.2"}, trusted="*") == "192.0.2.1"


def test_headers_that_disagree_are_not_believed() -> None:
    """A reverse proxy sets one of them, and passes on the other as the client made it up."""
    made_up = {"x-forwarded-for": "192.0.2.1", "forwarded": "for=203.0.113.9"}
    assert client(made_up) == "127.0.0.1"
    assert client({}) == "127.0.0.1"


def test_hostile_headers_take_linear_time() -> None:
    for header in (
        'for="' * 6000,
        "for=" * 8000,
        ',"' * 8000,
        "\\" * 30_000,
        'for="\\' * 5000,
        ";for" * 8000,
        '"' + '\\"' * 15_000,
        '"' + '\\"' * 15_000 + "\\",
        "for=" + " " * 30_000 + "x y",
    ):
        assert client({"forwarded": header}) == "127.0.0.1"
        assert client({"x-forwarded-for": header}) == "127.0.0.1"
        assert is_fast(lambda: client({"forwarded": header}), 0.5), header[:20]  # noqa: B023 - called at once
        assert is_fast(lambda: client({"x-forwarded-for": header}), 0.5), header[:20]  # noqa: B023


@pytest.mark.parametrize("text", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "127.0.0.1;::1"])
def test_what_is_not_an_address_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--records", "r.json", "--forwarded-allow-ips", text])
    assert end.value.code == 2
    assert "is neither an IP address nor a network" in capsys.readouterr().err
