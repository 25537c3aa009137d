"""Mutation testing: change the code of one module or folder, and see whether its tests notice.

Works in a copy of the tree. Of each place that can be changed, one change is made, chosen at random.
A module is tested by the folder below tests/ that mirrors its own, without the folders that mirror others; of
tests/system, by the files named after a folder of the module, such as redis.

python tests/mutation/run.py packages/doiuri/src/doiuri/_find [--sample 30] [--seed N]
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import cosmic_ray.plugins
import parso
from cosmic_ray.commands import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from mutation.operators import Provider
from parso.python.tree import Function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cosmic_ray.work_item import MutationSpec
    from parso.tree import NodeOrLeaf

ROOT = Path(__file__).parents[2]
AREAS = {
    "doiuri": "core",
    "doiuri-cli": "cli",
    "doiuri-proxy": "proxy",
    "fsspec-doiuri": "filesystem",  # a folder of tests named fsspec would hide the library from mypy
} | dict.fromkeys(("urllib-doiuri", "requests-doiuri", "httpx-doiuri"), "clients")
NOT_COPIED = (".git", ".nox", ".venv", ".hypothesis", ".*_cache", "build", "dist")
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path, help="a module or folder below packages/")
    parser.add_argument("--sample", type=int, default=30, help="how many mutants; default 30")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--limit", type=float, help="seconds for one mutant; default 10 + 3 x unchanged")
    parser.add_argument("-k", default="", help="tests to run, such as 'not linear', as for pytest")
    options = parser.parse_args()
    path = (ROOT / options.path).resolve().relative_to(ROOT)
    cosmic_ray.plugins.OPERATOR_PROVIDERS["doiuri"] = Provider()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        with chdir(copy):
            chosen = sample(mutants(path), options.sample, options.seed)
            print(f"{path}: {len(chosen)} mutants, seed {options.seed}", flush=True)
            report(chosen, options.limit, [f"--hypothesis-seed={options.seed}", "-k", options.k])
    return 0


def report(chosen: list[MutationSpec], limit: float | None, options: Sequence[str]) -> None:
    """Test mutants in the current folder; print each survivor and the score."""
    # Found before the editable packages, which are those of the checkout
    sources = [str(source.resolve()) for source in Path().glob("packages/*/src")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sources)
    limits: dict[tuple[Path, ...], float] = {}
    counts: Counter[str] = Counter()
    for mutant in chosen:
        shutil.rmtree(".hypothesis", ignore_errors=True)  # its examples would help against the next mutant
        files = [*tests_of(mutant.module_path), *needing(mutant.module_path)]
        tests = shlex.join([*PYTEST, *options, *map(str, files)])
        key = tuple(sorted(files))
        if key not in limits:
            limits[key] = 10 + 3 * unchanged(tests)
        result = mutate_and_test([mutant], tests, limit or limits[key])
        outcome = (result.test_outcome or result.worker_outcome).value
        outcome = "timeout" if result.output == "timeout" else outcome
        counts[outcome] += 1
        print(f"{outcome}: {mutant.module_path}:{mutant.start_pos[0]} {mutant.operator_name}", flush=True)
        if outcome not in {"killed", "timeout"}:
            print(result.diff or result.output, flush=True)
    noticed = counts["killed"] + counts["timeout"]
    figures = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("killed", "survived", "timeout"))
    print(f"{figures}; score {noticed / len(chosen):.0%}")


def mutants(path: Path) -> list[MutationSpec]:
    """All mutations of a module or folder, except those of code that never runs."""
    modules = sorted(find_modules([path]))
    with tempfile.TemporaryDirectory() as folder, use_db(f"{folder}/db", WorkDB.Mode.create) as db:
        init(modules, db, {})
        found = [mutation for item in db.work_items for mutation in item.mutations]
    trees = {module: parso.parse(module.read_text(encoding="utf-8")) for module in modules}
    return [each for each in found if runs(trees[each.module_path].get_leaf_for_position(each.start_pos))]


def runs(node: NodeOrLeaf) -> bool:
    """Whether code is executed: neither an annotation nor for type checkers only."""
    parent = node.parent
    if parent is None:
        return True
    if isinstance(parent, Function):
        ignored = node is parent.annotation
    elif parent.type in {"annassign", "tfpdef"}:
        colon = next(place for place, child in enumerate(parent.children) if child.get_code().strip() == ":")
        ignored = node is parent.children[colon + 1]
    else:
        condition = {"if_stmt": "TYPE_CHECKING", "decorator": "overload"}.get(parent.type)
        ignored = condition is not None and condition in parent.children[1].get_code()
    return not ignored and runs(parent)


def sample(found: list[MutationSpec], size: int, seed: int) -> list[MutationSpec]:
    """``size`` mutants at different places, in the order of the files."""
    places: defaultdict[tuple[Path, tuple[int, int], tuple[int, int]], list[MutationSpec]] = defaultdict(list)
    for each in found:
        places[each.module_path, each.start_pos, each.end_pos].append(each)
    chance = random.Random(seed)
    chosen = chance.sample(sorted(places), min(size, len(places)))
    return [chance.choice(places[place]) for place in sorted(chosen)]


def tests_of(module: Path) -> list[Path]:
    """The tests of a module: those named after it first, which fail soonest."""
    _, package, _, _, *parts = module.parts
    folder = Path("tests") / AREAS.get(package, package.removesuffix("-doiuri"))
    for part in parts[:-1]:
        if (folder / part.strip("_")).is_dir():
            folder /= part.strip("_")
    others = {folder / path.name.strip("_") for path in module.parent.iterdir() if path.is_dir()}
    files = [file for file in folder.rglob("test_*.py") if others.isdisjoint(file.parents)]
    if not files:
        raise SystemExit(f"{folder} has no test_*.py")
    return sorted(files, key=lambda file: (module.stem.strip("_") not in file.stem, file))


def needing(module: Path) -> list[Path]:
    """The files of tests/system for a folder of the module, such as redis; they need programs."""
    names = {part.strip("_") for part in module.parts[5:-1]}
    return [path for name in sorted(names) for path in sorted(Path("tests/system").glob(f"test_{name}_*.py"))]


def unchanged(tests: str) -> float:
    """The seconds that tests take with unchanged code, with which they have to pass."""
    begin = time.monotonic()
    outcome, output = run_tests(tests, 1800)
    if outcome.value != "survived":
        raise SystemExit(f"fails without a mutation: {tests}\n{output}")
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
