"""Small audits: document sets whose words tell their value, and summaries of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.input import AuditedSystem, AuditInput
from evenhand.evaluation.audit.shares import Taken, ValueShares
from evenhand.fairness.groups.masses import Masses
from evenhand.fairness.groups.taste import Credit, read_source
from evenhand.judges.measures.words import open_word_matcher
from evenhand.judges.shared import SharedModels
from evenhand.records import Document, DocumentSet

ATTRIBUTE = "stance"
WORDS = open_word_matcher(MatcherSection(kind="words"), SharedModels())


def make_set(name: str, *documents: tuple[str, str], **keys: object) -> DocumentSet:
    """A set of (value, text) documents."""
    made = tuple(
        Document(id=f"{name}/{place}", text=text, attributes={ATTRIBUTE: value})
        for place, (value, text) in enumerate(documents)
    )
    return DocumentSet(id=name, documents=made, **keys)


def make_input(sets: list[DocumentSet], **systems: list[str | None]) -> AuditInput:
    """An audit's input: of each system one summary a set, None for none."""
    values = tuple(dict.fromkeys(value for each in sets for value in each.values(ATTRIBUTE)))
    return AuditInput(
        sets=tuple(sets),
        attribute=ATTRIBUTE,
        values=values,
        declared=(values,) * len(sets),
        systems=tuple(
            AuditedSystem(label, f"{label}.jsonl", "0" * 16, _by_set(sets, texts)) for label, texts in systems.items()
        ),
        documents="docs.jsonl",
        documents_digest="1" * 16,
        n_not_drawn=0,
    )


def shares_of(values, matcher=WORDS, mode="drop_zero", tau=0.8, target="ratio") -> ValueShares:
    """The family of shares, by words."""
    return ValueShares(matcher, WORDS, ATTRIBUTE, tuple(values), mode, tau, target)


def taken(masses: Masses) -> Taken:
    """What the family of shares finds of a summary of which the masses alone are known."""
    return Taken(masses, Credit(read_source([], str.split), np.zeros(0), 0), (), ())


def two_sided(n: int) -> list[DocumentSet]:
    """Sets with two documents of the left and one of the right: four words and two, and a number, as equal sets are one."""
    return [
        make_set(f"set-{k}", ("left", f"apple berry {k}"), ("left", f"cherry grape {k}"), ("right", f"river stone {k}"))
        for k in range(n)
    ]


def write_sets(path: Path, sets: list[DocumentSet]) -> Path:
    """The sets as evenhand's JSON lines."""
    path.write_text("".join(each.model_dump_json() + "\n" for each in sets), encoding="utf-8")
    return path


def write_summaries(path: Path, texts: dict[str, str]) -> Path:
    """Summaries by set id."""
    lines = (json.dumps({"id": name, "summary": text}, ensure_ascii=False) + "\n" for name, text in texts.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _by_set(sets: list[DocumentSet], texts: list[str | None]) -> dict[str, str]:
    return {each.id: text for each, text in zip(sets, texts, strict=True) if text is not None}


def listed_words(**keys):
    """The family of listed words, where its plug-in is; else the test is skipped."""
    family = pytest.importorskip("evenhand.plugins.bias.word_list_family")
    lists = pytest.importorskip("evenhand.plugins.bias.demographic.word_lists")
    return family.ListedWords(lists.WordLists(**keys))
