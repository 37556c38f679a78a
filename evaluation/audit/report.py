"""The audit's folder: audit.json, audit.md, index.html and its tables."""

from pathlib import Path
from typing import Any

from ...text.formats import called
from ..pages.folder import Content, Result, calls_itself
from .contents import SCHEMA, Audit
from .input import AuditInput
from .page import page


def _named(found: Content) -> str:
    try:
        labels = ", ".join(each["label"] for each in found["systems"])
        named = f"the audit of {labels} on {found['documents']}, by {found['attribute']}"
    except (KeyError, TypeError):
        # of a version whose files had other keys
        named = "an earlier audit"
    return named if called(found) == SCHEMA else f"{named}, in the format {called(found)}{_maker(found)}"


def _maker(found: Content) -> str:
    versions = found.get("versions")
    by = versions.get("evenhand") if isinstance(versions, dict) else None
    return f" of evenhand {by}" if by else ""


def _key(found: Content) -> Any:
    if called(found) != SCHEMA:
        # a page of another version is not the same again
        return called(found)
    systems = [(each["label"], each["digest"]) for each in found["systems"]]
    return found["documents_digest"], found["attribute"], systems


AUDIT = Result(
    "audit",
    "audit.json",
    "audit.md",
    is_ours=calls_itself("evenhand-audit"),
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
