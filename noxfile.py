"""All tasks of this repository; ``nox --list`` shows them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(f"doiuri needs Python 3.11 or later; this is {sys.version.split()[0]}")
import tomllib

import nox

ROOT = Path(__file__).parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
DEMO = [name for name in PACKAGES if name not in {"dask-doiuri", "httpx-doiuri"}]
GROUPS = ["test", "demo", "docs", "coverage", "lint", "types", "bench"]
PINS = ["-c", "constraints.txt"]
OLDEST = (3, 11)
# One worker more than there are processors: tests wait for sockets and processes a third of the time.
PARALLEL = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]
SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "custom.github-workflows-require-timeout": ".github/workflows/*.yml",
    "vendor.github-actions": "action.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.readthedocs": ".readthedocs.yaml",
    "vendor.citation-file-format": "CITATION.cff",
}


def works(version: str) -> bool:
    """Return whether python<version> starts; the shim of a version manager may not."""
    command = shutil.which(f"python{version}")
    if command is None:
        return False
    expected = tuple(map(int, version.split(".")))
    check = f"import sys, venv; sys.exit(sys.version_info[:2] != {expected})"
    done = subprocess.run([command, "-c", check], capture_output=True, check=False)
    return done.returncode == 0


def interpreters() -> list[str]:
    """Return the supported versions of Python on the path, oldest first; any newer version is supported."""
    minors = set()
    for folder in os.get_exec_path():
        for file in Path(folder).glob("python3.*"):
            match = re.fullmatch(r"python3\.(\d+)(?:\.exe)?", file.name)
            if match is not None:
                minors.add(int(match[1]))
    supported = [minor for minor in sorted(minors) if (3, minor) >= OLDEST]
    versions = [f"3.{minor}" for minor in supported]
    return [version for version in versions if works(version)]


FOUND = interpreters()
LOWEST = "3.11" if "3.11" in FOUND else False

# Without compiled modules, each of the many processes that the tests start takes twice as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

nox.needs_version = ">= 2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.sessions = ["tests", "lint", "types"]


EXTRAS = {"doiuri": "[citations,yaml]"}


def editable(*names: str) -> list[str]:
    """Return the arguments that install packages of the workspace as editable, the core with its extras."""
    return repeated("-e", [folder_of(name) for name in names])


def folder_of(name: str) -> str:
    """Return the folder of a package, with its extras, as pip takes it."""
    return f"packages/{name}{EXTRAS.get(name, '')}"


def repeated(option: str, values: list[str]) -> list[str]:
    """Return the arguments that give an option once for each value."""
    words = []
    for value in values:
        words += [option, value]
    return words


def install(session: nox.Session, *groups: str, packages: list[str] = PACKAGES) -> None:
    """Install packages as editable, and the tools of dependency groups, unless nothing has changed."""
    wanted = fingerprint(*groups, *packages)
    stamp = Path(session.virtualenv.location) / "installed.sha256"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    session.install(*PINS, *editable(*packages), *repeated("--group", list(groups)))
    stamp.write_text(wanted, encoding="utf-8")


def fingerprint(*names: str) -> str:
    """Return a digest of everything that decides what an installation of these names contains."""
    digest = hashlib.sha256(" ".join(names).encode())
    files = [ROOT / "constraints.txt", ROOT / "pyproject.toml"]
    files += [ROOT / "packages" / name / "pyproject.toml" for name in PACKAGES]
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@nox.session
def demo(session: nox.Session) -> None:
    """Start the local proxy, build the example sites, check a paper and run the scripts against it, and sum up."""
    install(session, "demo", packages=DEMO)
    session.run("python", "examples/demo.py", *session.posargs)


@nox.session
def pictures(session: nox.Session) -> None:
    """Make the pictures of the README and the manual; it needs Chromium and Graphviz."""
    install(session, "test", "demo")
    session.run("python", "examples/demo.py")
    session.run("python", "examples/pictures.py", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def readme(session: nox.Session) -> None:
    """Update the table of packages and the install commands in the READMEs from the metadata."""
    install(session, "test")
    session.run("python", "-m", "support.manual.readme", env={"PYTHONPATH": "tests"})


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests that need only Python, on the interpreter that runs nox; ``-- FILE`` for one file."""
    install(session, "test", "demo")
    session.run("pytest", *chosen(session, *PARALLEL))


@nox.session(python=FOUND or None)
def matrix(session: nox.Session) -> None:
    """Run the same tests on each supported interpreter that is on the path."""
    tests(session)


@nox.session
def system(session: nox.Session) -> None:
    """Run the tests that need a browser, LaTeX, web servers or Redis; what is missing is skipped."""
    install(session, "test", "docs", "coverage")
    session.run("pytest", *chosen(session, "tests/system", "-n", "2"))


def chosen(session: nox.Session, *whole: str) -> list[str]:
    """Return the arguments of pytest: those after ``--``.

    Unless they name files or folders, ``whole`` precedes them: a few files are done before the workers have
    started.
    """
    for word in session.posargs:
        path = ROOT / word.partition("::")[0]
        if path.exists() and path != ROOT:
            return session.posargs
    return [*whole, *session.posargs]


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure the branch coverage of all packages, child processes included; ``-- FILE`` narrows it down."""
    install(session, "test", "demo", "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *chosen(session, *PARALLEL))
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, spelling and YAML files; ``nox -s lint -- --fix`` corrects Python files."""
    install(session, "lint", packages=[])
    style = ["ruff", "check", "."]
    layout = ["ruff", "format", "--check", "."]
    if "--fix" in session.posargs:
        style = ["ruff", "check", "--fix", "."]
        layout = ["ruff", "format", "."]
    schemas = []
    for schema, pattern in SCHEMAS.items():
        files = map(str, ROOT.glob(pattern))
        schemas.append(["check-jsonschema", "--quiet", "--builtin-schema", schema, *files])
    run_all(
        session,
        style,
        layout,
        ["lint-imports", "--no-logo", "--no-cache"],
        *schemas,
        ["pre-commit", "validate-manifest", ".pre-commit-hooks.yaml"],
        ["codespell"],
        ["zizmor", "--offline", "--quiet", ".github", "action.yml"],
    )


def run_all(session: nox.Session, *commands: list[str]) -> None:
    """Run each command, then fail if one of them failed."""
    sources = os.pathsep.join(map(str, sorted(ROOT.glob("packages/*/src"))))
    failed = []
    for command in commands:
        try:
            session.run(*command, env={"PYTHONPATH": sources})
        except nox.command.CommandFailed:
            failed.append(" ".join(command[:2]))
    if failed:
        session.error(f"failed: {', '.join(failed)}")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types, tests included."""
    install(session, "test", "docs", "types", "bench")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the manual, and test it; ``-- build`` only builds it, ``-- serve`` shows it on a local port."""
    install(session, "test", "docs")
    # With -E: otherwise a second build would not read a page with a warning again, and succeed
    session.run("sphinx-build", "-E", "-W", "-n", "-b", "html", "docs", "build/docs")
    if "serve" in session.posargs:
        options = ["--bind", "127.0.0.1", "--directory", "build/docs"]
        session.run("python", "-m", "http.server", *options, "8000")
    elif "build" not in session.posargs:
        session.run("pytest", *chosen(session, "tests/docs", "-n", "2"))


@nox.session
def wheels(session: nox.Session) -> None:
    """Build and try out every sdist and wheel, each alone; ``-- v0.1.0`` also checks the version."""
    for tag in session.posargs:
        check_versions(session, tag)
    session.install(*PINS, "build", "hatchling", "uv")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    build = ["python", "-m", "build", "--no-isolation", "--outdir", "dist"]
    for name in PACKAGES:
        session.run(*build, f"packages/{name}", silent=True)
    for name in PACKAGES:
        for form in ("whl", "tar.gz"):
            check_archive(session, name, form)
    check_extras(session)
    check_hosts(session)


def check_versions(session: nox.Session, tag: str) -> None:
    """Stop if a package does not have the version that the tag names."""
    for name in PACKAGES:
        path = ROOT / "packages" / name / "pyproject.toml"
        metadata = tomllib.loads(path.read_text(encoding="utf-8"))
        version = metadata["project"]["version"]
        if tag != f"v{version}":
            session.error(f"{name} has version {version}, but the tag is {tag}")


def check_archive(session: nox.Session, name: str, form: str) -> None:
    """Install one archive in a clean environment, with its siblings from ``dist/``, and import it."""
    module = name.replace("-", "_")
    dist = ROOT / "dist"
    (archive,) = dist.glob(f"{module}-[0-9]*.{form}")
    python = install_apart(session, f"{module}-{form}", str(archive))
    session.run(python, "-W", "error", "tests/repo/check_installed.py", module, external=True)


def check_extras(session: nox.Session) -> None:
    """Install everything as the extra ``all``, as from an index, and import it."""
    python = install_apart(session, "all", "doiuri[all,testing]")
    modules = ", ".join(name.replace("-", "_") for name in PACKAGES)
    session.run(python, "-W", "error", "-c", f"import {modules}", external=True)


def check_hosts(session: nox.Session) -> None:
    """Build a Sphinx project and a MkDocs site and check a paper with the wheels, without the checkout."""
    python = install_apart(session, "hosts", "doiuri[sphinx,markdown,cli,proxy]", "mkdocs")
    session.run(python, "tests/repo/check_hosts.py", external=True)


def install_apart(session: nox.Session, name: str, *requirements: str) -> str:
    """Install requirements in a clean environment, our packages from ``dist/``, and return its Python."""
    environment = Path(session.create_tmp()) / name
    session.run("uv", "venv", "-q", "--clear", "--python", sys.executable, str(environment))
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = str(environment / scripts / "python")
    options = ["--python", python, "--find-links", "dist", *PINS]
    session.run("uv", "pip", "install", "-q", *options, *requirements)
    return python


@nox.session(python=LOWEST)
def lowest(session: nox.Session) -> None:
    """Run the tests with the oldest versions of the dependencies that the packages declare."""
    if not LOWEST:
        session.error("needs Python 3.11, which is not on this machine")
    groups = repeated("--group", ["test", "demo"])
    session.install("--resolution", "lowest-direct", *editable(*PACKAGES), *groups)
    session.run("pytest", *chosen(session, *PARALLEL))


@nox.session
def bench(session: nox.Session) -> None:
    """Measure against the peers; ``nox -s bench -- codec`` for one area, ``-- --quick`` for a short run."""
    install(session, "bench")
    run_scripts(session, "benchmarks")


def run_scripts(session: nox.Session, folder: str) -> None:
    """Run the scripts of a folder, or those that the command line names, with its other words as options."""
    files = sorted(ROOT.glob(f"{folder}/[!_]*.py"))
    scripts = {file.stem: str(file.relative_to(ROOT)) for file in files}
    named = [word for word in session.posargs if word in scripts]
    options = [word for word in session.posargs if word not in scripts]
    for name in named or scripts:
        session.run("python", scripts[name], *options, env={"PYTHONPATH": "tests"})


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz each area for 60 s; ``nox -s fuzz -- rest --seconds 600 --seed 7`` for one, longer, or again."""
    install(session, "test")
    run_scripts(session, "tests/fuzz")


@nox.session
def mutants(session: nox.Session) -> None:
    """Put small faults into changed functions and show what no test notices: ``-- [REF]``, or ``-- --help``."""
    install(session, "test", "demo", "coverage")
    session.run(
        "python", "-m", "support.mutants.run", *session.posargs, env={"PYTHONPATH": "tests"}
    )


@nox.session
def pins(session: nox.Session) -> None:
    """Renew ``constraints.txt`` from the index: plain ``==`` pins, no addresses."""
    session.install("uv")
    sources = Path(session.create_tmp()) / "packages.txt"
    sources.write_text("".join(f"-e {folder_of(name)}\n" for name in PACKAGES))
    command = ["uv", "pip", "compile", "-q", "--upgrade", "--universal", "--python-version", "3.11"]
    command += ["--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    command += repeated("--no-emit-package", PACKAGES)
    command += repeated("--group", GROUPS)
    session.run(*command, str(sources), "-o", "constraints.txt", external=True)
