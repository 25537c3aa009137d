"""Warnings: one for each problem, with the line, the reason, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import docutils
import pytest
from support.sphinx_build import Build, build, write


def page(tmp_path: Path, text: str, conf: str = "", **more: str) -> Build:
    base = f'extensions = ["sphinx_doiuri"]\ndoi_resolve = False\n{conf}'
    source = write(tmp_path / "src", {"index.rst": f"Title\n=====\n\n{text}\n", "conf.py": base, **more})
    return build(source, tmp_path / "out")


def warnings(built: Build) -> list[str]:
    """Return the warnings, from the name of the file on."""
    return [line.rpartition("/src/")[2] for line in built.warnings.splitlines() if "WARNING" in line]


@pytest.mark.parametrize("role", [":doi:`10.1000`", ":doi:`Title <10.1000>`", "`Title <doi:10.1000>`__"])
def test_no_doi_is_problematic_text_and_one_warning(tmp_path: Path, role: str) -> None:
    built = page(tmp_path, f"Some text.\n\nBefore\nthe line {role}\nafter.")
    (warning,) = warnings(built)
    assert warning.startswith("index.rst:7: WARNING: ")
    assert "10.1000" in warning
    assert 'no "/" after the prefix' in warning
    assert warning.endswith("[doi.syntax]")
    assert built.status == 0
    assert built.links() == []
    assert '<span class="problematic">' in built.text()
    assert role.replace("<", "&lt;").replace(">", "&gt;") in built.text()


@pytest.mark.parametrize("id_", ["2301.1", "hep-th/2301.00001", "10.48550/arXiv.2301.00001", "x"])
def test_a_wrong_arxiv_identifier_is_reported_as_one(tmp_path: Path, id_: str) -> None:
    built = page(tmp_path, f"Before\n:arxiv:`{id_}`\n:arxiv:`Title <{id_}>`.")
    expected = "expected one such as 2301.00001, 2301.00001v2 or hep-th/9901001 (position 0) [doi.syntax]"
    assert warnings(built) == [
        f"index.rst:{line}: WARNING: {id_!r} is not a valid arXiv identifier: {expected}" for line in (5, 6)
    ]
    assert built.text().count('<span class="problematic">') == 2


def test_a_handle_that_is_no_doi_stays_a_link(tmp_path: Path) -> None:
    built = page(tmp_path, ":doi:`11681/5671`\n:doi:`Title <hdl:20.500.12345/a%23b>`\n:doi:`11681`")
    assert '<a class="reference external" href="https://doi.org/11681/5671">11681/5671</a>' in built.text()
    assert '<a class="reference external" href="https://doi.org/20.500.12345/a%23b">Title</a>' in built.text()
    first, second, third = warnings(built)
    assert first.startswith("index.rst:4: WARNING: '11681/5671' is not a DOI")
    assert second.startswith("index.rst:5: WARNING: 'hdl:20.500.12345/a%23b' is not a DOI")
    assert "is not a DOI: expected" in third
    assert all(one.endswith("[doi.syntax]") for one in (first, second, third))


def test_a_publisher_s_url_comes_with_its_doi(tmp_path: Path) -> None:
    url = "https://example.org/doi/10.1002/abc.1/full"
    roles = f":doi:`{url}` :doi:`Title <{url}>` :doi:p:`{url}` `Title <doi:{url}>`__"
    built = page(tmp_path, roles)
    told = ["; write doi:10.1002/abc.1 [doi.syntax]" in warning for warning in warnings(built)]
    assert told == [True] * 4


def test_an_error_in_a_substitution_is_reported_once(tmp_path: Path) -> None:
    built = page(tmp_path, "|s|\n\n.. |s| replace:: :doi:`1`\n\n.. |unused| replace:: :doi:`2`")
    # Before 0.22, docutils drops the messages of a substitution that is not used
    reported = ["1", "2"] if docutils.__version_info__ >= (0, 22) else ["1"]
    assert [line.split("'")[1] for line in warnings(built)] == reported


def test_what_docutils_reads_without_white_space_is_told(tmp_path: Path) -> None:
    built = page(tmp_path, "See `x <doi:10.1000/a b>`_, y_.\n\n.. _y: DOI:10.1000/c d")
    assert [link.href for link in built.links()] == [
        "https://doi.org/10.1000/ab",
        "https://doi.org/10.1000/cd",
    ]
    first, second = warnings(built)
    assert first.startswith("index.rst:4: ")
    assert second.startswith("index.rst:6: ")
    assert "doi:10.1000/a%20b" in first
    assert "doi:10.1000/c%20d" in second.lower()
    assert first.endswith("[doi.target-space]")


def test_a_uri_wrapped_at_a_line_end_is_no_problem(tmp_path: Path) -> None:
    built = page(tmp_path, "See `x <doi:10.1000/\nabc>`_.")
    assert [link.href for link in built.links()] == ["https://doi.org/10.1000/abc"]
    assert built.warnings == ""


def test_raw_hash_after_the_scheme_is_refused_with_the_repair(tmp_path: Path) -> None:
    told = warnings(page(tmp_path, "`x <doi:10.1000/456#789>`_, y_\n\n.. _y: doi:10.1000/456#789"))
    assert [line.split(":")[1] for line in told] == ["4", "6"]
    assert all("10.1000/456%23789" in line and line.endswith("[doi.syntax]") for line in told)


def test_hard_coded_links_are_reported_where_asked(tmp_path: Path) -> None:
    text = "https://doi.org/10.1000/182 and\n`Title <http://dx.doi.org/10.1000/1?x=y>`_, `no <https://doi.org/about>`_"
    assert page(tmp_path / "off", text).warnings == ""
    first, second = warnings(page(tmp_path / "on", text, "doi_hardcoded_links = True"))
    assert first.startswith("index.rst:4: ")
    assert ":doi:`10.1000/182`" in first
    assert second.startswith("index.rst:5: ")
    assert ":doi:`Title <10.1000/1>`" in second
    assert second.endswith("[doi.hardcoded]")


def test_a_hard_coded_link_around_an_image_is_no_role(tmp_path: Path) -> None:
    badge = ".. image:: a.png\n   :target: https://doi.org/10.1000/1\n"
    figure = "\n.. figure:: a.png\n   :target: https://doi.org/10.1000/2\n\n   https://doi.org/10.1000/3\n"
    inline = "\n|b|\n\n.. |b| image:: a.png\n   :target: https://doi.org/10.1000/4\n"
    conf = "doi_hardcoded_links = True\nsuppress_warnings = ['image']\n"
    [told] = warnings(page(tmp_path, badge + figure + inline, conf))
    assert "by :doi:`10.1000/3` [doi.hardcoded]" in told


HARDCODED = [
    *[
        (form.format(tail), f"{role}, which drops {tail}")
        for tail in ("?nols", "#page=3", "?locatt=id:1&nols#page=3")
        for form, role in (
            ("https://doi.org/10.1000/1{}", ":doi:`10.1000/1`"),
            ("`T <https://doi.org/10.1000/1{}>`__", ":doi:`T <10.1000/1>`"),
        )
    ],
    *[(f"`T <https://doi.org/10.1000/1{tail}>`__", ":doi:`T <10.1000/1>`") for tail in ("", "?", "#")],
    (
        "https://doi.org/10.1002/(SICI)1(97)40:5<789>3.0.CO;2-7.",
        ":doi:`10.1002/(SICI)1(97)40:5<789>3.0.CO;2-7`",
    ),
    ("(https://doi.org/10.1016/0771(80)90013-3), <b", ":doi:`10.1016/0771(80)90013-3`"),
    ("`<https://DOI.org/10.1000/1>`__:b", ":doi:`10.1000/1`"),
    ("https://doi.org/10.1000/a%5Cb", ":doi:`doi:10.1000/a%5Cb`"),
    ("`The\nDOI  *Handbook*\n<https://doi.org/10.1000/1>`__", ":doi:`The DOI *Handbook* <10.1000/1>`"),
]


def test_the_role_that_is_proposed_has_the_name_that_was_meant_and_what_it_drops_is_told(
    tmp_path: Path,
) -> None:
    text = "\n\n".join(written for written, _ in HARDCODED)
    told = warnings(page(tmp_path, text, "doi_hardcoded_links = True"))
    proposed = [line.partition(" could be replaced by ")[2] for line in told]
    assert proposed == [f"{role} [doi.hardcoded]" for _, role in HARDCODED]


def test_every_warning_can_be_suppressed(tmp_path: Path) -> None:
    text = ":doi:`10.1000` `x <doi:10.1000/a b>`_ https://doi.org/10.1000/182 :doi:`10.1000/%41`"
    conf = "doi_hardcoded_links = True\nextensions += ['sphinx.ext.extlinks']\n"
    conf += "extlinks = {'doi': ('https://doi.org/%s', None)}\n"
    built = page(tmp_path / "loud", text, conf)
    assert all("[doi." in line for line in warnings(built))
    assert len(warnings(built)) >= 5
    assert page(tmp_path / "quiet", text, f"{conf}suppress_warnings = ['doi']").warnings == ""


def test_extlinks_give_way_and_the_author_is_told(tmp_path: Path) -> None:
    conf = "extensions += ['sphinx.ext.extlinks']\nextlinks_detect_hardcoded_links = True\n"
    conf += (
        "extlinks = {'doi': ('https://doi.org/%s', 'doi:%s'), 'arxiv': ('https://arxiv.org/abs/%s', '%s')}\n"
    )
    built = page(tmp_path, ":doi:`10.1000/a<b>` :arxiv:`2001.00001`", conf)
    assert [link.href for link in built.links()] == ["https://doi.org/10.1000/a%3Cb%3E"]
    assert "https://arxiv.org/abs/2001.00001" in built.text()
    (warning,) = warnings(built)
    assert warning.startswith("conf.py:5: WARNING: extlinks['doi']")
    assert warning.endswith("[doi.extlinks]")
