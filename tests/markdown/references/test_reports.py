"""Where problems are: every line, in order, and the file; links to doi.org are verified in every form."""

import io
import pickle
from pathlib import Path

import markdown
import markdown_doiuri
from support.references import RECORDS

from ..conftest import Render
from .conftest import Serve

DEAD, GONE = "10.5555/dead", "10.5555/gone"
SOURCE = f"""\
See doi:{GONE} and

```text
doi:{DEAD}
```

<!-- doi:{DEAD} -->
`doi:{DEAD}` then [@doi:{DEAD}],
https://doi.org/{GONE} and <https://doi.org/{DEAD.upper()}>
[](doi:{GONE}) <doi:{GONE}> doi:{DEAD}2
"""


def test_every_line_is_told_in_order(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    rendered = render(SOURCE, "fenced_code", resolve=True, bare_links=True)
    assert [(problem.line, problem.doi) for problem in rendered.problems] == [
        (1, f"doi:{GONE}"),
        (8, f"doi:{DEAD}"),
        (9, f"doi:{GONE}"),
        (9, f"doi:{DEAD}"),
        (10, f"doi:{GONE}"),
        (10, f"doi:{DEAD}2"),
    ]


def test_every_line_of_what_is_no_doi_is_told_in_order(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    source = (
        "<doi:10.1000>\n\n`doi:10.1000`\n\n[x](doi:10.1000)\n\n"
        "doi:10.5555/dead`code` <doi:10.1000/>\n\n- <doi:10.1000> <doi:10.1000>"
    )
    rendered = render(source, resolve=True)
    assert [(problem.line, problem.doi) for problem in rendered.problems] == [
        (1, "doi:10.1000"),
        (5, "doi:10.1000"),
        (7, "doi:10.5555/dead"),
        (7, "doi:10.1000/"),
        (9, "doi:10.1000"),
    ]


def test_an_invalid_name_is_told_where_it_is_a_link_only(render: Render) -> None:
    source = "[doi:10.1000](https://example.org/) x\n\n[y](doi:10.1000)"
    assert len(render(source).problems) == 1


def test_a_file_is_told(tmp_path: Path, serve: Serve) -> None:
    serve(RECORDS)
    page = tmp_path / "page.md"
    page.write_text(SOURCE)
    problems: list[markdown_doiuri.Problem] = []
    md = markdown.Markdown(extensions=[markdown_doiuri.makeExtension(warn=problems.append)])
    md.convertFile(str(page), str(tmp_path / "page.html"))
    assert {problem.file for problem in problems} == {str(page)}
    assert str(problems[0]) == f"{page}:1: doi:{GONE}: not found"
    copy = pickle.loads(pickle.dumps(problems[0]))
    assert (copy, copy.file, copy.line) == (problems[0], str(page), 1)
    problems.clear()
    named = markdown_doiuri.makeExtension(warn=problems.append, file="a.md")
    other = markdown.Markdown(extensions=[named])
    other.convert("x\n\ndoi:10.5555/ä.")  # as written, not percent-encoded
    other.convertFile(str(page), str(tmp_path / "page.html"))
    other.convertFile(io.BytesIO(f"doi:{GONE}".encode()), io.BytesIO())
    assert str(problems[0]) == "a.md:3: doi:10.5555/ä: not found"
    assert [problem.file for problem in (problems[1], problems[-1])] == [str(page), "a.md"]
    problems.clear()
    md.reset().convert(f"doi:{GONE}")
    md.convertFile(io.BytesIO(f"doi:{GONE}".encode()), io.BytesIO())
    assert [str(problem) for problem in problems] == [f"line 1: doi:{GONE}: not found"] * 2
