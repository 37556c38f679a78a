"""What evenhand's own JSON files call themselves: under `format` a name and a version, "evenhand-audit/9".

A version is raised when a file of the one before could be misread. A file of another version, or of another kind, is refused by
whatever reads it, and never read as far as its keys go.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class FileFormat(NamedTuple):
    """A kind of file."""

    # in messages: "an audit"
    noun: str
    # what it is called in the folder of its command
    file: str
    # the command that writes it: "audit"
    verb: str
    # keys that files had in evenhand 0.1, where they did not say what they are
    unnamed: frozenset[str] = frozenset()


# by name, without the version
FORMATS = {
    "evenhand-audit": FileFormat("an audit", "audit.json", "audit"),
    "evenhand-report": FileFormat("a report", "report.json", "report"),
    "evenhand-comparison": FileFormat(
        "a comparison", "comparison.json", "compare", frozenset({"entries", "budgets", "tests"})
    ),
    "evenhand-bias-study": FileFormat("a bias study", "report.json", "bias-study"),
    "evenhand-judge-benchmark": FileFormat(
        "a benchmark of judges", "benchmark.json", "judges benchmark", frozenset({"signatures", "ties", "rows"})
    ),
    "evenhand-calibration": FileFormat("an audit of judges", "calibration.json", "judges audit"),
    "evenhand-judge-training": FileFormat(
        "a training of a judge", "training.json", "judges train", frozenset({"judge", "benchmark", "gaps", "penalties"})
    ),
    "evenhand-combined-judge": FileFormat("a trained judge", "judge.json", "judges train"),
    "evenhand-manifest": FileFormat("a manifest of a run", "manifest.json", "loop"),
}
# what audits, reports, comparisons said it under in earlier versions
EARLIER_KEY = "schema_name"


def called(content: Any) -> str:
    """What a JSON value calls itself: "evenhand-audit/9"; "" where it does not say."""
    if not isinstance(content, Mapping):
        return ""
    return str(content.get("format", content.get(EARLIER_KEY)) or "")


def is_called(content: Any, name: str) -> bool:
    """Whether a JSON value is a file of this name, in whatever version."""
    if told := called(content):
        return told.startswith(f"{name}/")
    unnamed = FORMATS[name].unnamed
    return isinstance(content, Mapping) and bool(unnamed) and unnamed <= content.keys()


def refusal(content: Any, wanted: str) -> str:
    """Why a JSON object is not a file of this name and version, by what it calls itself; "" where it is."""
    told = called(content)
    if not isinstance(content, Mapping):
        return ""
    if told == wanted:
        return "" if "format" in content else "says so by a key other than `format`, as earlier versions' files did"
    if not told:
        return f"does not say that it is {wanted}, as earlier versions' did not"
    name, kind = told.partition("/")[0], wanted.partition("/")[0]
    if name == kind:
        return f"is {FORMATS[kind].noun} of another version ({told}, and this one writes {wanted})"
    return (
        f"is {FORMATS[name].noun}, not {FORMATS[kind].noun}"
        if name in FORMATS
        else f"calls itself {told!r}, not {wanted!r}"
    )
