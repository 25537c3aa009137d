"""Work in proportion to the request: links, pages."""

from pathlib import Path
from typing import Any

import pytest
from doiuri_proxy import running
from jinja2 import Template
from support.http import ask
from support.proxy_records import link


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
