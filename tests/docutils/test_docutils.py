"""The role and the parser in plain docutils."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import docutils_doiuri
import pytest
from docutils import nodes
from docutils.parsers.rst import roles
from support.checks import assert_same, assert_times, exactly, only
from support.docutils_page import body, command
from support.servers.web import resolver, site
from support.sphinx_build import links


def test_only_the_parser_links_doi_uris() -> None:
    assert [link.text for link in links(body("`x <doi:10.1000/1>`__ :doi:`T <10.1000/2>`"))] == [
        "T"
    ]


def test_a_role_arxiv_of_ones_own_is_kept() -> None:
    def own(
        _name: str, _raw: str, text: str, *_: object, **__: object
    ) -> tuple[list[nodes.Node], list[nodes.Node]]:
        return [nodes.emphasis("", text)], []

    exactly(1, "links", links(body(":arxiv:`2301.00001`")))
    roles.register_local_role("arxiv", own)  # type: ignore[arg-type]
    docutils_doiuri.register()
    assert "<em>2301.00001</em>" in body(":arxiv:`2301.00001`")


def test_what_is_no_doi_is_problematic_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    page = body(
        "One.\n\nTwo :doi:`10.1000` and :doi:`10.1000/1`\n\n:doi:`T <10.2 <10.3>>`.", report_level=2
    )
    assert_times(2, 'class="problematic"', page)
    assert ":doi:`10.1000`" in page
    assert_times(2, "is not a DOI", page)
    assert [link.href for link in links(page)] == ["https://doi.org/10.1000/1"]
    first, second = capsys.readouterr().err.splitlines()
    assert (
        first
        == "<string>:3: (ERROR/3) '10.1000' is not a DOI: no \"/\" after the prefix (position 7)"
    )
    assert second.startswith("<string>:5: (ERROR/3) '10.2 <10.3>' is not a DOI")


def test_a_uri_that_is_no_doi_is_shown_as_written_in_any_letter_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.rst"
    for scheme in ("doi", "DOI", "Doi"):
        page.write_text(
            f"A `name <{scheme}:10.1000>`__ and `{scheme}:10.1000`__.\n\n__ {scheme}:hello\n"
        )

        html = command("--doi-resolve=no", str(page))

        said = capsys.readouterr().err
        errors = re.findall(r":(\d): \(ERROR/3\) '(\w+):", said)
        assert_same(f"the errors about {scheme}: {said}", errors, [("1", scheme), ("3", scheme)])
        shown = re.findall('class="problematic"[^>]*>(.*?)</', html)
        assert_same(f"what is shown of {scheme}:", len(shown), 2)


WRONG = {
    "doi_timeout: 'soon' is not a number of seconds above 0": {"doi_timeout": "soon"},
    f"{Path(__file__).name} cannot be read as a lock file": {"doi_lock": __file__},
    "DOIURI_CACHE: a store on Redis needs redis-py": {},
}


@pytest.mark.parametrize(("said", "settings"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_is_one_error_that_does_not_halt_docutils_and_links_stay(
    said: str,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    cache = ":memory:" if settings else "redis://localhost"
    monkeypatch.setenv("DOIURI_CACHE", cache)
    page = body(":doi:`10.1000/1` :doi:`10.1000/2`", halt_level=2, doi_resolve=True, **settings)
    exactly(2, "links", links(page))
    told = only("warning", [record for record in caplog.records if record.name == "doiuri"])
    assert said in told.getMessage()


def test_options_and_settings_are_read_and_if_invalid_named_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.rst").write_text(":doi:`10.1000/1` :doi:`10.1000/2`\n")
    with pytest.raises(SystemExit):
        command("--doi-timeout=soon", "page.rst")
    said = "'soon' is not a number of seconds above 0"
    assert re.search(f'"--doi-timeout":\\s*ValueError: {said}', capsys.readouterr().err)
    (tmp_path / "docutils.conf").write_text("[general]\ndoi_resolve: no\ndoi_text: link\n")
    assert links(command("page.rst"))[0].text == "https://doi.org/10.1000/1"
    (tmp_path / "docutils.conf").write_text("[general]\ndoi_timeout: soon\n")
    assert [link.text for link in links(command("page.rst"))] == ["doi:10.1000/1", "doi:10.1000/2"]
    assert_times(1, f"(ERROR/3) doi_timeout: {said}", capsys.readouterr().err)


def test_a_lock_file_stands_beside_the_docutils_conf_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "conf" / "docutils.conf"
    conf.parent.mkdir()
    conf.write_text("[general]\ndoi_lock: doi.lock.json\n")
    record = '{"json": {"responseCode": 100, "handle": "10.1000/1"}}'
    lock = f'{{"doiuri-lock": 1, "record": {{"10.1000/1": {record}}}}}'
    (conf.parent / "doi.lock.json").write_text(lock)
    (tmp_path / "page.rst").write_text(":doi:`10.1000/1`\n")
    monkeypatch.chdir(tmp_path)

    link = only("link", links(command(f"--config={conf}", "page.rst")))

    assert "doi-not-found" in link.classes


def test_requests_name_this_package_and_its_version_and_keep_the_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with site(resolver({})) as server:
        settings = {
            "doi_resolve": True,
            "doi_resolver": server.url,
            "doi_cache": str(tmp_path / "cache"),
        }
        body(":doi:`10.1000/1`", doi_budget=1e-9, report_level=1, **settings)
        assert "1 of 1 DOIs could not be checked: " in capsys.readouterr().err
        body(":doi:`10.1000/1`", **settings)
        asked = only("request", server.seen)
    own = f"docutils-doiuri/{version('docutils-doiuri')} doiuri/{version('doiuri')} (+https://"
    assert asked.headers["user-agent"].startswith(own)


def test_the_parser_has_the_role_doi_references_and_options_built_in(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    (tmp_path / "page.rst").write_text(
        ":doi:`10.1000/1`, `x <doi:10.1000/a%23b>`_, y_ and `z <doi:10.1000>`__\n`z <doi:10.1000>`__\n\n"
        ".. _y: DOI:10.1000/2\n\n.. `z <doi:10.1000>`__\n\n.. include:: part.txt\n"
    )
    (tmp_path / "part.txt").write_text("\n" * 5 + "`z <doi:10.1000>`__\n")
    words = (
        "-m docutils --parser=docutils_doiuri --doi-resolve=no --doi-text=link page.rst page.html"
    )
    command = [sys.executable, *words.split()]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    places = re.findall(r"(\w+\.\w+:\d): .* 'doi:10.1000' is not a DOI", done.stderr)
    assert places == ["page.rst:1", "page.rst:2", "part.txt:6"]
    assert [link.href for link in links(page.read_text())] == [
        "https://doi.org/10.1000/1",
        "https://doi.org/10.1000/a%23b",
        "https://doi.org/10.1000/2",
    ]
    assert links(page.read_text())[0].text == "https://doi.org/10.1000/1"
    assert 'href="doi:' not in page.read_text()
    assert '<a href="#system-message-1">' in page.read_text()
