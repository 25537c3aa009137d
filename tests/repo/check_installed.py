"""Check in a clean environment that the package named on the command line is complete in its archive."""

from __future__ import annotations

import importlib
import re
import sys
from importlib import metadata, resources

module = sys.argv[1]
distribution = metadata.distribution(module.replace("_", "-"))
files = [str(file) for file in distribution.files or ()]
requirements = distribution.requires or []

imported = importlib.import_module(module)
assert resources.files(module).joinpath("py.typed").is_file(), "no py.typed"
assert any(re.search(r"dist-info/licenses/LICENSE$", file) for file in files), "no licence"
assert distribution.metadata["License-Expression"] == "MIT", "the licence is not MIT"
assert len((distribution.read_text("METADATA") or "").splitlines()) >= 40, (
    "the README is less than a screenful"
)
loose = [
    text
    for text in requirements
    if not re.search(r"[<>~=]", text) and not text.startswith("doiuri[")
]
assert not loose, f"dependencies without a range: {loose}"
for entry in distribution.entry_points:
    if entry.group not in {"pytest11", "mkdocs.plugins"}:  # pytest and MkDocs are no dependencies
        entry.load()
if module == "doiuri_proxy":
    from urllib.request import urlopen

    with imported.running() as proxy, urlopen(f"{proxy.url}/") as page:
        assert b"<h1>Resolve a DOI Name</h1>" in page.read(), "no templates"
print(f"{distribution.name} {distribution.version} is whole")
