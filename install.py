"""Install from this clone what pip will install from PyPI: ``python install.py "doiuri[sphinx,cli]"``."""

import re
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(f"doiuri needs Python 3.11 or later; this is {sys.version.split()[0]}")
import tomllib

PACKAGES = Path(__file__).resolve().parent / "packages"
REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?")


def siblings(requirement: str, found: dict[str, str]) -> None:
    """Collect the packages of this clone that a requirement needs, itself included: name to folder."""
    match = REQUIREMENT.match(requirement)
    folder = re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""
    if not match or requirement in found or not (PACKAGES / folder / "pyproject.toml").is_file():
        return
    found[requirement] = folder
    project = tomllib.loads((PACKAGES / folder / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    chosen = [need for name in (match[2] or "").split(",") for need in extras.get(name.strip(), [])]
    for need in [*project["dependencies"], *chosen]:
        siblings(need, found)


def arguments(words: list[str]) -> list[str]:
    """Return the arguments of ``pip install``: folders in place of the names of this clone's packages."""
    found: dict[str, str] = {}
    for word in words:
        siblings(word, found)
    folders = {word: str(PACKAGES / folder) for word, folder in found.items()}
    named = [
        folders[word] + "".join(word.partition("[")[1:]) if word in found else word
        for word in words
    ]
    return [
        *named,
        *sorted({*folders.values()} - {folders[word] for word in words if word in found}),
    ]


if __name__ == "__main__":
    sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *arguments(sys.argv[1:])]))
