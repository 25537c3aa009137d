"""Build a Sphinx project and a MkDocs site and check a paper, with the packages that are installed.

Run it in an environment with the built packages: it imports nothing from the checkout but the example records.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import doiuri
from doiuri_proxy import running

RECORDS = Path(__file__).parents[2] / "examples" / "records.json"
DEAD = "10.1177/5555555555555555"
FILES = {
    "docs/conf.py": 'extensions = ["sphinx_doiuri"]\n',
    "docs/index.rst": f"Page\n====\n\n:doi:`10.1000/182`, :doi:`{DEAD}`, :doi:p:`10.17487/RFC3986`.\n\n"
    ".. doi:bibliography::\n",
    "mkdocs.yml": "site_name: Site\ndocs_dir: pages\nplugins: [doiuri]\n",
    "pages/index.md": f"# Page\n\ndoi:10.1000/182, doi:{DEAD}, [@doi:10.17487/RFC3986].\n",
    "paper/paper.bib": "@article{bak,\n  title = {Self-organized criticality},\n"
    "  doi = {https://doi.org/10.1103/PhysRevLett.59.381}\n}\n"
    f"@article{{dead,\n  title = {{No such paper}},\n  doi = {{{DEAD}}}\n}}\n",
}
PAGES = ["docs/_build/index.html", "site/index.html"]
SHOWN = [
    'href="https://doi.org/10.1000/182"',
    "doi-not-found",
    "Uniform Resource Identifier (URI): Generic Syntax",
]
FINDINGS = {"paper/paper.bib:3:10: warning[field-form]", "paper/paper.bib:7:10: error[not-found]"}


def run(*command: str, expected: int = 0) -> str:
    """Run a module of this Python, and return what it printed."""
    words = [sys.executable, "-m", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def main() -> None:
    assert "site-packages" in str(doiuri.__file__), f"not an installed package: {doiuri.__file__}"
    with TemporaryDirectory() as folder, running(RECORDS) as proxy:
        os.environ |= {"DOIURI_RESOLVER": proxy.url, "DOIURI_CACHE": ":memory:"}
        os.chdir(folder)
        for name, text in FILES.items():
            path = Path(name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

        run("sphinx", "-q", "docs", "docs/_build")
        run("mkdocs", "build", "-q")
        findings = run("doiuri_cli", "check", "-o", "concise", "paper", expected=1)

        for name in PAGES:
            page = Path(name).read_text(encoding="utf-8")
            missing = [text for text in SHOWN if text not in page]
            assert not missing, f"{name} lacks {missing}"
        codes = {line.partition("]")[0] + "]" for line in findings.splitlines()}
        assert codes == FINDINGS, findings
    print("The built packages work in Sphinx, in MkDocs and on a paper")


main()
