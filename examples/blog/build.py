"""Render each post beside this file to an HTML page: ``python build.py OUTPUT_FOLDER``."""

import sys
from pathlib import Path

import markdown

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ max-width: 42rem; margin: 3rem auto; padding: 0 1rem; font: 1.1rem/1.6 serif; }}
  a.doi {{ overflow-wrap: anywhere; }}
</style>
{body}
</html>
"""


def main(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for post in sorted(Path(__file__).parent.glob("*.md")):
        text = post.read_text(encoding="utf-8")
        configs = {"doiuri": {"file": post.name}}
        body = markdown.markdown(text, extensions=["doiuri"], extension_configs=configs)
        title = text.splitlines()[0].removeprefix("# ")
        (output / f"{post.stem}.html").write_text(
            PAGE.format(title=title, body=body), encoding="utf-8"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
