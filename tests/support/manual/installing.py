"""How to install packages: the lines for READMEs and the manual."""

from __future__ import annotations

import re

NOW = "# now, in a clone of https://github.com/doiuri/doiuri"
LATER = "# when it is on PyPI"
BLOCK = re.compile(
    rf"^{NOW}\n"
    r"python install.py .*\n"
    rf"{LATER}\n"
    r"pip install (.*)\n",
    re.MULTILINE,
)


def install_lines(*names: str) -> list[str]:
    """Return the lines that install packages: from a clone, and from PyPI."""
    words = " ".join(map(_quoted, names))
    return [NOW, f"python install.py {words}", LATER, f"pip install {words}"]


def _quoted(name: str) -> str:
    """Return a name as a word of a shell: zsh expands bare brackets."""
    return f'"{name}"' if "[" in name else name


def renewed_install(text: str) -> str:
    """Return a text with its block renewed; the packages are those of the line for PyPI."""
    return BLOCK.sub(_renewed_block, text)


def _renewed_block(block: re.Match[str]) -> str:
    names = block[1].replace('"', "").split()
    return "\n".join(install_lines(*names)) + "\n"
