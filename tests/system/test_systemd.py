"""systemd's view of the unit and the drop-in in the repository."""

import subprocess
import sys
from pathlib import Path

from support.programs import needs
from support.servers.deploy import deployed

COMMAND = {"/opt/doiuri/bin/doiuri-proxy": Path(sys.executable).with_name("doiuri-proxy")}


def analyzed(folder: Path, *words: str) -> tuple[int, str]:
    """The exit status and the output of systemd-analyze for the unit."""
    unit = folder / "doiuri-proxy.service"
    unit.write_text(deployed("doiuri-proxy.service", COMMAND))
    command = [needs("systemd-analyze"), *words, str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_systemd_accepts_the_unit_and_the_drop_in(tmp_path: Path) -> None:
    assert analyzed(tmp_path, "verify") == (0, "")
    drop_in = tmp_path / "doiuri-proxy.service.d" / "records.conf"
    drop_in.parent.mkdir()
    drop_in.write_text(deployed("records.conf", COMMAND))
    assert analyzed(tmp_path, "verify") == (0, "")


def test_the_unit_is_hardened(tmp_path: Path) -> None:
    """systemd's own measure, 0 to 10: below 2 is "OK"; a service without options has 9.6."""
    status, said = analyzed(tmp_path, "security", "--offline=true", "--threshold=15")
    assert status == 0, said
