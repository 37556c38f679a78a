"""How often differences at equal length are wrong: simulated judges that see length, a gain, or both.

    python -m evenhand.benchmarks.length --trials 200

makes the table "Differences at equal length" of benchmarks/RESULTS.md. Two policies answer two requests of every document
set with six candidates each; the second writes summaries of three quarters of the words, and is better by `gain`. A
candidate's score is a curve of its words and noise of its own, of its request, and of how a set takes to the second policy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np

from ..evaluation.report.systems.compare import Comparer
from ..evaluation.report.systems.contents import Difference, JudgeNote
from ..evaluation.report.systems.contrasts import conclude
from ..evaluation.report.systems.lengths import Lengths, share_by_length
from ..evaluation.report.systems.ranked import Floats, Ranked
from ..evaluation.report.systems.systems import TRAIT, WORDS, PolicyOutput, RequestOutline, System
from ..resampling import Bootstrap
from ..runfolder.phases import Phase
from .simulate import asked, print_heads, print_row

# what a judge gives so many words; each changes by 0.03 to 0.04 where three quarters of 30 words are left, but for the first
CURVES: Mapping[str, Callable[[Floats], Floats]] = {
    "none": lambda words: 0.0 * words,
    "logarithm": lambda words: 0.12 * np.log(words / 30),
    "straight": lambda words: 0.004 * (words - 30),
    "falling": lambda words: 4.0 / (words + 5),
    "peak at 32": lambda words: -0.2 * np.square(np.log(words / 32)),
    "cliff below 15": lambda words: np.where(words < 15, -0.3, 0.0),
}
JUDGE = JudgeNote(name="judge", signature="simulated", role="report", better="higher")
CANDIDATES, SIDES, SHORTER = 6, ("left", "right"), 0.75
SPREAD, NOISE, TASTE = 0.4, 0.08, 0.03


@dataclass(frozen=True)
class Counts:
    """Trials in which something was said."""

    trials: int
    # a difference as it is, and at equal length, whose interval excludes 0
    clear: int
    clear_at_equal_length: int
    # intervals at equal length that have the true gain in them
    holds: int
    # a page warns that half of the difference goes with length
    warned: int


def drawn(curve: str, gain: float, n_sets: int, seed: int) -> Difference:
    """One draw of the second policy against one of the first, at equal length too."""
    generator = np.random.default_rng([seed, n_sets])
    requests = [RequestOutline(f"{s}/{side}", str(s), side, (None, None), "") for s in range(n_sets) for side in SIDES]
    topic, taste = (np.repeat(generator.normal(0, sd, n_sets), len(SIDES)) for sd in (0.1, TASTE))
    easy = generator.normal(0.4, 0.05, len(requests))
    shape = (len(requests), CANDIDATES)
    outputs = []
    for is_second in (0, 1):
        logs = np.log(30 * SHORTER**is_second) + topic[:, None] + generator.normal(0, SPREAD, shape)
        words = np.maximum(1.0, np.round(np.exp(logs)))
        scores = CURVES[curve](words) + generator.normal(0, NOISE, shape) + easy[:, None]
        scores += is_second * (gain + taste[:, None])
        place = np.tile(np.arange(float(CANDIDATES)), (len(requests), 1))
        ranked = Ranked(
            np.full(len(requests), CANDIDATES), -place, place, {JUDGE.name: scores, TRAIT + WORDS: words}, issues={}
        )
        # nothing of a phase is read
        phase = cast("Phase", None)
        outputs.append(PolicyOutput(str(is_second), phase, tuple(requests), ranked, None, str(is_second), {}))
    compare = Comparer(requests, Bootstrap(resamples=1000))
    systems = {"zero-shot": System("zero-shot", outputs[0], 1), "DPO": System("DPO", outputs[1], 1)}
    contrasts = compare.differences(JUDGE, {name: each.values(JUDGE.name) for name, each in systems.items()})
    (whole,), _ = conclude(contrasts[-1:], compare.bootstrap)
    parts = Lengths(compare, outputs).parts(JUDGE.name, systems["DPO"], systems["zero-shot"], None)
    return whole.model_copy(update=parts)


def count(curve: str, gain: float, n_sets: int, trials: int) -> Counts:
    """What is said of a judge of that curve, where the second policy is better by `gain`."""
    clear = at_equal = holds = warned = 0
    for seed in range(trials):
        difference = drawn(curve, gain, n_sets, seed)
        found = difference.at_equal_length
        if found is None or found.low is None or found.high is None:
            continue
        clear += difference.verdict != "no clear difference"
        at_equal += not found.low <= 0 <= found.high
        holds += found.low <= gain <= found.high
        warned += share_by_length(difference) is not None
    return Counts(trials, clear, at_equal, holds, warned)


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (200, "runs of each kind"), ([6, 12, 50, 200], "document sets of a run"))
    shown = ("clear as it is", "clear at equal length", "interval holds", "warned")
    print_heads("judge's curve", "gain", "sets", *shown)
    for curve, gain, n_sets in product(CURVES, (0.0, 0.05), given.sets):
        found = count(curve, gain, n_sets, given.trials)
        shares = (found.clear, found.clear_at_equal_length, found.holds, found.warned)
        print_row(curve, f"{gain:g}", n_sets, *(f"{100 * each / found.trials:.1f} %" for each in shares))


if __name__ == "__main__":
    main()
