"""The audit's files: audit.json, audit.md and index.html."""

from pathlib import Path

from ...errors import DataError, StorageError
from ...storage import read_json, write_text
from .build import SCHEMA
from .contents import Audit
from .markdown import render_markdown
from .page import render_page

JSON, MARKDOWN, PAGE = "audit.json", "audit.md", "index.html"


def check_folder(out: Path) -> None:
    """Refuse a folder whose files an audit would overwrite without being an audit's; to be asked before anything is measured.

    Raises:
        DataError: it is a file, or holds files of these names that no audit wrote.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"--out {out}: is a file; name a folder")
    taken = [name for name in (JSON, MARKDOWN, PAGE) if (out / name).exists()]
    if taken and not _is_audit(out / JSON):
        raise DataError(
            f"--out {out}: holds {', '.join(taken)}, which no audit wrote; name another folder, nothing is overwritten"
        )


def write_audit(audit: Audit, out: Path) -> None:
    """Write the three files; an earlier audit's are replaced, other files stay."""
    check_folder(out)
    write_text(out / JSON, audit.model_dump_json(indent=2) + "\n")
    write_text(out / MARKDOWN, render_markdown(audit))
    write_text(out / PAGE, render_page(audit))


def _is_audit(path: Path) -> bool:
    try:
        found = read_json(path)
    except (StorageError, DataError):
        return False
    return isinstance(found, dict) and found.get("schema_name") == SCHEMA
