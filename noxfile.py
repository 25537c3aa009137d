"""Everything that is run on this repository; ``nox --list`` shows it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
SUPPORTED = ["3.11", "3.12", "3.13"]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
EXTRAS = {"doiuri": "[resolver,redis,testing]"}
GROUPS = ["test", "integration", "examples", "lint", "types", "docs", "bench"]
PINS = ["-c", "constraints.txt"]


def works(version: str) -> bool:
    """Whether python<version> is on the path and starts (a version manager's shim may do neither)."""
    command = shutil.which(f"python{version}")
    if command is None:
        return False
    check = f"import sys, venv; sys.exit(sys.version_info[:2] != ({version.replace('.', ', ')}))"
    return subprocess.run([command, "-c", check], capture_output=True, check=False).returncode == 0


def interpreters() -> list[str]:
    """The supported interpreters of this machine, oldest first; the one that runs nox counts too."""
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return [version for version in SUPPORTED if version == own or works(version)]


FOUND = interpreters()
NEWEST = FOUND[-1] if FOUND else None

nox.needs_version = ">= 2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests", "lint", "types"]


def install(session: nox.Session, *groups: str, packages: list[str] | None = None) -> None:
    """Install the workspace's packages as editable, with the tools of the dependency groups named."""
    editable = [
        word for name in packages or PACKAGES for word in ("-e", f"packages/{name}{EXTRAS.get(name, '')}")
    ]
    session.install(*PINS, *editable, *(word for group in groups for word in ("--group", group)))


@nox.session(python=NEWEST or False)
def demo(session: nox.Session) -> None:
    """Start the local proxy, build the example site, blog and scripts against it, and sum up."""
    if NEWEST is None:
        session.error(f"no supported Python found; install one of {', '.join(SUPPORTED)}")
    install(session, "examples")
    session.run("python", "examples/demo.py", *session.posargs)


@nox.session(python=FOUND or False)
def tests(session: nox.Session) -> None:
    """Run the tests; name the interpreters that are missing, and fail when there is none."""
    if not FOUND:
        session.error(f"no supported Python found; install one of {', '.join(SUPPORTED)}")
    for version in SUPPORTED:
        if version not in FOUND:
            session.warn(f"SKIPPED: Python {version} is not on this machine")
    newest = session.python == NEWEST
    install(session, "test", *(["integration", "examples"] if newest else []))
    chosen = [] if newest else ["-m", "not newest"]
    session.run("pytest", "-n", "2", "--dist", "loadfile", *chosen, *session.posargs)


@nox.session(python=NEWEST or False)
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install(*PINS, "--group", "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=NEWEST or False)
def types(session: nox.Session) -> None:
    """Check the types, tests included."""
    install(session, "test", "types", "bench")
    session.run("mypy")


@nox.session(python=NEWEST or False)
def docs(session: nox.Session) -> None:
    """Build the manual, with warnings as errors."""
    install(session, "docs")
    session.run("sphinx-build", "-W", "-n", "-b", "html", "docs", "build/docs", *session.posargs)


@nox.session(python=NEWEST or False)
def wheels(session: nox.Session) -> None:
    """Build every sdist and, from it, its wheel; install each alone from ``dist/`` and import it."""
    session.install(*PINS, "build", "hatchling")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for name in PACKAGES:
        session.run(
            "python", "-m", "build", "--no-isolation", "--outdir", "dist", f"packages/{name}", silent=True
        )
    for name in PACKAGES:
        for form in ("whl", "tar.gz"):
            check_archive(session, name, form)


def check_archive(session: nox.Session, name: str, form: str) -> None:
    """Install one archive in a clean environment, its siblings from ``dist/`` too, and import it."""
    module = name.replace("-", "_")
    (archive,) = (ROOT / "dist").glob(f"{module}-[0-9]*.{form}")
    environment = Path(session.create_tmp()) / f"{module}-{form}"
    shutil.rmtree(environment, ignore_errors=True)
    session.run("python", "-m", "venv", str(environment), silent=True)
    python = str(environment / "bin" / "python")
    target = f"{archive}{EXTRAS['doiuri'] if name == 'doiuri' else ''}"
    session.run(python, "-m", "pip", "install", "-q", "--find-links", "dist", *PINS, target, external=True)
    session.run(python, "-W", "error", "tests/repo/check_installed.py", module, external=True)


@nox.session(python="3.11" if "3.11" in FOUND else False)
def lowest(session: nox.Session) -> None:
    """Run the tests on the floors that the packages declare."""
    if "3.11" not in FOUND:
        session.error("the floors are proven on Python 3.11, which is not on this machine")
    floors = [word for name in PACKAGES for word in ("-e", f"packages/{name}{EXTRAS.get(name, '')}")]
    session.install("--resolution", "lowest-direct", *floors, "--group", "test")
    session.run("pytest", "-n", "2", "--dist", "loadfile", "-m", "not newest", *session.posargs)


@nox.session(python=NEWEST or False)
def bench(session: nox.Session) -> None:
    """Measure against the peers; ``nox -s bench -- codec`` for one area, ``-- --quick`` for a short run."""
    install(session, "bench")
    run_scripts(session, "benchmarks")


def run_scripts(session: nox.Session, folder: str) -> None:
    """Run the scripts of a folder, or those named first on the command line, with the options that follow."""
    scripts = {script.stem: script for script in sorted(ROOT.glob(f"{folder}/[!_]*.py"))}
    named = [word for word in session.posargs if word in scripts]
    options = [word for word in session.posargs if word not in scripts]
    for name in named or scripts:
        path = str(scripts[name].relative_to(ROOT))
        session.run("python", path, *options, env={"PYTHONPATH": "tests"})


@nox.session(python=NEWEST or False)
def fuzz(session: nox.Session) -> None:
    """Fuzz each area for 60 s; ``nox -s fuzz -- find --seconds 600`` for one area, and longer."""
    install(session, "test")
    run_scripts(session, "tests/fuzz")


@nox.session(python=NEWEST or False)
def pins(session: nox.Session) -> None:
    """Renew ``constraints.txt`` from the index: plain ``==`` pins, no addresses."""
    session.install("uv")
    sources = Path(session.create_tmp()) / "packages.txt"
    sources.write_text("".join(f"-e packages/{name}{EXTRAS.get(name, '')}\n" for name in PACKAGES))
    command = ["uv", "pip", "compile", "-q", "--universal", "--python-version", "3.11", "--no-annotate"]
    command += ["--no-header", "--no-emit-index-url", "--no-emit-find-links", "--upgrade"]
    command += [word for name in PACKAGES for word in ("--no-emit-package", name)]
    command += [word for group in GROUPS for word in ("--group", group)]
    session.run(*command, str(sources), "-o", "constraints.txt", external=True)
