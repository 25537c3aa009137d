"""How to install a package, from the dependencies in the metadata: for READMEs and the manual."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PACKAGES = Path(__file__).parents[3] / "packages"
NOW = "# now, in a clone of https://github.com/doiuri/doiuri"
LATER = "# when it is on PyPI"
BLOCK = re.compile(rf"^{NOW}\npip install .*\n{LATER}\npip install (.*)\n", re.MULTILINE)


def install_lines(*names: str) -> list[str]:
    """Return the lines that install packages: from a checkout, and from PyPI."""
    return [NOW, command(*from_checkout(names)), LATER, command(*names)]


def from_checkout(names: tuple[str, ...]) -> list[str]:
    """Return the folders of packages, after those of the siblings that they depend on; others by name."""
    words: list[str] = []
    for name in names:
        file = PACKAGES / plain(name) / "pyproject.toml"
        if file.is_file():
            project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
            siblings = (plain(needed) for needed in project["dependencies"])
            folders = from_checkout(tuple(needed for needed in siblings if (PACKAGES / needed).is_dir()))
            words += [*folders, f"./packages/{name}"]
        else:
            words.append(name)
    return list(dict.fromkeys(words))


def plain(requirement: str) -> str:
    """Return the name in a requirement, without extras and versions."""
    return re.split(r"[^\w-]", requirement, maxsplit=1)[0]


def command(*words: str) -> str:
    """Return a line for the shell; zsh wants brackets in quotation marks."""
    return " ".join(["pip install", *(f'"{word}"' if "[" in word else word for word in words)])


def renewed_install(text: str) -> str:
    """Return a text with its block renewed; the packages are those of the line for PyPI."""
    return BLOCK.sub(lambda block: "\n".join(install_lines(*block[1].replace('"', "").split())) + "\n", text)
