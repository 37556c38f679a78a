"""The audit's files: audit.json, audit.md, index.html and its tables."""

import os
from pathlib import Path

from ...errors import DataError, StorageError
from ...storage import read_json, write_text
from ..pages.write import PAGE, TABLES, write_page
from .contents import SCHEMA, Audit
from .input import AuditInput
from .page import page

JSON, MARKDOWN = "audit.json", "audit.md"


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written, or whose files no audit wrote; to be asked before anything is measured.

    Raises:
        DataError: it or what it should stand in is a file or cannot be written, or it holds files of these names that no audit
            wrote.
    """
    nearest = next(place for place in (out, *out.absolute().parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise DataError(f"--out {out}: {'' if nearest == out else f'{nearest} '}is not a folder; name a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError(f"--out {out}: {nearest} cannot be written; name another folder, or mend its rights")
    taken = [name for name in (JSON, MARKDOWN, PAGE, TABLES) if (out / name).exists()]
    if taken and not _is_audit(out / JSON):
        raise DataError(
            f"--out {out}: holds {', '.join(taken)}, which no audit wrote; name another folder, nothing is overwritten"
        )


def replaced(out: Path, given: AuditInput) -> str:
    """A sentence on the earlier audit whose files will be replaced; "" without one, and for the same documents and systems.

    Args:
        out: a folder that `check_folder` allows.
        given: what is audited now.
    """
    if not (out / JSON).exists():
        return ""
    found = read_json(out / JSON)
    systems = [(each["label"], each["digest"]) for each in found["systems"]]
    same = (given.documents_digest, given.attribute, [(each.label, each.digest) for each in given.systems])
    if (found["documents_digest"], found["attribute"], systems) == same:
        return ""
    labels = ", ".join(label for label, _ in systems)
    return f"{out} holds the audit of {labels} on {found['documents']}, by {found['attribute']}; it will be replaced."


def write_audit(audit: Audit, out: Path) -> None:
    """Write the files; an earlier audit's are replaced, other files stay.

    Raises:
        DataError: as `check_folder`, and when the files cannot be written after all.
    """
    check_folder(out)
    try:
        is_ours = (out / JSON).exists()
        write_text(out / JSON, audit.model_dump_json(indent=2) + "\n")
        write_page(page(audit), out, MARKDOWN, is_ours=is_ours)
    except StorageError as error:
        reason = getattr(error.__cause__, "strerror", None) or error
        raise DataError(f"--out {out}: cannot be written: {reason}; make room, or name another folder") from error


def _is_audit(path: Path) -> bool:
    try:
        found = read_json(path)
    except (StorageError, DataError):
        return False
    return isinstance(found, dict) and found.get("schema_name") == SCHEMA
