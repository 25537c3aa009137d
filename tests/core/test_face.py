"""The public face: every name is there, and importing the codec loads nothing else."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import doiuri
import pytest


@pytest.mark.parametrize("name", doiuri.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(doiuri, name) is not None
    assert name in dir(doiuri)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = doiuri.nonsense


def test_version_is_the_distribution_s() -> None:
    assert doiuri.__version__ == version("doiuri")


def loaded(program: str) -> set[str]:
    """The modules that a program adds to those of a bare interpreter."""
    code = f"import sys; before = {{*sys.modules}}\n{program}\nprint(*sorted({{*sys.modules}} - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_codec_loads_nothing_else() -> None:
    """Start-up stays fast: reading and writing a plain DOI needs seven small modules."""
    assert loaded("from doiuri import DOI; DOI.parse('doi:10.1000/182').url") == {
        "doiuri", "doiuri._doi", "doiuri._encoding", "doiuri._errors",
        "doiuri._names", "doiuri._parse", "doiuri._urls",
    }  # fmt: skip


def test_the_check_above_sees_modules() -> None:
    assert "doiuri._advice" in loaded("from doiuri import advise")


def test_the_strategies_say_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import doiuri.testing.strategies"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'doiuri[testing]'" in run.stderr


def test_answers_from_the_store_need_no_http_client() -> None:
    """Hooks, and builds whose answers are all stored, start fast."""
    program = (
        "from doiuri.resolver import Resolver\n"
        "with Resolver(store=':memory:', offline=True) as resolver:\n"
        "    assert next(resolver.check(['10.1000/182'])).status == 'unknown'"
    )
    assert loaded(program).isdisjoint({"requests", "urllib3", "platformdirs"})


@pytest.mark.parametrize("missing", ["requests", "platformdirs"])
@pytest.mark.parametrize(
    "program",
    [
        "import doiuri.resolver",
        "from doiuri.resolver import Resolver",
        "from doiuri.plugins import open_resolver, options; open_resolver(options.Options.read({}), 'doiuri')",
    ],
)
def test_the_resolver_says_what_to_install(program: str, missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None\n{program}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = (
        f'ModuleNotFoundError: doiuri.resolver needs {missing}: pip install "doiuri[resolver]"'
    )
    assert run.stderr.splitlines()[-1] == message


def test_citations_say_what_to_install() -> None:
    code = "import sys; sys.modules['doiuri_csl'] = None\nimport doiuri.citations"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = (
        'ModuleNotFoundError: doiuri.citations needs doiuri-csl: pip install "doiuri[citations]"'
    )
    assert run.stderr.splitlines()[-1] == message


def test_a_card_of_a_retracted_work_needs_no_extra() -> None:
    code = (
        "import sys; sys.modules['doiuri_csl'] = None\n"
        "from doiuri.plugins.display import details_of\n"
        "from doiuri.works import Work\n"
        "work = Work('id', {'title': 'T', 'updated-by': [{'type': 'retraction', 'DOI': '10.5555/n'}]})\n"
        "print(details_of(work).mark)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "[retracted]\n", run.stderr


def test_the_core_needs_the_standard_library_only() -> None:
    """``-S`` leaves out site-packages, so that nothing else is installed."""
    program = (
        f"import sys; sys.path.append({str(Path(doiuri.__file__).parents[1])!r})\n"
        "import doiuri, doiuri.plugins, doiuri.records, doiuri.rest, doiuri.works\n"
        "assert all(getattr(doiuri, name) for name in doiuri.__all__ if name != '__version__')\n"
        "try:\n    import doiuri.resolver\nexcept ImportError as error:\n    print(error.name, error)"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == 'requests doiuri.resolver needs requests: pip install "doiuri[resolver]"\n'
