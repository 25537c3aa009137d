"""``doiuri fix`` on real files."""

import codecs
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri, doiuri_process, register
from support.proxy_records import link

OLD = "See [x](http://dx.doi.org/10.1000/182) é\nand doi:doi:10.1000/183.\n"
NEW = "See [x](https://doi.org/10.1000/182) é\nand doi:10.1000/183.\n"


def fix(*arguments: object, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[str]:
    return doiuri("fix", "--isolated", *arguments, stdin=stdin, **environ)


@pytest.mark.parametrize(
    ("mark", "encoding", "line_end"),
    [
        (b"", "utf-8", "\n"),
        (b"", "utf-8", "\r\n"),
        (codecs.BOM_UTF8, "utf-8", "\r\n"),
        (b"", "latin-1", "\n"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "\r\n"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "\n"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "\n"),
    ],
)
def test_bytes_around_stay(tmp_path: Path, mark: bytes, encoding: str, line_end: str) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(mark + OLD.replace("\n", line_end).encode(encoding))
    path.chmod(0o640)
    diff = fix("--diff", path).stdout
    assert NEW.partition(" é")[0] in diff
    assert ("\ufeff" in diff) == (mark == codecs.BOM_UTF8)
    done = fix(path)
    assert done.stderr == "Fixed 2 in 1 file; 0 left.\n"
    assert (done.returncode, done.stdout) == (0, "")
    assert path.read_bytes() == mark + NEW.replace("\n", line_end).encode(encoding)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert fix(path).stderr == "Fixed 0 in 0 files; 0 left.\n"


def test_a_hard_link_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    other = tmp_path / "b.txt"
    path.write_text(OLD)
    other.hardlink_to(path)
    assert "hard links" not in fix("--check", path).stderr
    assert (
        f"doiuri: {path}: was one of 2 hard links: the other names keep the old content"
        in fix(path).stderr
    )
    assert (path.read_text(), other.read_text()) == (NEW, OLD)


@pytest.mark.parametrize(
    ("options", "code", "summary"),
    [
        ([], 0, "Fixed 2 in 1 file; 0 left.\n"),
        (["-q"], 0, ""),
        (["--check"], 1, "Would fix 2 in 1 file; 0 left.\n"),
        (["--diff"], 1, "Would fix 2 in 1 file; 0 left.\n"),
    ],
    ids=["fix", "quiet", "check", "diff"],
)
def test_standard_input(options: list[str], code: int, summary: str) -> None:
    done = fix("-", "--stdin-filename", "a.md", *options, stdin=OLD.replace("\n", "\r\n").encode())
    assert done.returncode == code
    if options == ["--check"]:
        assert (done.stdout, done.stderr.count("warning[")) == ("", 2)
        assert done.stderr.endswith(summary)
    elif options == ["--diff"]:
        added = [line[1:] for line in done.stdout.split("\n") if line[:1] == "+" != line[1:2]]
        assert ("\n".join([*added, ""]), done.stderr) == (NEW.replace("\n", "\r\n"), summary)
    else:
        assert (done.stdout, done.stderr) == (NEW.replace("\n", "\r\n"), summary)
        for kept in (b"nothing \xff\n", b"\xff\xfe\x00\xd8", b"\0", b""):
            assert fix("-", *options, stdin=kept).stdout == kept.decode(errors="surrogateescape")


EDITS = """
from pathlib import Path
from doiuri_cli import Part
def read(source):
    Path(source.path).write_text("what another program writes meanwhile")
    yield Part(source.text)
"""


def test_what_another_program_writes_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    register(tmp_path, "edits", EDITS, {".edits": "read"})
    (tmp_path / "a.edits").write_text("http://dx.doi.org/10.1000/182\n")

    done = doiuri_process("fix", "--isolated", "a.edits", cwd=tmp_path, PYTHONPATH=str(tmp_path))

    left = (tmp_path / "a.edits").read_text()
    assert left == "what another program writes meanwhile", f"it was replaced by {left!r}"
    told = "doiuri: a.edits: not fixed: the file was changed in the meantime\n"
    assert (done.returncode, done.stderr[-len(told) :]) == (2, told), done


def test_read_only_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(OLD.encode())
    path.chmod(0o444)
    done = fix(path)
    assert done.returncode == 2
    assert f"doiuri: {path}: not fixed: the file is read-only" in done.stderr
    assert done.stdout == doiuri("check", "--isolated", "--offline", "--lock=", path).stdout != ""
    assert path.read_bytes() == OLD.encode()


@pytest.mark.parametrize("words", ["fix a.md", "check --offline -o json:a.md b.md"])
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(words: str, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(OLD)
    limited = f"ulimit -f 0; exec {sys.executable} -m doiuri_cli {words} --isolated"
    done = subprocess.run(
        ["sh", "-c", limited], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "File too large" in done.stderr, "a.md: " in done.stderr) == (
        2,
        True,
        True,
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.md": OLD,
        "b.md": OLD,
    }


FREE = [  # one folder, and no test data in it
    *("a.md", "sample/a.md", "docs/data/a.md", "docs/hypothesis-tests/a.md", "drug.yaml"),
    *("spec/a.html", "a/test.html", "latest/a.bib"),
]
KEPT = [
    *("tests/fixtures/a.md", "cassettes/a.txt", "a/testdata/b/a.bib", "ruby.yml", "python.yaml"),
    *("src/androidTest/a.xml", "src/pkg/tests/data/a.bib", "tests/test_a.py", "Tests/a.md"),
    *("ruby/spec/data/a.html", "ruby/spec/a.bib", "ruby/spec/a.md"),
]


@pytest.mark.parametrize(
    ("above", "start", "argument"),
    [
        ("", "", "."),
        ("tests/data", "tests/data", "."),
        ("cassettes/a", "", "cassettes/a"),
        ("cassettes/a", "", "{}/cassettes/a"),
        ("fixtures/a", "fixtures/a/sample", ".."),
        ("fixtures/a", "other", "../fixtures/a"),
    ],
)
def test_test_data_stays_as_it_is(tmp_path: Path, above: str, start: str, argument: str) -> None:
    """Tests compare with recorded HTTP and fixtures; what is above the searched folder does not count."""
    write_links(tmp_path / above)
    (tmp_path / start).mkdir(exist_ok=True)
    argument = argument.format(tmp_path)
    done = doiuri("fix", "--isolated", argument, cwd=tmp_path / start)
    assert without_link(tmp_path / above) == FREE
    assert done.stderr.splitlines()[-1] == f"{len(KEPT)} fixes in test data left to --unsafe-fixes."
    options = "--isolated", "--unsafe-fixes", "--offline", "--cache", str(tmp_path / "cache")
    done = doiuri("fix", *options, argument, cwd=tmp_path / start)
    assert done.stderr.startswith(f"Fixed {len(KEPT)} in ")


def test_test_data_is_fixed_if_the_command_line_names_it_but_not_by_a_hook(tmp_path: Path) -> None:
    write_links(tmp_path)
    hook = doiuri("fix", "--isolated", "--force-exclude", *FREE, *KEPT, cwd=tmp_path)
    assert without_link(tmp_path) == FREE
    assert f"{len(KEPT)} fixes in test data left" in hook.stderr
    (tmp_path / "list").write_text(KEPT[0])
    doiuri("fix", "--isolated", "--files-from=list", cwd=tmp_path)
    assert without_link(tmp_path) == FREE
    doiuri("fix", "--isolated", ".", *KEPT, cwd=tmp_path)
    assert without_link(tmp_path) == [*FREE, *KEPT]


LINK = "http://dx.doi.org/10.1000/182"


def without_link(top: Path) -> list[str]:
    return [name for name in [*FREE, *KEPT] if LINK not in (top / name).read_text()]


def write_links(top: Path) -> None:
    """Write the files with a link each, and tests of Ruby."""
    forms = {".bib": "@misc{{k, url = {{{}}}}}", ".py": '"""{}"""\n'}
    forms |= {
        "ruby.yml": "---\nhttp_interactions:\n- uri: {}\n",
        "python.yaml": "interactions:\n- uri: {}\n",
    }
    forms |= {"drug.yaml": "drug_interactions:\n- uri: {}\n"}
    for name in [*FREE, *KEPT]:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(forms.get(path.name, forms.get(path.suffix, "{}")).format(LINK))
    (top / "ruby" / "spec" / "models").mkdir()
    (top / "ruby" / "spec" / "models" / "user_spec.rb").touch()


def test_error_that_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text("@misc{k, doi = {n/a}, url = {http://doi.org/10.1000/182}}\n")
    done = fix(path)
    assert done.returncode == 1
    assert "error[syntax]" in done.stdout
    assert path.read_text() == "@misc{k, doi = {n/a}, url = {https://doi.org/10.1000/182}}\n"
    assert (
        fix("--fail-on", "never", path).returncode == fix("--ignore=syntax", path).returncode == 0
    )
    path.write_text("@misc{k, doi = {10/abcd}}\n")
    assert fix(path).stderr == "Fixed 0 in 0 files; 1 warning left.\n"
    assert fix(path).returncode == 0
    assert fix("--fail-on", "warning", path).returncode == 1


def test_what_unsafe_fixes_may_correct_is_said_unless_they_were_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("See 10.1000/1.pdf.\n")

    safe = fix(path)
    unsafe = fix("--unsafe-fixes", "--offline", "--cache", tmp_path / "cache", path)

    promise = "1 can be fixed with --unsafe-fixes if only the corrected DOI exists."
    assert safe.stderr == f"Fixed 0 in 0 files; 1 warning left. {promise}\n"
    assert unsafe.stderr == "Fixed 0 in 0 files; 1 warning left.\n"


def test_fix_that_the_encoding_cannot_represent(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    content = "% é\n@misc{k, doi = {https://doi.org/10.1000/%E6%97%A5}, url = {http://doi.org/10.1000/182}}\n"
    path.write_bytes(content.encode("latin-1"))

    due = fix("--check", path)
    done = fix(path)

    assert [line.endswith("[*]") for line in due.stdout.splitlines() if line.startswith("/")] == [
        False,
        True,
    ]
    assert "a fix was left out: the encoding latin-1 cannot represent the fixed text" in done.stderr
    assert "Fixed 1 in 1 file; 1 warning left." in done.stderr
    assert "[field-form]" in done.stdout
    assert "[*]" not in done.stdout
    assert path.read_bytes() == content.replace("http:", "https:").encode("latin-1")


KNOWN = [
    "10.5555/978-3",
    "10.5555/182",
    "10.5555/real.pdf",
    "10.5555/real",
    "10.5555/456#789",
    "10.5555/ten",
]


@pytest.mark.doi_records([{"handle": name, "values": []} for name in KNOWN])
def test_unsafe_fixes(tmp_path: Path, doi_proxy: Proxies) -> None:
    """A name is corrected only if it is not registered and the corrected one is."""
    path = tmp_path / "a.md"
    bibliography = tmp_path / "a.bib"
    old = (
        "10.5555/978–3, https://doi.org/10.5555/182/abstract and [x](https://doi.org/10.5555/456#789).\n\n"
        "10.5555/real.pdf is real, and 10.5555/unknown.pdf unknown both ways; 10.5555/l82 is left.\n"
    )
    new = old.replace("978–3", "978-3").replace("/abstract", "").replace("#789", "%23789")
    entries = "@misc{k,\n  doi = {%s},\n}\n@misc{l,\n  doi = {%s},\n}\n"
    path.write_text(old)
    # without the soft hyphen, the file is in UTF-8, too
    bibliography.write_text(entries % ("5555/ten", "10.5555/\xad182"), "latin-1")
    assert fix(path, bibliography).stderr.startswith("Fixed 0 in 0 files")
    options = "--resolver", doi_proxy.url, "--unsafe-fixes"
    done = fix(*options, path, bibliography, DOIURI_CACHE=str(tmp_path / "cache"))
    assert "Fixed 5 in 2 files; " in done.stderr
    assert path.read_text() == new
    assert bibliography.read_text() == entries % ("10.5555/ten", "10.5555/182")
    assert "error[not-found] 10.5555/unknown.pdf" in done.stdout
    assert "10.5555/l82 is not registered; did you mean 10.5555/182?" in done.stdout
    assert done.returncode == 1


@pytest.mark.doi_records([link("10.1000/182", "https://publisher.example/")])
def test_fixes_need_no_metadata(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "doiuri.toml").write_text("compare = true\n")
    (tmp_path / "a.bib").write_text("@book{a, title = {Another}, doi = {10.1000/182}}\n")
    doiuri("fix", "--unsafe-fixes", "--resolver", doi_proxy.url, cwd=tmp_path)
    assert {request.headers["accept"] for request in doi_proxy.log} == {"application/json"}
