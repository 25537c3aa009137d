"""The systemd unit, and the Containerfile run step by step without a container engine."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

from support.command import READY, run
from support.ports import free_port
from support.servers.deploy import DEPLOY, deployed

COMMAND = Path(sys.executable).with_name("doiuri-proxy")


def unit(folder: Path) -> Path:
    file = folder / "doiuri-proxy.service"
    file.write_text(deployed("doiuri-proxy.service", {"/opt/doiuri/bin/doiuri-proxy": COMMAND}))
    return file


def test_the_command_of_the_unit_serves(tmp_path: Path) -> None:
    """ExecStart, with the folders and a port that systemd would give, and ExecReload."""
    text = unit(tmp_path).read_text()
    exec_start = re.findall("^ExecStart=(.*)$", text, re.MULTILINE)
    assert len(exec_start) == 1
    for name in ("STATE", "LOGS"):
        assert f"{name.title()}Directory=doiuri-proxy" in text
        exec_start[0] = exec_start[0].replace(f"${{{name}_DIRECTORY}}", str(tmp_path))
    process = started([*shlex.split(exec_start[0]), "--port", "0"])
    assert "ExecReload=/bin/kill -HUP $MAINPID" in text
    assert "Restart=always" in text
    process.send_signal(signal.SIGHUP)
    stop(process)
    assert (tmp_path / "access.log").exists()


def test_the_command_of_the_drop_in_serves_records(tmp_path: Path) -> None:
    """ExecStart of the unit for records of one's own, after an import."""
    assert run("add", "10.1000/1", "https://example.org/", "--store", tmp_path / "records.sqlite3").stdout
    text = deployed("records.conf", {"/opt/doiuri/bin/doiuri-proxy": COMMAND})
    reset, exec_start = re.findall("^ExecStart=(.*)$", text, re.MULTILINE)
    assert reset == ""
    for name in ("STATE", "LOGS"):
        exec_start = exec_start.replace(f"${{{name}_DIRECTORY}}", str(tmp_path))
    process = started([*shlex.split(exec_start), "--port", "0"])
    stop(process)
    assert (tmp_path / "access.log").exists()


def test_the_unit_names_no_address_of_its_own() -> None:
    active = [line for line in (DEPLOY / "doiuri-proxy.service").read_text().splitlines() if line[:1] != "#"]
    assert not [line for line in active if "@example" in line]


def started(words: list[str], **environ: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ})
    assert process.stdout is not None
    assert process.stdout.readline().startswith(READY)
    return process


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> None:
    process.send_signal(number)
    assert process.wait(30) == 0
    assert process.stdout is not None
    process.stdout.close()


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def only(name: str) -> str:
    (found,) = [rest for other, rest in instructions() if other == name]
    return found


def test_the_containerfile_is_for_this_version_on_a_supported_python() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))["project"]
    assert [name for name, _ in instructions()][:2] == ["FROM", "ARG"]
    assert only("ARG") == f"VERSION={project['version']}"
    version = re.fullmatch(r"docker\.io/library/python:(3\.\d+)-slim", only("FROM"))
    assert version
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]


def test_the_steps_of_the_containerfile_run(tmp_path: Path) -> None:
    """RUN by sh, with programs that only note how they are called: there is no index and no other root."""
    tools, calls = tmp_path / "bin", tmp_path / "calls"
    tools.mkdir()
    for name in ("pip", "useradd", "install"):
        (tools / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >>{shlex.quote(str(calls))}\n')
        (tools / name).chmod(0o755)
    environ = {"PATH": f"{tools}:{os.environ['PATH']}", "VERSION": only("ARG").partition("=")[2]}
    for name, rest in instructions():
        if name == "RUN":
            subprocess.run(["sh", "-euc", rest], check=True, env=environ)
    version = environ["VERSION"]
    assert calls.read_text().splitlines() == [
        f"pip install --no-cache-dir doiuri-proxy=={version} doiuri[redis]=={version}",
        "useradd --system --uid 8053 doiuri",
        "install --directory --owner=doiuri /data",
    ]
    assert only("USER") == "doiuri"
    assert only("VOLUME") == "/data"
    assert only("ENV") == "DOIURI_CACHE=/data/cache.sqlite3"
    assert "build --format docker " in (DEPLOY / "Containerfile").read_text("utf-8")  # OCI drops HEALTHCHECK
    assert not {"ADD", "COPY"} & {name for name, _ in instructions()}  # it can be built in any folder


def test_the_container_s_command_serves_and_its_health_check_notices(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"handle":"10.1000/1","values":[]}\n')
    entry, arguments = json.loads(only("ENTRYPOINT")), json.loads(only("CMD"))
    assert entry[0] == "doiuri-proxy"
    assert entry[-2:] == ["--port", only("EXPOSE")]
    assert arguments == ["--records", "/records"]
    port = str(free_port())
    words = [str(COMMAND), *entry[1:-1], port, "--records", str(tmp_path)]
    health = json.loads(only("HEALTHCHECK").removeprefix("CMD "))
    assert health[0] == "python"
    check = [sys.executable, *(word.replace(f":{only('EXPOSE')}/", f":{port}/") for word in health[1:])]
    process = started(words)
    assert subprocess.run(check, check=False).returncode == 0
    stop(process, getattr(signal, only("STOPSIGNAL")))
    assert subprocess.run(check, capture_output=True, check=False).returncode == 1
