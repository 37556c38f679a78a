"""The audit's folder: audit.json, audit.md, index.html and its tables."""

from pathlib import Path
from typing import Any

from ..pages.folder import Content, Result
from .contents import SCHEMA, Audit
from .input import AuditInput
from .page import page


def _named(found: Content) -> str:
    labels = ", ".join(each["label"] for each in found["systems"])
    return f"the audit of {labels} on {found['documents']}, by {found['attribute']}"


def _key(found: Content) -> Any:
    systems = [(each["label"], each["digest"]) for each in found["systems"]]
    return found["documents_digest"], found["attribute"], systems


AUDIT = Result(
    "audit",
    "audit.json",
    "audit.md",
    is_ours=lambda found: found.get("schema_name") == SCHEMA,
    named=_named,
    key=_key,
)


def key_of(given: AuditInput) -> Any:
    """What makes an audit of the same again: documents, attribute and systems."""
    return given.documents_digest, given.attribute, [(each.label, each.digest) for each in given.systems]


def write_audit(audit: Audit, out: Path) -> None:
    """Write the files; an earlier audit's are replaced, other files stay.

    Raises:
        DataError: the folder is refused, or the files cannot be written after all.
    """
    AUDIT.write(out, audit, page(audit), {})
