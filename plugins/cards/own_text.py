"""What the publisher writes in a card may be any Markdown that ends where its section ends: what stands below stays in sight.

The text is read with a heading below it, by the rules of CommonMark, which the hub follows: that heading has to come out again.
"""

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

BELOW = "## below"
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
# ends where browsers end it
COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)


class _Elements(HTMLParser):
    """Names of the elements in HTML, and of those that are open at its end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.feed(COMMENT.sub("", text))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    # in HTML a slash before the bracket ends no element
    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open.remove(tag)


def mistake(text: str) -> str:
    """What is wrong with the text of a section and how to mend it; "" where it leaves the sections below alone."""
    lines = f"{text}\n\n{BELOW}".split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(lines))
    elements = _Elements("".join(_html(tokens)))
    headings = [token for token in tokens if token.type == "heading_open" and token.tag in ("h1", "h2")]
    if elements.open or not headings or headings[-1].map != [len(lines) - 1, len(lines)]:
        return (
            "a comment, a block of code or an HTML element is not closed, which hides the sections below; close it with -->, "
            "``` or ~~~, and write code between such lines"
        )
    if len(headings) > 1 or elements.names & {"h1", "h2"}:
        return (
            "a heading is of the first or second level (#, ##, a line below it, or HTML), which ends the section; write ### "
            "there"
        )
    return ""


def _html(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("html_block", "html_inline"):
            yield token.content
        yield from _html(token.children or ())
