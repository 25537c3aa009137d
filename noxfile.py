"""All tasks of this repository; ``nox --list`` shows them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
SUPPORTED = ["3.11", "3.12", "3.13"]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
EXTRAS = {"doiuri": "[resolver,redis,testing]"}
GROUPS = ["test", "integration", "examples", "notebook"]
GROUPS += ["coverage", "lint", "types", "docs", "bench", "mutants"]
PINS = ["-c", "constraints.txt"]
# Many tests wait for a timeout or for a process, so four workers keep two cores busy.
PARALLEL = ["-n", str(max(4, os.cpu_count() or 1)), "--dist", "worksteal"]
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

# Without compiled modules, each of the many processes that the tests start takes twice as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

nox.needs_version = ">= 2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests", "lint", "types"]


def editable(*names: str) -> list[str]:
    """The arguments that install packages of the workspace as editable, with their extras."""
    return [word for name in names for word in ("-e", f"packages/{name}{EXTRAS.get(name, '')}")]


def install(session: nox.Session, *groups: str, packages: list[str] = PACKAGES) -> None:
    """Install packages as editable, and the tools of dependency groups, unless nothing has changed."""
    wanted = fingerprint(*groups, *packages)
    stamp = Path(session.virtualenv.location) / "installed.sha256"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    session.install(*PINS, *editable(*packages), *(word for group in groups for word in ("--group", group)))
    stamp.write_text(wanted, encoding="utf-8")


def fingerprint(*names: str) -> str:
    """A digest of everything that decides what an installation of these names contains."""
    digest = hashlib.sha256(" ".join(names).encode())
    projects = [ROOT / "packages" / name / "pyproject.toml" for name in PACKAGES]
    for path in [ROOT / "constraints.txt", ROOT / "pyproject.toml", *projects]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@nox.session(python=NEWEST or False)
def demo(session: nox.Session) -> None:
    """Start the local proxy, build the example sites and blogs and run the scripts against it, and sum up."""
    if NEWEST is None:
        session.error(f"no supported Python found; install one of {', '.join(SUPPORTED)}")
    install(session, "examples", "integration")
    session.run("python", "examples/demo.py", *session.posargs)


@nox.session(python=NEWEST or False)
def pictures(session: nox.Session) -> None:
    """Make the pictures of the README and the manual; it needs Chromium and Graphviz."""
    install(session, "test", "examples", "integration")
    session.run("python", "examples/demo.py")
    session.run("python", "examples/pictures.py", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=NEWEST or False)
def readme(session: nox.Session) -> None:
    """Write the table of packages, and how to install each, into the READMEs anew, from the metadata."""
    install(session, "test")
    session.run("python", "-m", "support.manual.readme", env={"PYTHONPATH": "tests"})


@nox.session(python=FOUND or False)
def tests(session: nox.Session) -> None:
    """Run the tests; ``nox -s tests -- FILE`` for one file, at once and on the newest interpreter only."""
    if not FOUND:
        session.error(f"no supported Python found; install one of {', '.join(SUPPORTED)}")
    newest = session.python == NEWEST
    if test_files(session) and not newest and not chosen(session):
        session.skip(f"files run on Python {NEWEST}; nox -s {session.name} -- FILE for this one")
    for version in SUPPORTED:
        if version not in FOUND:
            session.warn(f"SKIPPED: Python {version} is not on this machine")
    install(session, "test", *(["integration", "examples", "notebook", "mutants"] if newest else []))
    marks = [] if newest else ["-m", "not newest and not once"]
    session.run("pytest", *marks, *parallel(session), *session.posargs)


def test_files(session: nox.Session) -> list[str]:
    """The files, folders and single tests among the arguments after ``--``."""
    paths = {word: ROOT / word.partition("::")[0] for word in session.posargs}
    return [word for word, path in paths.items() if path.exists() and path.is_relative_to(ROOT / "tests")]


def chosen(session: nox.Session) -> bool:
    """Whether the command line names this session or its interpreter."""
    return session.name in sys.argv or session.python in sys.argv


def parallel(session: nox.Session) -> list[str]:
    """pytest's options for the whole suite; a few files are done before a second worker is up."""
    return [] if test_files(session) else PARALLEL


@nox.session(python=NEWEST or False)
def coverage(session: nox.Session) -> None:
    """Measure the branch coverage of all packages, child processes included; ``-- FILE`` narrows it down."""
    install(session, "test", "integration", "examples", "notebook", "mutants", "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *parallel(session), *session.posargs)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session(python=NEWEST or False)
def lint(session: nox.Session) -> None:
    """Check style, format, spelling and YAML files; ``nox -s lint -- --fix`` corrects Python files."""
    install(session, "lint", packages=[])
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), ".")
    session.run("ruff", "format", *([] if fix else ["--check"]), ".")
    for schema, pattern in SCHEMAS.items():
        files = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(pattern))]
        session.run("check-jsonschema", "--quiet", "--builtin-schema", schema, *files)
    session.run("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    session.run("codespell")
    session.run("zizmor", "--offline", "--quiet", ".github", "action.yml")


@nox.session(python=NEWEST or False)
def types(session: nox.Session) -> None:
    """Check the types, tests included."""
    install(session, "test", "integration", "notebook", "types", "bench", "mutants")
    session.run("mypy")


@nox.session(python=NEWEST or False)
def docs(session: nox.Session) -> None:
    """Build the manual, with warnings as errors; ``-- serve`` shows it on a local port."""
    install(session, "docs")
    serve = "serve" in session.posargs
    options = [word for word in session.posargs if word != "serve"]
    session.run("sphinx-build", "-W", "-n", "-b", "html", "docs", "build/docs", *options)
    if serve:
        session.run("python", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "build/docs", "8000")


@nox.session(python=NEWEST or False)
def wheels(session: nox.Session) -> None:
    """Build and try out every sdist and wheel, each alone; ``-- v0.1.0`` also checks the version."""
    for tag in session.posargs:
        check_versions(session, tag)
    session.install(*PINS, "build", "hatchling")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for name in PACKAGES:
        session.run(
            "python", "-m", "build", "--no-isolation", "--outdir", "dist", f"packages/{name}", silent=True
        )
    for name in PACKAGES:
        for form in ("whl", "tar.gz"):
            check_archive(session, name, form)


def check_versions(session: nox.Session, tag: str) -> None:
    """Stop if a package does not have the version that the tag names."""
    for name in PACKAGES:
        text = (ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8")
        version = tomllib.loads(text)["project"]["version"]
        if tag != f"v{version}":
            session.error(f"{name} has version {version}, but the tag is {tag}")


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
    session.install("--resolution", "lowest-direct", *editable(*PACKAGES), "--group", "test")
    session.run("pytest", "-m", "not newest", *parallel(session), *session.posargs)


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
    """Fuzz each area for 60 s; ``nox -s fuzz -- find --seconds 600 --seed 7`` for one, longer, or again."""
    install(session, "test")
    run_scripts(session, "tests/fuzz")


@nox.session(python=NEWEST or False)
def mutants(session: nox.Session) -> None:
    """Change the code of a module or folder, one place at a time: ``-- PATH [--sample N] [--seed S]``."""
    install(session, "test", "mutants")
    session.run("python", "tests/mutation/run.py", *session.posargs, env={"PYTHONPATH": "tests"})


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
