"""What authors write: links, and one warning for each problem, with its line and what to write instead."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from itertools import chain
from pathlib import Path

import docutils
import pytest
from doiuri import DOI, DOISyntaxError
from doiuri.plugins.display import link_to_handle
from support.cases import DATA, accepted, cases, odd_cases
from support.checks import assert_times, exactly, only
from support.docutils_page import command
from support.lines import FOLDER, told, written
from support.servers.web import resolver
from support.sphinx_build import Build, Serve, build, links, page, text_in, write

SICI = "10.1175/1520-0493(1972)100<0081:X>2.3.CO;2"
SICI_LINK = "https://doi.org/10.1175/1520-0493(1972)100%3C0081:X%3E2.3.CO;2"

ROLES = [
    (":doi:`10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":DOI:`10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    ("`10.1000/182`:doi:", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`doi:10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`DOI: 10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`https://dx.doi.org/10.1000/182`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`10.1000/456#789`", "https://doi.org/10.1000/456%23789", "doi:10.1000/456#789"),
    (f":doi:`{SICI}`", SICI_LINK, f"doi:{SICI}"),
    (f":doi:`Title <{SICI}>`", SICI_LINK, "Title"),
    (f":doi:`a < b <{SICI}>`", SICI_LINK, "a < b"),
    (f":doi:`Title\n<{SICI}>`", SICI_LINK, "Title"),
    (":doi:`Title <10.1000/a<b>>`", "https://doi.org/10.1000/a%3Cb%3E", "Title"),
    (":doi:`10.1000/a<b>`", "https://doi.org/10.1000/a%3Cb%3E", "doi:10.1000/a<b>"),
    (":doi:`10.1000/a\\<b\\>`", "https://doi.org/10.1000/a%3Cb%3E", "doi:10.1000/a<b>"),
    (":doi:`10.1/a\\<10.1/b\\>`", "https://doi.org/10.1/a%3C10.1/b%3E", "doi:10.1/a<10.1/b>"),
    (":doi:`T \\<10.1000/1> <10.1000/2>`", "https://doi.org/10.1000/2", "T <10.1000/1>"),
    (":doi:`<10.1000/182>`", "https://doi.org/10.1000/182", "doi:10.1000/182"),
    (":doi:`10.1000/a\\_b`", "https://doi.org/10.1000/a_b", "doi:10.1000/a_b"),
    (":doi:`10.1000/a_b`", "https://doi.org/10.1000/a_b", "doi:10.1000/a_b"),
    (
        ':doi:`10.1000/a--b"c"...`',
        "https://doi.org/10.1000/a--b%22c%22...",
        'doi:10.1000/a--b"c"...',
    ),
    (":doi:`10.1000/á`", "https://doi.org/10.1000/%C3%A1", "doi:10.1000/á"),
    (":doi:`10.1000/../x`", "https://doi.org/10.1000/..%2Fx", "doi:10.1000/../x"),
    (":doi:`Title <https://doi.org/10.1000/182>`", "https://doi.org/10.1000/182", "Title"),
]


def in_both(built: Build, folder: Path) -> list[str]:
    """The page that Sphinx has built, and that of docutils."""
    docutils = command("--smart-quotes=yes", "--doi-resolve=no", str(folder / "src" / "index.rst"))
    return [built.text(), docutils]


def shown(html: str) -> list[tuple[str, str]]:
    return [(link.href, " ".join(link.text.split())) for link in links(html)]


def test_what_authors_type_becomes_the_link_that_they_mean(tmp_path: Path) -> None:
    both = in_both(page(tmp_path, "\n\n".join(written for written, _, _ in ROLES)), tmp_path)
    assert [shown(html) for html in both] == [[(href, text) for _, href, text in ROLES]] * 2


ARXIV = [
    (":arxiv:`2301.00001`", "2301.00001", "arXiv:2301.00001"),
    (":arXiv:`0705.2626v2`", "0705.2626v2", "arXiv:0705.2626v2"),
    (":arxiv:`arXiv:2301.00001v12`", "2301.00001v12", "arXiv:2301.00001v12"),
    (":arxiv:`hep-th/9901001`", "hep-th/9901001", "arXiv:hep-th/9901001"),
    (":arxiv:`math.GT/0309136v1`", "math.GT/0309136v1", "arXiv:math.GT/0309136v1"),
    (":arxiv:`A -- \\`B\\` < C\n<math.GT/0309136>`", "math.GT/0309136", "A – `B` < C"),
]


def test_what_authors_type_becomes_the_link_to_arxiv(tmp_path: Path) -> None:
    text = "\n\n".join(written for written, _, _ in ARXIV)
    text += "\n\n:arxiv:`!2301.00009v1` :arxiv:`!T <2301.00009>`"
    built = page(tmp_path, text, "doi_text = '{authors}'\n")
    both = in_both(built, tmp_path)
    expected = [(f"https://arxiv.org/abs/{id_}", text) for _, id_, text in ARXIV]
    assert [shown(html) for html in both] == [expected] * 2
    assert [re.findall(">(arXiv:2301.00009v1|T)</span>", html) for html in both] == [
        ["arXiv:2301.00009v1", "T"]
    ] * 2
    assert built.warnings == ""


def test_exclamation_mark_makes_no_link(tmp_path: Path) -> None:
    built = page(tmp_path, ":doi:`!10.1000/1`; :doi:`!Title <10.1000/2>`; :doi:`!\\*none`")
    assert built.links() == []
    assert "doi:10.1000/1" in built.text()
    assert "Title</span>" in built.text()
    assert ">*none</span>" in built.text()
    assert "!" not in built.text()[built.text().index("</h1>") : built.text().index("</section>")]
    assert built.warnings == ""


def test_classes_of_a_role_of_ones_own(tmp_path: Path) -> None:
    text = ":doi:`10.1/0`\n\n.. role:: paper(doi)\n\n.. role:: book(doi)\n   :class: one two\n\n"
    text += ":paper:`10.1/1` :book:`B <10.1/2>` :doi:`10.1/3`\n\n"
    text += ".. role:: late(doi)\n   :class: late\n\n:late:`10.1/4`"
    usual = {"doi", "reference", "external"}
    own = []
    for html in in_both(page(tmp_path, text), tmp_path):
        own.append([link.classes - usual for link in links(html)])
    assert own == [[set(), {"paper"}, {"one", "two"}, set(), {"late"}]] * 2


def test_default_role_and_substitutions(tmp_path: Path) -> None:
    text = "`10.1000/1` and |s|, |s|\n\n.. |s| replace:: see :doi:`10.1000/2`"
    links = page(tmp_path, text, "default_role = 'doi'\n").links()
    assert [link.text for link in links] == ["doi:10.1000/1", "doi:10.1000/2", "doi:10.1000/2"]


def test_in_a_translation(tmp_path: Path) -> None:
    catalogue = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgid "See :doi:`Title <10.1000/2>`."\nmsgstr "`Titel <doi:10.1000/2>`__ und :doi:`10.1000`."\n'
    )
    files = {"locales/de/LC_MESSAGES/index.po": catalogue}
    built = page(tmp_path, "See :doi:`Title <10.1000/2>`.", "language = 'de'", **files)
    assert [(link.href, link.text) for link in built.links()] == [
        ("https://doi.org/10.1000/2", "Titel")
    ]
    assert_times(1, "WARNING", built.warnings)
    assert "index.rst:4" in built.warnings


def test_link_around_an_image(tmp_path: Path) -> None:
    good = "doi:10.1000/456%23789"
    text = f".. image:: a.png\n   :target: {good}\n\n.. image:: a.png\n   :target: doi:10.1000\n"
    text += "\n- .. image:: a.png\n     :target: doi:10.2000\n\n  Text\n"
    built = page(tmp_path, text, "suppress_warnings = ['image']\n")
    link = only("link", built.links())
    assert link.href == "https://doi.org/10.1000/456%23789"
    assert "index.rst:8: WARNING: 'doi:10.1000' is not a DOI" in built.warnings
    assert "index.rst:11: WARNING: 'doi:10.2000' is not a DOI" in built.warnings
    assert_times(2, "WARNING", built.warnings)


def test_contents_have_the_names_of_the_titles(tmp_path: Path) -> None:
    text = '.. contents::\n\nA "q" :doi:`10.1000/a--b"c"`\n----------------------------\n'
    shown = page(tmp_path, text).text()
    entry = shown.partition('<nav class="contents')[2].partition("</nav>")[0]
    assert "A “q” doi:10.1000/a--b&quot;c&quot;</a>" in entry


EXAMPLES = "expected one such as 2301.00001, 2301.00001v2 or hep-th/9901001 (position 0)"
PROBLEMS = {
    "a name without a suffix": ("One\n:doi:`10.1000`\n:doi:`Title <10.1000>`\n`Title <doi:10.1000>`__", [
        "5: '10.1000' is not a DOI: no \"/\" after the prefix", "6: '10.1000' is not a DOI: no",
        "7: 'doi:10.1000' is not a DOI: no"]),
    "handles": (":doi:`11681/5671`\n:doi:`Title <hdl:20.500.12345/a%23b>`\n:doi:`11681`", [
        "4: '11681/5671' is not a DOI", "5: 'hdl:20.500.12345/a%23b' is not a DOI",
        "6: '11681' is not a DOI: expected"]),
    "a raw # after the scheme": ("`x <doi:10.1000/456#789>`_, y_\n\n.. _y: doi:10.1000/456#789", [
        "4: 'doi:10.1000/456#789' is not .*10.1000/456%23789", "6: .*10.1000/456%23789"]),
    "arXiv": (":arxiv:`2301.1`\n:arxiv:`T <hep-th/2301.00001>`\n:arxiv:`10.48550/arXiv.2301.00001`", [
        f"{line}: '{id_}' is not a valid arXiv identifier: {re.escape(EXAMPLES)}"
        for line, id_ in ((4, "2301.1"), (5, "hep-th/2301.00001"), (6, "10.48550/arXiv.2301.00001"))]),
    "a publisher's URL": ("\n".join(form.format("https://example.org/doi/10.1002/abc.1/full") for form in (
        ":doi:`{}`", ":doi:`Title <{}>`", ":doi:p:`{}`", "`Title <doi:{}>`__")), [
        f"{line}: .*; write doi:10.1002/abc.1" for line in (4, 5, 6, 7)]),
    "white space that docutils drops": ("`x <doi:10.1000/a b>`_, y_.\n\n.. _y: DOI:10.1000/c  d\n   e", [
        "4: .* links to 10.1000/ab; .* write doi:10.1000/a%20b", "6: .* write doi:10.1000/c%20d%20e"]),
    "a URI wrapped at a line end": ("`x <doi:10.1000/\nabc>`_.", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_each_problem_is_one_warning_at_its_line(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    told = "\n".join(sorted(page(tmp_path, text).at))
    code = "target-space" if " b>" in text else "syntax"
    assert re.fullmatch("\n".join(rf"{pattern}.* \[doi\.{code}\]" for pattern in expected), told), (
        told
    )


def test_what_is_no_doi_is_shown_as_written_or_as_the_link_that_docutils_makes(
    tmp_path: Path,
) -> None:
    names = "a name", "handles", "white space", "a URI wrapped"
    texts = [text for name, (text, _) in PROBLEMS.items() if name.startswith(names)]
    built = page(tmp_path, "\n\n".join(texts))
    shown = re.findall('<span class="problematic">(.*?)</span>', built.text())
    written = [
        ":doi:`10.1000`",
        ":doi:`Title <10.1000>`",
        "`Title <doi:10.1000>`__",
        ":doi:`11681`",
    ]
    assert [unescape(text) for text in shown] == written
    assert [link.href.rpartition("/")[2] for link in built.links()] == ["ab", "cde", "abc"]
    handles = re.findall(
        '<a class="reference external" href="https://doi.org/(.*?)">(.*?)</a>', built.text()
    )
    assert handles == [("11681/5671", "11681/5671"), ("20.500.12345/a%23b", "Title")]


def test_an_error_in_a_substitution_is_reported_once(tmp_path: Path) -> None:
    built = page(tmp_path, "|s|\n\n.. |s| replace:: :doi:`1`\n\n.. |unused| replace:: :doi:`2`")
    # Before 0.22, docutils drops the messages of a substitution that is not used
    reported = ["1", "2"] if docutils.__version_info__ >= (0, 22) else ["1"]
    assert [line.split("'")[1] for line in built.at if "[doi.syntax]" in line] == reported


def test_a_hard_coded_link_around_an_image_is_no_role(tmp_path: Path) -> None:
    badge = ".. image:: a.png\n   :target: https://doi.org/10.1000/1\n"
    figure = "\n.. figure:: a.png\n   :target: https://doi.org/10.1000/2\n\n   https://doi.org/10.1000/3\n"
    inline = "\n|b|\n\n.. |b| image:: a.png\n   :target: https://doi.org/10.1000/4\n"
    conf = "doi_hardcoded_links = True\nsuppress_warnings = ['image']\n"
    told = only("warning", page(tmp_path, badge + figure + inline, conf).told)
    assert "by :doi:`10.1000/3` [doi.hardcoded]" in told


DROPPED = ("?nols", "#page=3", "?locatt=id:1&nols#page=3")
HARDCODED = [
    *[
        (f"https://doi.org/10.1000/1{tail}", f":doi:`10.1000/1`, which drops {tail}")
        for tail in DROPPED
    ],
    *[
        (f"`T <https://doi.org/10.1000/1{tail}>`__", f":doi:`T <10.1000/1>`, which drops {tail}")
        for tail in DROPPED
    ],
    *[
        (f"`T <https://doi.org/10.1000/1{tail}>`__", ":doi:`T <10.1000/1>`")
        for tail in ("", "?", "#")
    ],
    (
        "https://doi.org/10.1002/(SICI)1(97)40:5<789>3.0.CO;2-7.",
        ":doi:`10.1002/(SICI)1(97)40:5<789>3.0.CO;2-7`",
    ),
    ("(https://doi.org/10.1016/0771(80)90013-3), <b", ":doi:`10.1016/0771(80)90013-3`"),
    ("`<https://DOI.org/10.1000/1>`__:b", ":doi:`10.1000/1`"),
    (
        "`T <http://dx.doi.org/10.1/1?x>`_ `no <https://doi.org/about>`_",
        ":doi:`T <10.1/1>`, which drops ?x",
    ),
    ("https://doi.org/10.1000/a%5Cb", ":doi:`doi:10.1000/a%5Cb`"),
    (
        "`The\nDOI  *Handbook*\n<https://doi.org/10.1000/1>`__",
        ":doi:`The DOI *Handbook* <10.1000/1>`",
    ),
]


def test_the_role_that_is_proposed_has_the_name_that_was_meant_and_what_it_drops_is_told(
    tmp_path: Path,
) -> None:
    text = "\n\n".join(written for written, _ in HARDCODED)
    quiet = "suppress_warnings = ['doi.raw-link']"
    assert page(tmp_path / "off", text, quiet).warnings == ""
    told = page(tmp_path, text, f"doi_hardcoded_links = True\n{quiet}").at
    proposed = [line.partition(" could be replaced by ")[2] for line in told]
    assert proposed == [f"{role} [doi.hardcoded]" for _, role in HARDCODED]


def test_a_url_that_docutils_ends_inside_of_the_name_is_told_with_one_that_it_does_not(
    tmp_path: Path,
) -> None:
    names = ["10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2", "10.1000/a(b)", "10.1000/über"]
    whole = "https://doi.org/10.1000/182, (https://doi.org/10.1000/182/) `<https://doi.org/10.1000/1>`__:a\n"
    whole += "https://doi.org/10.1000/182–a https://doi.org/10.1000/182"
    text = "\n\n".join([*(f"(https://doi.org/{name})," for name in names), whole])
    told = page(tmp_path, text).at
    ends = [line.partition("; write ")[0].partition(": the ")[2] for line in told]
    assert ends == [
        "link ends before ')020<0130:DNF>2.0.CO;2'",
        "link ends before ')'",
        "link ends before '/über'",
    ]
    written = [line.partition("; write ")[2].removesuffix(" [doi.raw-link]") for line in told]
    built = page(tmp_path / "escaped", " ".join(written))
    assert built.warnings == ""
    linked = re.findall('<a class="reference external" href="([^"]*)"', built.text())
    assert [DOI.from_url(url).name for url in linked] == names


def test_every_warning_can_be_suppressed(tmp_path: Path) -> None:
    text = ":doi:`10.1000` `x <doi:10.1000/a b>`_ https://doi.org/10.1000/182 :doi:`10.1000/%41`"
    conf = "doi_hardcoded_links = True\nextensions += ['sphinx.ext.extlinks']\n"
    conf += "extlinks = {'doi': ('https://doi.org/%s', None)}\n"
    built = page(tmp_path / "loud", text, conf)
    assert len(built.told) == len(re.findall(r"\[doi\.", built.warnings)) == 5
    assert page(tmp_path / "quiet", text, f"{conf}suppress_warnings = ['doi']").warnings == ""


def test_extlinks_give_way_and_the_author_is_told(tmp_path: Path) -> None:
    conf = "extensions += ['sphinx.ext.extlinks']\nextlinks_detect_hardcoded_links = True\n"
    conf += "extlinks = {'doi': ('https://doi.org/%s', 'doi:%s'), 'arxiv': ('https://arxiv.org/abs/%s', '%s')}\n"
    built = page(tmp_path, ":doi:`10.1000/a<b>` :arxiv:`2001.00001`", conf)
    assert [link.href for link in built.links()] == ["https://doi.org/10.1000/a%3Cb%3E"]
    assert "https://arxiv.org/abs/2001.00001" in built.text()
    warning = only("warning", built.told)
    assert warning.startswith("conf.py:5: WARNING: extlinks['doi']")
    assert warning.endswith("[doi.extlinks]")


IN_MYST = [
    ("{doi}`10.1000/456#789`", "10.1000/456%23789", "doi:10.1000/456#789"),
    ("{DOI}`10.1000/182`", "10.1000/182", "doi:10.1000/182"),
    ("{doi}`Title <10.1000/a<b>>`", "10.1000/a%3Cb%3E", "Title"),
    ("[](doi:10.1000/456%23789)", "10.1000/456%23789", "doi:10.1000/456#789"),
    ("[Title](doi:10.1000/182)", "10.1000/182", "Title"),
    ("[*Title*](DOI:10.1000/182)", "10.1000/182", "Title"),
    ("<doi:10.1186/gm483>", "10.1186/gm483", "doi:10.1186/gm483"),
    ("[](doi:10.1000/á(b))", "10.1000/%C3%A1(b)", "doi:10.1000/á(b)"),
    ("[](<doi:10.1000/1(1)2:3\\<4::5>)", "10.1000/1(1)2:3%3C4::5", "doi:10.1000/1(1)2:3<4::5"),
    ("[r]\n\n[r]: doi:10.1000/182", "10.1000/182", "r"),
]


def myst(tmp_path: Path, text: str, conf: str = "") -> Build:
    return page(
        tmp_path, "", f"extensions += ['myst_parser']\n{conf}", **{"index.md": f"# T\n\n{text}\n"}
    )


def test_a_url_without_a_text_shows_the_doi(tmp_path: Path) -> None:
    text = "[](https://doi.org/10.1000/a--b%23c) [](https://doi.org/about)"
    conf = "doi_text = 'doi: {name}'"
    links_ = myst(tmp_path, text, conf).links()
    assert [(link.href, link.text) for link in links_] == [
        ("https://doi.org/10.1000/a--b%23c", "doi: 10.1000/a--b#c")
    ]
    told = myst(tmp_path / "told", text, f"{conf}\ndoi_hardcoded_links = True").warnings
    assert "could be replaced by {doi}`10.1000/a--b#c` [doi.hardcoded]" in told


CONTAINERS = "dict.fromkeys", "list", "tuple", "set", "frozenset"


@pytest.mark.parametrize(
    "conf",
    [
        "",
        "myst_url_schemes = {'http': None, 'doi': 'https://doi.org/{{path}}'}",
        *(f"myst_url_schemes = {kind}(['http', 'https'])" for kind in CONTAINERS),
    ],
)
def test_each_form_is_a_link_whatever_the_url_schemes_are(tmp_path: Path, conf: str) -> None:
    built = myst(tmp_path, "\n\n".join(written for written, _, _ in IN_MYST), conf)
    shown = [(link.href, link.text) for link in built.links()]
    assert shown == [(f"https://doi.org/{href}", text) for _, href, text in IN_MYST]
    assert built.warnings == ""


REFUSED = [
    ("[my *title*](doi:10.1000/4#x)", "my title <doi:10.1000/4#x>"),
    ("[](doi:10.1000/4#x)", "doi:10.1000/4#x"),
    ("<doi:10.1000/4#x>", "doi:10.1000/4#x"),
    ("<doi:10.1000/á#x>", "doi:10.1000/á#x"),
    ("[r]\n\n[r]: doi:10.1000/4#x", "r <doi:10.1000/4#x>"),
    ("[](doi:10.1000/a?b)", "doi:10.1000/a?b"),
]


def test_a_raw_hash_or_query_is_refused_in_myst_and_its_target_stays_on_the_page(
    tmp_path: Path,
) -> None:
    built = myst(tmp_path, "\n\n".join(f"One\n{written}" for written, _ in REFUSED))
    problems = re.findall(r'<span class="problematic"[^>]*>(.*?)</span>', built.text())
    assert [unescape(problem) for problem in problems] == [shown for _, shown in REFUSED]
    assert built.links() == []
    told = [
        re.split(r":(\d+): WARNING: |; (?=write)", line) for line in built.warnings.splitlines()
    ]
    exactly(len(REFUSED), "warnings", told)
    assert told[0][1], told[0][-1] == ("4", "write doi:10.1000/4%23x [doi.syntax]")
    assert "10.1000/a%3Fb" in built.warnings


HARDCODED_IN_MYST = [
    ("One [Title](https://doi.org/10.1000/1)", "{doi}`Title <10.1000/1>`"),
    ("One <https://doi.org/10.1000/1>", "{doi}`10.1000/1`"),
    ("One [Two\nlines](https://doi.org/10.1000/1)", "{doi}`Two lines <10.1000/1>`"),
    ("One [T][r]\n\n[r]: https://doi.org/10.1000/1", "{doi}`T <10.1000/1>`"),
    ("```{eval-rst}\n`T <https://doi.org/10.1000/1>`__\n```", ":doi:`T <10.1000/1>`"),
]


def test_the_role_that_is_proposed_is_mysts_and_a_badge_is_no_hard_coded_link(
    tmp_path: Path,
) -> None:
    text = "\n\n".join(written for written, _ in HARDCODED_IN_MYST)
    text += "\n\n[![DOI](https://example.org/badge.svg)](https://doi.org/10.1000/1)"
    told = myst(tmp_path, text, "doi_hardcoded_links = True").warnings
    roles = re.findall(r" could be replaced by (.*) \[doi.hardcoded\]", told)
    assert sorted(roles) == sorted(role for _, role in HARDCODED_IN_MYST)


LINES = """extensions += ["myst_parser", "sphinx.ext.todo"]
myst_enable_extensions = ["deflist", "colon_fence", "fieldlist"]
todo_include_todos = True
"""


def test_every_construct_is_reported_where_it_is_written(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "src")
    built = page(tmp_path, ".. toctree::\n   :glob:\n\n   *", LINES)
    assert told(built.warnings) == written(*(path.name for path in FOLDER.iterdir()))


def test_what_is_written_once_is_reported_once_where_it_is_written(
    tmp_path: Path, serve: Serve
) -> None:
    text = "T\n=\n\n|s| y_ |b|\n\n|s| y_ |b|\n\n.. |s| replace:: :doi:`10.1000/s`\n.. _y: doi:10.1000/y\n"
    text += ".. |b| image:: a.png\n   :target: doi:10.1000/b\n\n:doi:`10.1000/s`\n\n.. :doi:`10.1000/s`\n"
    serve(resolver({}))
    built = build(write(tmp_path / "src", {"index.rst": text, "a.png": ""}), tmp_path / "out")
    assert sorted(line.removesuffix(" [doi.not-found]") for line in built.at) == [
        f"{line}: DOI not found: 10.1000/{name}"
        for line, name in ((11, "b"), (13, "s"), (8, "s"), (9, "y"))
    ]


# What a role cannot contain: white space at the ends, line breaks (Python's), a "!" at the start.
NOT_IN_A_ROLE = re.compile(
    r"""
    [\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]
    |   ^ [\s!]
    |   \s $
    |   ^ $
    """,
    re.VERBOSE,
)

NAMES = list(dict.fromkeys(case.name for case in odd_cases() if case.name is not None))


def role(text: str) -> str:
    return ":doi:`" + re.sub(r"([\\`<>*|_])", r"\\\1", text) + "`"


def items(tmp_path: Path, lines: list[str]) -> tuple[list[str], Build]:
    """Build a page with a list item for each text; return the HTML of the items, and the build."""
    built = page(tmp_path, "\n".join(f"* {line}" for line in lines), "smartquotes = False")
    shown = re.findall(r"<li><p>(.*?)</p></li>", built.text(), re.DOTALL)
    exactly(len(lines), "lines", shown)
    return shown, built


def test_a_role_takes_every_form(tmp_path: Path) -> None:
    able = [case for case in accepted("parse") if not NOT_IN_A_ROLE.search(case.input)]
    _, built = items(tmp_path, [role(case.input) for case in able])
    assert len(able) > 50
    found = zip(able, built.links(), strict=True)
    wrong = [
        case for case, link in found if (link.href, link.text) != (case.url, f"doi:{case.name}")
    ]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("form", [":doi:`{}`", ":doi:`Title <{}>`", "`Title <{}>`__"])
def test_every_uri_leads_to_its_name(tmp_path: Path, form: str) -> None:
    # a final "_" would make an embedded URI a reference to a name
    _, built = items(tmp_path, [form.format(re.sub("_$", r"\\_", DOI(name).uri)) for name in NAMES])
    found = [(name, link.href, link.text) for name, link in zip(NAMES, built.links(), strict=True)]
    text = "Title" if "Title" in form else "doi:{}"
    wrong = [one for one in found if one[1:] != (DOI(one[0]).url, text.format(one[0]))]
    assert not wrong, "\n".join(map(str, wrong))


def test_what_is_no_doi_is_problematic_and_told_once(tmp_path: Path) -> None:
    typed = [case.input for case in cases("parse") if case.name is None and not case.strict]
    refused = [text for text in typed if not NOT_IN_A_ROLE.search(text)]
    shown, built = items(tmp_path, [role(text) for text in refused])
    assert len(refused) > 50
    assert_times(len(refused), "[doi.syntax]", built.warnings)
    wrong = []
    for text, item in zip(refused, shown, strict=True):
        with pytest.raises(DOISyntaxError) as error:
            DOI.parse(text)
        handle = link_to_handle(error.value)
        is_problem = item.startswith('<span class="problematic">') and text_in(item) == role(text)
        if not (f'href="{handle}"' in item if handle else is_problem):
            wrong.append(f"{text!r}: {item}")
    assert not wrong, "\n".join(wrong)


def test_each_code_of_advice_is_a_type_of_warning_and_says_what_was_meant(tmp_path: Path) -> None:
    known = json.loads((DATA / "advice.json").read_text("utf-8"))["cases"]
    able = [case for case in known if not NOT_IN_A_ROLE.search(case["text"])]
    _, built = items(tmp_path, [role(case["text"]) for case in able])
    expected = []
    for line, case in enumerate(able, 4):
        for code, meant in case["advice"].items():
            suggestion = "" if code == "decoded-escape" else meant or ""
            expected.append(f"{line} {code} {suggestion}")
    pattern = r"(\d+): .*?(?:; did you mean (.*)\?)? \[doi\.(.*)\]"
    assert sorted(re.sub(pattern, r"\1 \3 \2", line) for line in built.at) == sorted(expected)
    codes = chain.from_iterable(case["advice"] for case in able)
    assert {"dropped-query", "dropped-fragment"} <= set(codes)
