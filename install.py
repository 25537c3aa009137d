"""Install from this clone what pip will install from PyPI: ``python install.py "doiuri[sphinx,cli]"``."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(f"doiuri needs Python 3.11 or later; this is {sys.version.split()[0]}")
import tomllib

PACKAGES = Path(__file__).resolve().parent / "packages"
REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?\s*(?:>=\s*([\d.]+))?")


def name_of(requirement: str) -> str:
    """Return the name that a requirement begins with, as indexes compare it; "" if it has none."""
    match = REQUIREMENT.match(requirement)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def is_sibling(requirement: str) -> bool:
    """Return whether a requirement names a package of this clone."""
    return (PACKAGES / name_of(requirement) / "pyproject.toml").is_file()


def needs(sibling: str) -> list[str]:
    """Return the requirements of a package of this clone, with those of the extras that are named."""
    path = PACKAGES / name_of(sibling) / "pyproject.toml"
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    match = REQUIREMENT.match(sibling)
    names = (match and match[2]) or ""
    chosen = [need for name in names.split(",") for need in extras.get(name.strip(), [])]
    return [*project["dependencies"], *chosen]


def all_requirements(words: list[str]) -> list[str]:
    """Return the words, and what the packages of this clone among them need, and so on."""
    found: list[str] = []
    waiting = list(words)
    while waiting:
        requirement = waiting.pop(0)
        if requirement in found:
            continue
        found.append(requirement)
        if is_sibling(requirement):
            waiting += needs(requirement)
    return found


def arguments(words: list[str]) -> list[str]:
    """Return the arguments of ``pip install``: folders in place of the names of this clone's packages."""
    siblings = filter(is_sibling, all_requirements(words))
    folders = {word: str(PACKAGES / name_of(word)) for word in siblings}
    named = [
        folders[word] + "".join(word.partition("[")[1:]) if word in folders else word
        for word in words
    ]
    rest = {*folders.values()} - {folders[word] for word in words if word in folders}
    return [*named, *sorted(rest)]


def release(number: str) -> list[int]:
    """Return the numbers of a version up to the last that is not zero: [7, 4] for 7.4.0."""
    match = re.match(r"\d+(?:\.\d+)*", number)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def replaced(words: list[str]) -> list[str]:
    """Return a sentence about each installed distribution that is too old, unless a word names it."""
    sentences = []
    for requirement in all_requirements(words):
        name = name_of(requirement)
        minimum = REQUIREMENT.match(requirement)
        if name in map(name_of, words) or not minimum or not minimum[3]:
            continue
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue
        if release(installed) < release(minimum[3]):
            sentences.append(f"{name} {installed} is installed; {requirement} is needed.")
    return sentences


def main(words: list[str]) -> int:
    """Call pip, unless it would replace what is installed already."""
    sentences = replaced(words)
    if sentences:
        command = " ".join(f'"{word}"' for word in words)
        names = " ".join(sentence.split()[0] for sentence in sentences)
        print(*sentences, sep="\n", file=sys.stderr)  # noqa: T201
        print(  # noqa: T201
            "pip would replace it, so nothing was installed. To keep it, use another virtual environment.\n"
            f"To replace it, name it as well: python install.py {command} {names}",
            file=sys.stderr,
        )
        return 1
    return subprocess.call([sys.executable, "-m", "pip", "install", *arguments(words)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
