"""Work in proportion to the request: batches, nesting, pages."""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import SQLiteStore
from doiuri_proxy import running
from doiuri_proxy.records._store import Registry
from jinja2 import Template
from support.http import ask
from support.proxy_records import link, record, value


def test_which_ra_of_many_names_is_read_off_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "records.sqlite3"
    registry = Registry(str(store), "https://doi.org")
    registry.register([link(f"10.1000/{n}", "https://example.org/") for n in range(200)])
    registry.close()
    get_many, threads = SQLiteStore.get_many, list[str]()

    def count(self: SQLiteStore, keys: Any) -> Any:
        threads.append(threading.current_thread().name)
        return get_many(self, keys)

    with running(store) as proxy:
        monkeypatch.setattr(SQLiteStore, "get_many", count)
        names = ",".join(f"10.1000/{n}" for n in range(300))
        statuses = [item["status"] for item in ask(proxy.url, f"/doiRA/{names}").json()]
    assert statuses == ["Unknown"] * 200 + ["DOI does not exist"] * 100
    assert "doiuri-proxy" not in threads


@pytest.mark.parametrize("target", ["/api/handles/10.1000/deep?pretty", "/10.1000/deep?noredirect"])
def test_deep_records_are_not_multiplied_by_indentation(target: str) -> None:
    data: Any = []
    for _ in range(sys.getrecursionlimit() - 250):
        data = [data, 1, 1, 1, 1, 1, 1, 1]
    deep = record("10.1000/deep", value(1, "X", data, "new"))
    with running([deep]) as proxy:
        answer = ask(proxy.url, target)
    assert answer.status == 200
    assert len(answer.body) < 4 * len(json.dumps(deep))


def test_a_link_to_a_folder_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "r.json").write_text("[]")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    with running(folder):
        assert f"{folder}/more: a symbolic link to a folder, not followed" in caplog.text


def test_redirects_share_a_rendered_page(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = list[str | None]()
    render = Template.render

    def count(self: Template, *args: Any, **texts: Any) -> str:
        rendered.append(self.name)
        return render(self, *args, **texts)

    with running([link(f"10.1000/{n}", f"https://example.org/{n}") for n in range(5)]) as proxy:
        ask(proxy.url, "/10.1000/0")
        monkeypatch.setattr(Template, "render", count)
        for n in range(1, 5):
            assert f"https://example.org/{n}".encode() in ask(proxy.url, f"/10.1000/{n}").body
        assert rendered == []
        ask(proxy.url, "/")
    assert rendered == ["front.html"]
