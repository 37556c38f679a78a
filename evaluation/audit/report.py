"""The audit's folder: audit.json, audit.md, index.html and its tables."""

from pathlib import Path
from typing import Any

from ...text.formats import called
from ..pages.folder import Content, Result, calls_itself
from ..pages.words import joined
from .contents import SCHEMA, Audit
from .input import AuditInput
from .page import page


def _named(content: Content) -> str:
    try:
        labels = ", ".join(system["label"] for system in content["systems"])
        attributes = joined([part["attribute"] for part in (content, *content.get("others", ()))])
        named = f"the audit of {labels} on {content['documents']}, by {attributes}"
    except (KeyError, TypeError):
        # of a version whose files had other keys
        named = "an earlier audit"
    return named if called(content) == SCHEMA else f"{named}, in the format {called(content)}{_maker(content)}"


def _maker(content: Content) -> str:
    versions = content.get("versions")
    by = versions.get("evenhand") if isinstance(versions, dict) else None
    return f" of evenhand {by}" if by else ""


def _key(content: Content) -> Any:
    if called(content) != SCHEMA:
        # a page of another version is not the same again
        return called(content)
    systems = [(system["label"], system["digest"]) for system in content["systems"]]
    by = [(part["attribute"], part.get("groups", "")) for part in (content, *content.get("others", ()))]
    return content["documents_digest"], by, systems


AUDIT = Result(
    "audit",
    "audit.json",
    "audit.md",
    is_ours=calls_itself("evenhand-audit"),
    named=_named,
    key=_key,
)


def key_of(corpus: AuditInput) -> Any:
    """What makes an audit of the same again: documents, attributes, groups and systems."""
    systems = [(system.label, system.digest) for system in corpus.systems]
    by = [(part.attribute, part.groups) for part in (corpus, *corpus.others)]
    return corpus.documents_digest, by, systems


def write_audit(audit: Audit, out: Path) -> None:
    """Write the files; an earlier audit's are replaced, other files stay.

    Raises:
        DataError: the folder is refused, or the files cannot be written after all.
    """
    AUDIT.write(out, audit, page(audit), {})
