"""The audit's folder: audit.json, audit.md, index.html and its tables."""

from pathlib import Path
from typing import Any

from ..pages.folder import Content, Result
from .build import SCHEMA
from .contents import Audit
from .input import AuditInput
from .page import page


def _of(found: Content) -> str:
    labels = ", ".join(each["label"] for each in found["systems"])
    return f"{labels} on {found['documents']}, by {found['attribute']}"


def _key(found: Content) -> Any:
    systems = [(each["label"], each["digest"]) for each in found["systems"]]
    return found["documents_digest"], found["attribute"], systems


AUDIT = Result(
    "audit",
    "audit.json",
    "audit.md",
    is_ours=lambda found: found.get("schema_name") == SCHEMA,
    of=_of,
    key=_key,
)


def replaced(out: Path, given: AuditInput) -> str:
    """A sentence on the earlier audit whose files will be replaced; "" without one, and for the same documents and systems."""
    systems = [(each.label, each.digest) for each in given.systems]
    return AUDIT.replaced(out, (given.documents_digest, given.attribute, systems))


def write_audit(audit: Audit, out: Path) -> None:
    """Write the files; an earlier audit's are replaced, other files stay.

    Raises:
        DataError: the folder is refused, or the files cannot be written after all.
    """
    AUDIT.write(out, audit, page(audit), {})
