"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from collections import Counter
from pathlib import Path
from typing import Any

from audit_inputs import make_input, make_set
from bad_input.good_files import Given, written
from browsing import EVIL

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import Page
from evenhand.judges.measures import open_entailer
from evenhand.plugins.consultations.family import GroupApproval
from evenhand.plugins.consultations.said import votes_of
from evenhand.plugins.consultations.votes import read_votes

VOTE = {"set_id": "fares", "document": "0", "voter": "1", "group": "town", "vote": 1}


def _votes(folder: Path) -> Given:
    path = written(folder / "votes.jsonl", VOTE, VOTE | {"voter": "2", "group": None, "vote": 0})
    return Given(path, "jsonl", read=lambda: read_votes(path, Counter()))


FILES = {"votes": _votes}


def missing(run: Any, folder: Path) -> Page:
    """Of a single consultation the first page says who is missing."""
    texts = (EVIL, "Lower the fares.", "Build trams.", f"Keep {EVIL} out of town.")
    documents = make_set("fares", *(("left" if k % 2 else "right", text) for k, text in enumerate(texts)))
    sizes = {"town": 5, f"country {EVIL}": 7}
    lines = [
        VOTE | {"document": f"fares/{k}", "voter": f"{group}{v}", "group": group, "vote": 1 if (v + k) % 3 else -1}
        for group, size in sizes.items()
        for v in range(size)
        for k in range(len(texts))
    ]
    votes = votes_of([documents], written(folder / "votes.jsonl", *lines), "all")
    audited = make_input([documents], **{EVIL: ["Lower the fares."], "mine": [f"Build trams. {EVIL}"]})
    entailer = open_entailer(EntailerSection(kind="words"))
    return page(
        build_audit(audited, AuditPlan(), [GroupApproval(entailer, votes, "all", "1" * 16, AuditPlan().bootstrap)])
    )


PAGES = {"missing": missing}
