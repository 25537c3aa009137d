"""Limits of memory."""

import tracemalloc

from doiuri_proxy import Records, answer
from support.proxy_records import link, record, value


def test_big_records_do_not_fill_the_memory() -> None:
    url = link("", "https://example.org/")["values"]
    records = Records([record(f"10.1000/{n}", *url, value(2, "X", f"{n:03}" * 30_000)) for n in range(100)])
    tracemalloc.start()
    try:
        for number in range(100):
            for query in ("", "?auth"):
                assert answer(records, "GET", f"/10.1000/{number}{query}").status == 302
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
