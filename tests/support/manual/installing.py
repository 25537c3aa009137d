"""How to install packages: the lines for READMEs and the manual."""

from __future__ import annotations

import re

NOW = "# now, in a clone of https://github.com/doiuri/doiuri"
LATER = "# when it is on PyPI"
BLOCK = re.compile(rf"^{NOW}\npython install.py .*\n{LATER}\npip install (.*)\n", re.MULTILINE)


def install_lines(*names: str) -> list[str]:
    """Return the lines that install packages: from a clone, and from PyPI."""
    words = " ".join(
        f'"{name}"' if "[" in name else name for name in names
    )  # zsh expands bare brackets
    return [NOW, f"python install.py {words}", LATER, f"pip install {words}"]


def renewed_install(text: str) -> str:
    """Return a text with its block renewed; the packages are those of the line for PyPI."""
    return BLOCK.sub(
        lambda block: "\n".join(install_lines(*block[1].replace('"', "").split())) + "\n", text
    )
