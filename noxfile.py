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
DEMO = [name for name in PACKAGES if name not in {"dask-doiuri", "doiuri-cli", "httpx-doiuri"}]
GROUPS = ["test", "demo", "docs", "coverage", "lint", "types", "bench", "mutants"]
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
    """Whether python<version> starts (a version manager's shim may not)."""
    command = shutil.which(f"python{version}")
    if command is None:
        return False
    check = f"import sys, venv; sys.exit(sys.version_info[:2] != ({version.replace('.', ', ')}))"
    return subprocess.run([command, "-c", check], capture_output=True, check=False).returncode == 0


def interpreters() -> list[str]:
    """The supported versions of Python on the path, oldest first; there is no newest that we support."""
    files = (file.name for folder in os.get_exec_path() for file in Path(folder).glob("python3.*"))
    minors = {
        int(match[1])
        for name in files
        if (match := re.fullmatch(r"python3\.(\d+)(?:\.exe)?", name))
    }
    return [
        f"3.{minor}" for minor in sorted(minors) if (3, minor) >= OLDEST and works(f"3.{minor}")
    ]


FOUND = interpreters()

# Without compiled modules, each of the many processes that the tests start takes twice as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

nox.needs_version = ">= 2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.sessions = ["tests", "lint", "types"]


EXTRAS = {"doiuri": "[citations,yaml]"}


def editable(*names: str) -> list[str]:
    """The arguments that install packages of the workspace as editable, the core with its extras."""
    folders = (f"packages/{name}{EXTRAS.get(name, '')}" for name in names)
    return [word for folder in folders for word in ("-e", folder)]


def install(session: nox.Session, *groups: str, packages: list[str] = PACKAGES) -> None:
    """Install packages as editable, and the tools of dependency groups, unless nothing has changed."""
    wanted = fingerprint(*groups, *packages)
    stamp = Path(session.virtualenv.location) / "installed.sha256"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    needed = editable(*packages)
    session.install(*PINS, *needed, *(word for group in groups for word in ("--group", group)))
    stamp.write_text(wanted, encoding="utf-8")


def fingerprint(*names: str) -> str:
    """A digest of everything that decides what an installation of these names contains."""
    digest = hashlib.sha256(" ".join(names).encode())
    projects = [ROOT / "packages" / name / "pyproject.toml" for name in PACKAGES]
    for path in [ROOT / "constraints.txt", ROOT / "pyproject.toml", *projects]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@nox.session
def demo(session: nox.Session) -> None:
    """Start the local proxy, build the example sites and blogs and run the scripts against it, and sum up."""
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
    """Write the table of packages, and how to install each, into the READMEs anew, from the metadata."""
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
    install(session, "test", "docs")
    session.run("pytest", *chosen(session, "tests/system", "-n", "2"))


def chosen(session: nox.Session, *whole: str) -> list[str]:
    """pytest's arguments: those after ``--``, and unless they name files or folders, those for the whole.

    A few files are done before a second worker is up.
    """
    paths = [ROOT / word.partition("::")[0] for word in session.posargs]
    named = any(path.exists() and path != ROOT for path in paths)
    return [*([] if named else whole), *session.posargs]


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
    fix = "--fix" in session.posargs
    check = ["--fix"] if fix else []
    form = [] if fix else ["--check"]
    schemas = [
        ["check-jsonschema", "--quiet", "--builtin-schema", schema, *map(str, ROOT.glob(pattern))]
        for schema, pattern in SCHEMAS.items()
    ]
    run_all(
        session,
        ["ruff", "check", *check, "."],
        ["ruff", "format", *form, "."],
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
    # With -E: a page with a warning is not read again in a second build, which would then succeed
    session.run("sphinx-build", "-E", "-W", "-n", "-b", "html", "docs", "build/docs")
    if "serve" in session.posargs:
        session.run(
            "python",
            "-m",
            "http.server",
            "--bind",
            "127.0.0.1",
            "--directory",
            "build/docs",
            "8000",
        )
    elif "build" not in session.posargs:
        session.run("pytest", *chosen(session, "tests/docs", "-n", "2"))


@nox.session
def wheels(session: nox.Session) -> None:
    """Build and try out every sdist and wheel, each alone; ``-- v0.1.0`` also checks the version."""
    for tag in session.posargs:
        check_versions(session, tag)
    session.install(*PINS, "build", "hatchling", "uv")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for name in PACKAGES:
        session.run(
            "python",
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            "dist",
            f"packages/{name}",
            silent=True,
        )
    for name in PACKAGES:
        for form in ("whl", "tar.gz"):
            check_archive(session, name, form)
    check_extras(session)


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
    python = install_apart(session, f"{module}-{form}", str(archive))
    session.run(python, "-W", "error", "tests/repo/check_installed.py", module, external=True)


def check_extras(session: nox.Session) -> None:
    """Install everything under the one name, as from an index, and import it."""
    python = install_apart(session, "all", "doiuri[all,testing]")
    modules = ", ".join(name.replace("-", "_") for name in PACKAGES)
    session.run(python, "-W", "error", "-c", f"import {modules}", external=True)


def install_apart(session: nox.Session, name: str, requirement: str) -> str:
    """Install a requirement in a clean environment, our packages from ``dist/``, and return its Python."""
    environment = Path(session.create_tmp()) / name
    session.run("uv", "venv", "-q", "--clear", "--python", sys.executable, str(environment))
    python = str(environment / ("Scripts" if os.name == "nt" else "bin") / "python")
    session.run(
        "uv", "pip", "install", "-q", "--python", python, "--find-links", "dist", *PINS, requirement
    )
    return python


@nox.session(python="3.11" if "3.11" in FOUND else False)
def lowest(session: nox.Session) -> None:
    """Run the tests on the floors that the packages declare."""
    if "3.11" not in FOUND:
        session.error("the floors are proven on Python 3.11, which is not on this machine")
    session.install(
        "--resolution", "lowest-direct", *editable(*PACKAGES), "--group", "test", "--group", "demo"
    )
    session.run("pytest", *chosen(session, *PARALLEL))


@nox.session
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


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz each area for 60 s; ``nox -s fuzz -- rest --seconds 600 --seed 7`` for one, longer, or again."""
    install(session, "test")
    run_scripts(session, "tests/fuzz")


@nox.session
def mutants(session: nox.Session) -> None:
    """Change code one place at a time and show what no test notices: ``-- CODE [ARGUMENTS OF PYTEST]``."""
    code, *tests = session.posargs
    name = code.partition("/src/")[2].rstrip("/")
    install(session, "test", "demo", "mutants")
    tree = Path(session.create_tmp()) / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    ignored = shutil.ignore_patterns(".git", ".nox", ".venv", ".*_cache", "build")
    shutil.copytree(ROOT, tree, ignore=ignored)
    parts = [path.name for path in tree.iterdir()]
    for source in tree.glob("packages/*/src/*"):  # mutmut names code by its path below src/
        shutil.copytree(source, tree / "src" / source.name)
    options = {
        "source_paths": ["src"],
        "only_mutate": [f"src/{name}" if name.endswith(".py") else f"src/{name}/*"],
        "also_copy": parts,
        "pytest_add_cli_args": ["-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": tests,
    }
    lines = [f"{option} =\n  " + "\n  ".join(values) for option, values in options.items()]
    (tree / "setup.cfg").write_text("\n".join(["[mutmut]", *lines]))
    session.chdir(tree)
    # Child processes run the changed code, too.
    session.run("mutmut", "run", env={"PYTHONPATH": str(tree / "mutants" / "src")})
    for line in (session.run("mutmut", "results", silent=True) or "").splitlines():
        session.log(line)
        session.run("mutmut", "show", line.split(":")[0].strip())


@nox.session
def pins(session: nox.Session) -> None:
    """Renew ``constraints.txt`` from the index: plain ``==`` pins, no addresses."""
    session.install("uv")
    sources = Path(session.create_tmp()) / "packages.txt"
    sources.write_text("".join(f"-e packages/{name}{EXTRAS.get(name, '')}\n" for name in PACKAGES))
    command = [
        "uv",
        "pip",
        "compile",
        "-q",
        "--universal",
        "--python-version",
        "3.11",
        "--no-annotate",
    ]
    command += ["--no-header", "--no-emit-index-url", "--no-emit-find-links", "--upgrade"]
    command += [word for name in PACKAGES for word in ("--no-emit-package", name)]
    command += [word for group in GROUPS for word in ("--group", group)]
    session.run(*command, str(sources), "-o", "constraints.txt", external=True)
