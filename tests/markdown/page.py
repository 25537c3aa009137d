"""The content of a page, read with the standard library's parser."""

from html.parser import HTMLParser

from doiuri import DOI


class Page(HTMLParser):
    """The links of an HTML page, as (href, class, text), and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.text = ""
        self._open: tuple[str, str, int] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            given = dict(attrs)
            self._open = given.get("href") or "", given.get("class") or "", len(self.text)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open:
            href, css_class, start = self._open
            self.links.append((href, css_class, self.text[start:]))
            self._open = None

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def dois(self) -> list[DOI]:
        """The DOIs of the links that the extension made."""
        return [DOI.from_url(href) for href, css_class, _ in self.links if "doi" in css_class.split()]
