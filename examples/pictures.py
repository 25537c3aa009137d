"""Make the pictures of the README and the manual: Chromium's view of the demo's pages, diagrams, and badges.

``nox -s pictures`` runs the demo first. Graphviz (``dot``) draws the diagrams from the ``.dot`` files beside
them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from support.devtools import Page, browsing
from support.programs import needs

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "build" / "demo"
PICTURES = ROOT / "docs" / "pictures"


class Shot(NamedTuple):
    """A part of a page: what the mouse points at, and the elements that the picture shows."""

    page: str
    shown: str
    hover: str | None = None
    width: int = 480
    margin: int = 24
    schemes: tuple[str, ...] = ("light", "dark")


SHOTS = {
    "paper": Shot("site/paper.html", "h1, h1 ~ p, .doi-card", hover=".doi-citation:last-of-type a"),
    "references": Shot("site/references.html", "h1, ul.doi-bibliography"),
    "blog": Shot("blog/2026-02-02-cite-by-doi.html", "body", schemes=("light",)),
}

# Not part of the text; of the references, the picture shows four.
HIDDEN = (
    ".headerlink, .theme-toggle-container, .content-icon-container,"
    " .doi-bibliography > li:nth-child(n+5) { display: none !important }"
)
# Text colours in a dark scheme, for a background that is dark, too
DARK = """@media (prefers-color-scheme: dark) {
  text { fill: #e6e6e6 } path, polygon, ellipse { stroke: #9a9a9a }
  polygon[fill="#f3f6fa"], path[fill="#f3f6fa"], ellipse[fill="#f3f6fa"] { fill: #202a36 }
  polygon[fill="#777777"] { fill: #9a9a9a }
}"""


def shoot(page: Page, name: str, shot: Shot, scheme: str) -> None:
    """Save ``docs/pictures/NAME-SCHEME.webp``."""
    page.open(DEMO / shot.page, width=shot.width, prefers_color_scheme=scheme)
    page.run(f"document.head.appendChild(document.createElement('style')).textContent = '{HIDDEN}'")
    if shot.hover:
        page.hover(shot.hover)
        page.wait(
            "[...document.querySelectorAll('.doi-card')].some(card => card.checkVisibility())"
        )
    clip = page.run(
        f"""(() => {{
          const boxes = [...document.querySelectorAll({shot.shown!r})].map(e => e.getBoundingClientRect())
            .filter(box => box.width);
          const edge = (pick, side) => pick(...boxes.map(box => box[side]));
          const left = Math.max(0, edge(Math.min, 'left') - {shot.margin});
          const top = Math.max(0, edge(Math.min, 'top') - {shot.margin});
          return {{
            x: left, y: top,
            width: Math.min(innerWidth, edge(Math.max, 'right') + {shot.margin}) - left,
            height: edge(Math.max, 'bottom') + {shot.margin} - top,
          }};
        }})()"""
    )
    options = {"format": "webp", "quality": 80, "captureBeyondViewport": True}
    page.picture(PICTURES / f"{name}-{scheme}.webp", clip={**clip, "scale": 2}, **options)


def badge(name: str, label: str, value: str) -> None:
    """Save a badge: a label and a value, about as wide as their letters."""
    left = round(len(label) * 6.6) + 12
    right = round(len(value) * 6.6) + 12
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {value}"><rect width="{left}" height="20" rx="3" fill="#444d56"/>'
        f'<rect x="{left - 3}" width="{right + 3}" height="20" rx="3" fill="#0b62a4"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{label}</text>'
        f'<text x="{left + right / 2:g}" y="14">{value}</text>'
        "</g></svg>\n"
    )
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def badges() -> None:
    """Save a badge for each thing that the core's metadata says."""
    path = ROOT / "packages" / "doiuri" / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    words = [text.rpartition(" :: ")[2] for text in project["classifiers"]]
    badge("python", "Python", project["requires-python"].removeprefix(">=").strip() + "+")
    badge("licence", "licence", project["license"])
    if "Typed" in words:
        badge("typed", "types", "mypy strict")


def draw(source: Path) -> None:
    """Save the diagram of a ``.dot`` file as SVG; it follows the reader's colour scheme."""
    svg = subprocess.run(
        [needs("dot"), "-Tsvg", str(source)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)  # Graphviz' version
    svg = re.sub(r"(<svg [^>]*>)", rf"\1<style>{DARK}</style>", svg, count=1)
    source.with_suffix(".svg").write_text(svg, encoding="utf-8")


def main() -> None:
    named = sys.argv[1:]
    badges()
    for source in sorted(PICTURES.glob("*.dot")):
        if not named or source.stem in named:
            draw(source)
    with browsing() as page:
        for name, shot in SHOTS.items():
            for scheme in shot.schemes:
                if not named or name in named:
                    shoot(page, name, shot, scheme)


if __name__ == "__main__":
    main()
