"""A page as one self-contained file: no script, nothing fetched, everything from data escaped, its control characters, too."""

import re
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ...text.controls import visible
from . import numbers, words
from .blocks import Block, Overview, Page
from .cells import Cell
from .svg import drawings

COMMAND = re.compile("`(evenhand [^`]+)`")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
TEMPLATES = Path(__file__).parent / "templates"


def render(page: Page, first_name: str = "index.html") -> str:
    """The page with everything that it has, as HTML; of a page with an overview the second one, which leads to the first."""
    return visible(_environment().get_template("page.html.j2").render(page=page, first_name=first_name, style=_style()))


def overview(page: Page, first: Overview, details: str = "details.html", tables: str = "tables") -> str:
    """The first page as HTML: a sentence, a picture, cautions and examples, with a link to the second one."""
    # what is not escaped is our own: the style, and pictures, whose texts are
    drawn = {name: Markup(svg) for name, svg in drawings(first.picture).items()} if first.picture else {}  # noqa: S704
    template = _environment().get_template("overview.html.j2")
    return visible(
        template.render(page=page, first=first, drawings=drawn, details=details, tables=tables, style=_style())
    )


def _style() -> Markup:
    files = (TEMPLATES / name for name in ("picture.css", "page.css"))
    return Markup("\n".join(path.read_text(encoding="utf-8") for path in files))  # noqa: S704


def fragment(blocks: Iterable[Block]) -> str:
    """Some blocks without a page around them, for a notebook."""
    template = _environment().from_string("{% for each in blocks %}{{ write(each) }}{% endfor %}")
    return visible(template.render(blocks=list(blocks)))


def _environment() -> Environment:
    environment = page_environment()

    def write(block: Block | Cell) -> str:
        """A block or a cell by the macro that has the name of its class."""
        written: str = getattr(environment.get_template("blocks.html.j2").module, type(block).__name__)(block)
        return written

    environment.globals |= {"write": write, "marks": words.MARK_NAMES}
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
    environment.filters |= {"breakable": _breakable, "tick": _tick, "worded": _worded, "unbroken": _unbroken}
    return environment


def _breakable(text: str) -> Markup:
    """The escaped text with a place to break the line after each underscore."""
    return escape(text).replace("_", Markup("_<wbr>"))


def _worded(text: str) -> Markup:
    """The escaped text of a sentence: commands of ours, which stand in backticks, as code, and options never broken."""
    markup = COMMAND.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(OPTION.sub(r'<span class="option">\1</span>', markup))  # noqa: S704 (escaped above)


def _unbroken(text: str) -> str:
    """The text with numbers and their per cent on one line."""
    return text.replace(" %", "\u00a0%")


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", numbers.MINUS)
