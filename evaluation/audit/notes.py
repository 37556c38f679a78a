"""What is to be known of an audit's numbers, in sentences: which value is fair, and what unusual intervals mean."""

from ..pages.numbers import FLAT, NOISE
from .contents import Audit, Number, PairedDifference, SystemNote
from .quantities import AUC, BUR, OPINION_GRAPH, SOF, UER

# what the short names of measures stand for
NAMES = {
    BUR: "binary unfair rate",
    UER: "unfair error rate",
    AUC: "area under the curve of the unfair rate over all tolerances",
    SOF: "second-order fairness",
}


def notes(audit: Audit) -> str:
    """All of them."""
    return " ".join(filter(None, (short_names(audit), fairest(audit), rising(audit), unusual_intervals(audit))))


def short_names(audit: Audit) -> str:
    """What the short names of the audit's measures stand for; "" where it has none."""
    kinds = {number.measure.kind for number in audit.aggregates}
    found = [f"{kind.name}: {name}" for kind, name in NAMES.items() if kind in kinds]
    return f"{'; '.join(found)}." if found else ""


def fairest(audit: Audit) -> str:
    """Which value of the measures is fair."""
    said = ["0 is fair."]
    if any(n.measure.kind == AUC for n in audit.aggregates) and audit.options["mode"] != "paper":
        said.append(
            "AUC is at least 5 %: at tolerance 1 a value that gets no more than its due counts as under-represented, and in "
            "every summary there is one."
        )
    if any(n.measure.kind == OPINION_GRAPH for n in audit.aggregates):
        said.append(
            "The opinion graph is 0 only where a summary speaks for every opinion, so short ones score higher whatever "
            "they say."
        )
    return " ".join(said)


def rising(audit: Audit) -> str:
    """Which measures grow by chance alone; "" where there is none."""
    kinds = (n.measure.kind for n in audit.aggregates if n.estimate is not None)
    found = dict.fromkeys(kind.name for kind in kinds if kind.grows_by_chance)
    if not found:
        return ""
    return (
        f"Measures of absolute gaps ({', '.join(found)}) grow by chance alone, so their intervals lie too high when a "
        "system is fair."
    )


def unusual_intervals(audit: Audit) -> str:
    """What intervals mean that are not those of the bootstrap; "" where all are."""
    shown: list[Number | PairedDifference] = [*audit.aggregates, *audit.by_value, *audit.differences]
    flat = f'"{FLAT.capitalize()}": every draw of the sets gives this number, and resampling says nothing of its uncertainty. '
    exact = "The interval of a rate that is 0 or 100 % in all sets is the exact one of Clopper and Pearson."
    said = flat if any(map(_is_flat, shown)) else ""
    has_exact = any(found.interval == "exact" for found in (*audit.aggregates, *audit.by_value))
    return f"{said}{exact if has_exact else ''}".strip()


def _is_flat(found: Number | PairedDifference) -> bool:
    return found.low is not None and found.high is not None and found.high - found.low <= NOISE


def aim(audit: Audit) -> str:
    """Where the summaries' share of a value is fair, beside its share in the sources."""
    return {
        "ratio": "Fair is the same place.",
        "equal": "Fair is here an equal share of each: the share aimed at is in the table.",
    }.get(
        str(audit.options["target"]),
        "Fair are here the weights that were given: the share aimed at is in the table.",
    )


def length(system: SystemNote) -> str:
    """How long its summaries are."""
    return f"A summary has {system.n_words:.1f} words in {system.n_sentences:.1f} sentences on average."


def left_out(reasons: dict[str, int]) -> str:
    """How many sets were left out, by reason."""
    return ", ".join(f"{count:,} {reason}" for reason, count in reasons.items()) or "none"
