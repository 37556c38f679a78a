"""Calibrations of judges that nobody asked, with the figures that a test needs."""

from pathlib import Path
from typing import Any

from evenhand.judges.calibration import (
    Agreement,
    Beside,
    Calibration,
    Correlation,
    Cost,
    Figure,
    JudgeCalibration,
    Probe,
    standing_of,
)
from evenhand.storage import write_json


def figure(value: float, reach: float = 0.1) -> Figure:
    return Figure(value=value, low=value - reach, high=value + reach)


def agreement(value: float, reach: float = 0.1) -> Agreement:
    found = Correlation.model_validate(figure(value, reach).model_dump())
    return Agreement(pooled=found, within=found, n_articles=25)


def make_judge(signature: str, own: float = 0.5, length: float = 0.3, **changes: Any) -> JudgeCalibration:
    """A judge of coverage with intervals of 0.1 to each side."""
    gap = figure(round(own - length, 6))
    values: dict[str, Any] = {
        "judge": "fit", "signature": signature, "models": (), "revisions": (), "rubric": "", "purpose": "coverage",
        "own": agreement(own), "other": agreement(0.1),
        "beside": (Beside(other="length", agreement=agreement(length), difference=gap, standing=standing_of(gap)),),
        "is_constant": False, "spread": 1.0, "probes": (), "flips_again": figure(0.0, 0.0), "flips_reversed": figure(0.1),
        "repeat": 0.0, "cost": Cost(seconds=1.0, prompt_tokens=None), "n_summaries": 199, "unscored": 0,
    }  # fmt: skip
    return JudgeCalibration.model_validate(values | changes)


def accused(name: str, note: str) -> Probe:
    return Probe(
        name=name, question="?", effect=figure(0.6), p_value=0.001, adjusted=0.004, outcome="accused", note=note, n=199
    )


def write_calibration(path: Path, *judges: JudgeCalibration) -> Path:
    found = Calibration(
        file="sets.jsonl", digest="0" * 16, n_articles=25, n_summaries=199, n_topics=13, date="2026-11-23", evenhand="0",
        versions={}, level=0.95, judges=judges, not_tried={},
    )  # fmt: skip
    write_json(path, found.model_dump(mode="json"))
    return path
