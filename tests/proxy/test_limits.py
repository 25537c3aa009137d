"""Limits of memory."""

import asyncio
import tracemalloc

from doiuri_proxy.http import _redirect
from doiuri_proxy.http._http import Request
from doiuri_proxy.records._source import PublicValues, Records
from support.proxy_records import link


class BigRecords(Records):
    """Makes a record of 100 kB for each name, and keeps none."""

    async def lookup(self, handle: str, **_options: bool) -> PublicValues | None:
        (record,) = Records([link(handle, f"https://example.org/{handle}")])._records.values()
        padding = b',{"index":2,"type":"X","data":{"format":"string","value":"%s"},"ttl":86400}]'
        return PublicValues(record.body[:-1] + padding % (handle.encode() * 5_000))


def test_big_records_do_not_fill_the_memory() -> None:
    source, choice = BigRecords([]), _redirect.Choice()

    async def redirect_all() -> None:
        for number in range(1000, 1100):
            for query in (b"", b"auth"):
                request = Request("GET", b"/10.1000/%d-%s" % (number, b"x" * 7), query)
                assert (await _redirect.answer(request, source, choice)).status == 302

    tracemalloc.start()
    try:
        asyncio.run(redirect_all())
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
