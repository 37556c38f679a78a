"""The annotation page: one file of HTML that needs nothing else, with everything from data escaped.

The policy in its head lets only our own script and style run, known by their digests, and lets nothing be fetched.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...errors import DataError
from ...storage import read_json, read_text, write_json, write_text
from ..pages.html import page_environment
from .key import PageKey, parse_key
from .sheet import AnnotationSheet

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("spans.js", "marks.js", "selection.js", "view.js", "keeping.js", "page.js")
# what could end the element that the data stand in, or a line of script
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def write_page(path: Path, sheet: AnnotationSheet, key: PageKey) -> tuple[Path, Path]:
    """Write the page, and beside it the key (`.key.json`) and the blank sheet (`.json`); the paths of these two.

    Raises:
        StorageError: a file cannot be read or written.
        DataError: the path is none of HTML, or the key of another page lies there, without which that page cannot be scored.
    """
    if path.suffix.lower() != ".html":
        raise DataError(f"{path}: the page is HTML; name a file that ends in .html")
    key_path, blank_path = path.with_suffix(".key.json"), path.with_suffix(".json")
    _refuse_other_page(key_path, key)
    write_text(path, render_page(sheet))
    write_json(key_path, key.model_dump(mode="json"))
    write_json(blank_path, sheet.model_dump(mode="json"))
    return key_path, blank_path


def _refuse_other_page(path: Path, key: PageKey) -> None:
    if not path.exists():
        return
    found = parse_key(path, read_json(path))
    if (found.page, found.letters) != (key.page, key.letters):
        raise DataError(
            f"{path}: is the key of another page ({found.page}), whose sheets cannot be scored without it; name another --out, "
            f"or make that page again with --seed {found.seed}"
        )


def render_page(sheet: AnnotationSheet) -> str:
    """The page that shows a sheet's items and starts from its marks."""
    environment = page_environment(TEMPLATES)
    style = read_text(TEMPLATES / "page.css")
    script = "\n".join(read_text(TEMPLATES / name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        n_items=len(sheet.items),
        policy=(
            f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        # our own files, and JSON in which nothing is left that HTML or script could take for its own
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        data=Markup(embedded_json(sheet.model_dump(mode="json"))),  # noqa: S704
    )


def embedded_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever its texts hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(ESCAPES)


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
