"""``doiuri fix`` as a process, on real files."""

import codecs
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.proxy_records import link

OLD = "See [x](http://dx.doi.org/10.1000/182) é\nand doi:doi:10.1000/183.\n"
NEW = "See [x](https://doi.org/10.1000/182) é\nand doi:10.1000/183.\n"


def fix(*arguments: object, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "doiuri_cli", "fix", "--isolated", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, timeout=120, env={**os.environ, **environ}, check=False
    )


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
    done = fix(path)
    assert done.stderr == b"Fixed 2 in 1 file; 0 left.\n"
    assert (done.returncode, done.stdout) == (0, b"")
    assert path.read_bytes() == mark + NEW.replace("\n", line_end).encode(encoding)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert fix(path).stderr == b"Fixed 0 in 0 files; 0 left.\n"


def test_diff_can_be_applied(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(OLD.encode().rstrip(b"\n"))
    done = subprocess.run(
        [sys.executable, "-m", "doiuri_cli", "fix", "--isolated", "--diff", "a.md"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert path.read_bytes() == OLD.encode().rstrip(b"\n")
    assert done.stderr == b"Would fix 2 in 1 file; 0 left.\n"
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=tmp_path, check=True)
    assert path.read_bytes() == NEW.encode().rstrip(b"\n")


def test_check_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(OLD.encode())
    done = fix("--check", "-o", "concise", path)
    assert (done.returncode, done.stderr) == (1, b"Would fix 2 in 1 file; 0 left.\n")
    assert done.stdout.count(b"[not-https]") == done.stdout.count(b"[doubled]") == 1
    assert path.read_bytes() == OLD.encode()
    path.write_bytes(NEW.encode())
    assert fix("--check", path).returncode == 0


def test_standard_input() -> None:
    done = fix("-", "--stdin-filename", "a.md", stdin=OLD.replace("\n", "\r\n").encode())
    assert done.stdout == NEW.replace("\n", "\r\n").encode()
    assert (done.returncode, done.stderr) == (0, b"Fixed 2 in 1 file; 0 left.\n")
    assert fix("-", stdin=b"nothing \xff\n").stdout == b"nothing \xff\n"


def test_read_only_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(OLD.encode())
    path.chmod(0o444)
    done = fix(path)
    assert done.returncode == 2
    assert f"doiuri: {path}: not fixed: the file is read-only".encode() in done.stderr
    assert path.read_bytes() == OLD.encode()


def test_error_that_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text("@misc{k, doi = {n/a}, url = {http://doi.org/10.1000/182}}\n")
    done = fix(path)
    assert done.returncode == 1
    assert b"error[syntax]" in done.stdout
    assert path.read_text() == "@misc{k, doi = {n/a}, url = {https://doi.org/10.1000/182}}\n"
    assert fix("--fail-on", "never", path).returncode == 0


def test_fix_that_the_encoding_cannot_represent(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    content = "% é\n@misc{k, doi = {https://doi.org/10.1000/%E6%97%A5}, url = {http://doi.org/10.1000/182}}\n"
    path.write_bytes(content.encode("latin-1"))
    done = fix(path)
    assert b"a fix was left out: the encoding latin-1 cannot represent the fixed text" in done.stderr
    assert b"Fixed 1 in 1 file; 1 left." in done.stderr
    assert path.read_bytes() == content.replace("http:", "https:").encode("latin-1")


KNOWN = ["10.5555/978-3", "10.5555/182", "10.5555/real.pdf", "10.5555/real", "10.5555/456#789", "10.5555/ten"]


@pytest.mark.doi_records([link(name, "https://publisher.example/") for name in KNOWN])
def test_unsafe_fixes(tmp_path: Path, doi_proxy: Proxies) -> None:
    """A name is corrected only if it is not registered and the corrected one is."""
    path, bibliography = tmp_path / "a.md", tmp_path / "a.bib"
    old = (
        "10.5555/978–3, https://doi.org/10.5555/182/abstract and [x](https://doi.org/10.5555/456#789).\n\n"
        "10.5555/real.pdf is real, and 10.5555/unknown.pdf unknown both ways.\n"
    )
    new = old.replace("978–3", "978-3").replace("/abstract", "").replace("#789", "%23789")
    entries = "@misc{k,\n  doi = {%s},\n}\n@misc{l,\n  doi = {%s},\n}\n"
    path.write_text(old)
    bibliography.write_text(entries % ("5555/ten", "10.5555/182."))
    assert fix(path, bibliography).stderr.startswith(b"Fixed 0 in 0 files")
    options = "--resolver", doi_proxy.url, "--unsafe-fixes"
    done = fix(*options, path, bibliography, DOIURI_CACHE=str(tmp_path / "cache"))
    assert b"Fixed 5 in 2 files; " in done.stderr
    assert path.read_text() == new
    assert bibliography.read_text() == entries % ("10.5555/ten", "10.5555/182")
    assert b"error[not-found] 10.5555/unknown.pdf" in done.stdout
    assert done.returncode == 1


def test_unsafe_fixes_without_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("10.5555/978–3\n")
    done = fix("--unsafe-fixes", "--offline", path, DOIURI_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0
    assert path.read_text() == "10.5555/978–3\n"


@pytest.mark.once
def test_killed_while_fixing(tmp_path: Path) -> None:
    """A process that is killed leaves each file with its old or its new content."""
    old = OLD.encode() * 50
    new = NEW.encode() * 50
    paths = [tmp_path / f"{number:02}.md" for number in range(40)]
    states = set()
    for delay in [0.2 + 0.04 * number for number in range(12)]:
        for path in paths:
            path.write_bytes(old)
        command = [sys.executable, "-m", "doiuri_cli", "fix", "--isolated", "-q", "-j", "1", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        contents = [path.read_bytes() for path in paths]
        assert all(content in {old, new} for content in contents)
        states.add(sum(content == new for content in contents))
    done = fix(tmp_path)
    assert done.returncode == 0
    assert all(path.read_bytes() == new for path in paths)


@pytest.mark.doi_records([link("10.1000/182", "https://publisher.example/")])
def test_fixes_need_no_metadata(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "doiuri.toml").write_text("records = true\n")
    (tmp_path / "a.bib").write_text("@book{a, title = {Another}, doi = {10.1000/182}}\n")
    doiuri("fix", "--unsafe-fixes", "--resolver", doi_proxy.url, cwd=tmp_path)
    assert {request.headers["accept"] for request in doi_proxy.log} == {"application/json"}
