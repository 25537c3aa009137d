"""JSON schemas are JavaScript's as much as Python's."""

from __future__ import annotations

import json
import re
import subprocess

from doiuri import DOI
from pydantic import TypeAdapter
from support.programs import needs

PROGRAM = """
const names = new RegExp(JSON.parse(process.argv[1]), "u");
const refused = [];
for (let code = 0; code < 0x110000; code++)
  if (!names.test("10.1/" + String.fromCodePoint(code))) refused.push(code);
const others = ["10.1000/1820\\n", "10.1/", "10./1", "11.1/1", "10..1/1", " 10.1/1", "10.1/😀"];
console.log(JSON.stringify([refused, others.map((name) => names.test(name))]));
"""


def test_node_accepts_the_names_that_python_accepts() -> None:
    pattern = TypeAdapter(DOI).json_schema()["pattern"]
    command = [needs("node"), "-e", PROGRAM, json.dumps(pattern)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    refused = [code for code in range(0x110000) if not re.search(pattern, f"10.1/{chr(code)}")]
    assert json.loads(run.stdout) == [refused, [False] * 6 + [True]]
