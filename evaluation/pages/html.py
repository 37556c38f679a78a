"""A page as one self-contained file: no script, nothing fetched, everything from data escaped."""

import re
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from . import numbers, words
from .blocks import Block, Cell, Page

COMMAND = re.compile("`(evenhand [^`]+)`")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
TEMPLATES = Path(__file__).parent / "templates"


def render(page: Page) -> str:
    """The page as HTML."""
    # the only text that is not escaped: our own file
    style = Markup((TEMPLATES / "page.css").read_text(encoding="utf-8"))  # noqa: S704
    return _environment().get_template("page.html.j2").render(page=page, style=style)


def fragment(blocks: Iterable[Block]) -> str:
    """Some blocks without a page around them, for a notebook."""
    template = _environment().from_string("{% for each in blocks %}{{ write(each) }}{% endfor %}")
    return template.render(blocks=list(blocks))


def _environment() -> Environment:
    environment = page_environment()

    def write(each: Block | Cell) -> str:
        """A block or a cell by the macro that has the name of its class."""
        written: str = getattr(environment.get_template("blocks.html.j2").module, type(each).__name__)(each)
        return written

    environment.globals |= {"write": write, "on_front": words.on_front, "marks": words.MARK_NAMES}
    return environment


def page_environment(folder: Path = TEMPLATES) -> Environment:
    """Jinja for pages: everything escaped, undefined names refused."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": _breakable, "tick": _tick, "worded": _worded}
    return environment


def _breakable(text: str) -> Markup:
    """The escaped text with a place to break the line after each underscore."""
    return escape(text).replace("_", Markup("_<wbr>"))


def _worded(text: str) -> Markup:
    """The escaped text of a sentence: commands of ours, which stand in backticks, as code, and options never broken."""
    found = COMMAND.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(OPTION.sub(r'<span class="option">\1</span>', found))  # noqa: S704 (escaped above)


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", numbers.MINUS)
