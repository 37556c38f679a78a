"""What an audit is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import DataError, MissingExtra
from ...extras import need
from ...fairness.groups.shares import DEFAULT_TAU, Mode, Target
from ...resampling import LEAST_GROUP, Bootstrap
from ...text import did_you_mean
from .opinions import Units

MEASURES = ("value-shares", "coverage", "opinions", "word-lists")
# what people call a measure -> the family that has it
FAMILY_OF = {
    **dict.fromkeys(("bur", "uer", "auc", "sof", "proportional-representation"), "value-shares"),
    **dict.fromkeys(("equal-coverage", "ec", "coverage-parity", "cp"), "coverage"),
    **dict.fromkeys(("opinion-graph", "opinion"), "opinions"),
    **dict.fromkeys(("word-list", "word-list-bias", "gender-words"), "word-lists"),
}


@dataclass(frozen=True)
class AuditPlan:
    """What is measured and how it is summed up."""

    measures: tuple[str, ...] = MEASURES
    # which values take part, see `fairness.groups.shares`; "paper" is the paper's rule of coverage too
    mode: Mode = "drop_zero"
    # share of its aimed-at share that a value may not fall to, in [0, 1]
    tau: float = DEFAULT_TAU
    # "ratio", "equal", or one weight for each value of the audit
    target: Target = "ratio"
    # what a summary could take over whole, for the opinion graph
    opinion_units: Units = "sentences"
    # sets that must have a value before it can be a worst group or an extreme
    least_group: int = LEAST_GROUP
    # summaries shown of each system by each family
    n_examples: int = 5
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def read_measures(text: str) -> tuple[str, ...]:
    """The measures of a list with commas, in their own order.

    Raises:
        DataError: one is not known, or there is none.
    """
    named = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [name for name in named if name not in MEASURES]
    if unknown or not named:
        wrong = _unknown(unknown[0]) if unknown else "no measure."
        raise DataError(f"--measures {text!r}: {wrong} Measures are {', '.join(MEASURES)}")
    return tuple(name for name in MEASURES if name in named)


def _unknown(name: str) -> str:
    family = FAMILY_OF.get(name.lower().replace(" ", "-").replace("_", "-"))
    return (
        f"{name!r} is one of {family!r}." if family else f"measure {name!r} is not known{did_you_mean(name, MEASURES)}"
    )


def usual_measures() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures that run here without a model, and a sentence for each that does not."""
    try:
        need("networkx", "measure 'opinions'")
    except MissingExtra as error:
        return tuple(name for name in MEASURES if name != "opinions"), (f"Opinions are not measured: {error}",)
    return MEASURES, ()


def read_target(text: str, values: Sequence[str]) -> Target:
    """The fairness target: "ratio", "equal", or a weight for each value ("pos=0.5,neg=0.5").

    Raises:
        DataError: a weight is no number above 0, a value is not known, named twice or missing; all are listed. A value that is
            due nothing would fall short in every summary, also in one on target: what it gets is never more than its due.
    """
    if text in ("ratio", "equal"):
        return "ratio" if text == "ratio" else "equal"
    weights: dict[str, float] = {}
    mistakes = []
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.rpartition("="))
        if not equals or not _is_weight(number):
            mistakes.append(f"{part.strip()!r} is no VALUE=WEIGHT with a weight above 0")
        elif name not in values:
            mistakes.append(f"{name!r} is no value{did_you_mean(name, values)} Values are {', '.join(values)}")
        elif name in weights:
            mistakes.append(f"{name!r} is named twice")
        else:
            weights[name] = float(number)
    if not mistakes and (missing := [value for value in values if value not in weights]):
        mistakes.append(f"no weight for {', '.join(missing)}; give each value one")
    if mistakes:
        raise DataError(f"--target {text!r}: {'; '.join(mistakes)}; or write ratio or equal")
    return tuple(weights[value] for value in values)


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False
