"""Cases that several packages run: those in tests/cases, and some about HTTP."""

import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "cases"


def table(file: str, group: str, arguments: str) -> pytest.MarkDecorator:
    """Run a test for each row of a group in ``tests/cases/{file}.json``; an object's keys name its rows."""
    rows = json.loads((DATA / f"{file}.json").read_text("utf-8"))[group]
    named = rows if isinstance(rows, dict) else {ascii(row)[1:-1][:80]: row for row in rows}
    return pytest.mark.parametrize(
        arguments, [pytest.param(*row, id=name) for name, row in named.items()]
    )


# Names that HTTP clients may change, each with what they would change it to
ODD_NAMES = [
    *("10.1000/182", "10.1000/456#789", "10.1000/x#", "10.1000/a?b=c", "10.1000/50%25off"),
    *(
        "10.1000/überblick",
        "10.1000/a\u0301",
        "10.1000/á",
        "10.1000/../x",
        "10.1000/x",
        "10.1000//x",
    ),
    *(
        "10.1000/./x",
        "10.1000/..",
        "10.1000/.",
        "10.1000/x/",
        "10.1000/x//",
        "10.1000/a b",
        "10.1000/a+b",
    ),
    *("10.1000/abc(2)", "10.1000/%2Fx", "10.1000/a;b&c=d,e@f:g"),
    "10.1002/(SICI)1521-3951(199911)216:1<135::AID-PSSB135>3.0.CO;2-#",
    *(
        "10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03",
        "10.1000/日本語",
        "10.1000/a😀b",
        "10.1000/~x!$&'()*+,;=:@",
    ),
]
# Texts that are not doi: URIs, the position of the error (from 0), and the repaired form.
NO_URIS = [
    ("doi:10.1000/456#789", 15, "doi:10.1000/456%23789"),
    ("doi:10.1000/x#", 13, "doi:10.1000/x%23"),
    ("doi:10.1000/x##", 13, "doi:10.1000/x%23%23"),
    ("doi:10.1000/a#b#c", 13, "doi:10.1000/a%23b%23c"),
    ("doi:10.1000/a?b=c", 13, "doi:10.1000/a%3Fb%3Dc"),
    ("doi:10.1000/x?", 13, "doi:10.1000/x%3F"),
    ("doi:10.1000/a b", 13, "doi:10.1000/a%20b"),
    ("doi:10.1000/überblick", 12, "doi:10.1000/%C3%BCberblick"),
    ("doi: 10.1000/x", 4, "doi:10.1000/x"),
    ("doi:10.1000/a<b>c", 13, "doi:10.1000/a%3Cb%3Ec"),
    ("doi:10.1000/a\nb", 13, None),
    ("doi:10.1000/a\r\nX-Header:b", 13, None),
    ("doi:10.1000/%zz", 12, None),
    ("doi:10.1000/%ff", 12, None),
    ("doi:10.1000/%0a", 12, None),
    ("doi://10.1000/x", 4, "doi:10.1000/x"),
    ("doi:///10.1000/x", 4, None),
    ("doi:/10.1000/x", 4, None),
    ("doi:10.1000", 11, None),
    ("doi:10.1000/", 12, None),
    ("doi:10/p54k", 4, None),
    ("doi:", 4, None),
    ("doi:doi:10.1000/x", 4, None),
    ("doi:10.١٢٣/x", 7, None),
]


@dataclass(frozen=True)
class Case:
    """One text and what a door of ``DOI`` makes of it; ``name`` is None where it is refused."""

    door: str
    input: str
    name: str | None = None
    uri: str = ""
    url: str = ""
    position: int | None = None
    strict: bool = False
    hosts: list[str] | None = None

    def __str__(self) -> str:
        return ascii(f"{self.door} {self.input[:60]}")


def cases(*doors: str) -> list[Case]:
    """Return the cases for these doors, or all of them."""
    entries = json.loads((DATA / "doi.json").read_text(encoding="utf-8"))["cases"]
    return [case_of(entry) for entry in entries if not doors or entry["door"] in doors]


def case_of(entry: dict[str, Any]) -> Case:
    """Return the case of an entry, which may also have members for people, such as a note."""
    members = {field.name for field in fields(Case)}
    return Case(**{name: entry[name] for name in members & entry.keys()})


def accepted(*doors: str) -> list[Case]:
    """Return the cases that are DOIs."""
    return [case for case in cases(*doors) if case.name is not None]


def odd_cases(*doors: str) -> list[Case]:
    """Return a case for each name that a host may change, and for three plain ones.

    They stand for all cases where a package only hands DOIs on to the core, which runs all of them.
    """
    odd: dict[str, Case] = {}
    plain: dict[str, Case] = {}
    for case in accepted(*doors):
        name = str(case.name)
        (odd if re.search(r"[^A-Za-z0-9./_-]", name) else plain).setdefault(name, case)
    return [*odd.values(), *[*plain.values()][:3]]
