"""Minimum Bayes risk: how near a summary is to the other candidates of its request, without a source, a model or a judge.

The candidates themselves are the sample over which the expected utility of each is taken: F1 of ROUGE, the mean over the others.
Source: Kumar and Byrne 2004 (aclanthology.org/N04-1022), with a utility in place of the loss; the other candidates are the
sample, as in Eikema and Aziz 2020 (arXiv:2005.10283).
"""

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from ..config.judges import ConsensusJudge
from .judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from .rouge import rouge, unread
from .shared import SharedModels

KIND = "rouge1"
# of a mean, after the point
DIGITS = 12
ALONE = "no other candidate with words that ROUGE reads (a-z, 0-9)"


def consensus(texts: Sequence[str], kind: str = KIND) -> list[float | None]:
    """Mean F1 of each text with the others, in [0, 1]; None without another, and for texts that ROUGE does not read.

    Args:
        texts: all candidates of a request; equal ones count each.
        kind: type of ROUGE.
    """
    read = [place for place, text in enumerate(texts) if not unread(text)]
    nearness = np.zeros((len(texts), len(texts)))
    for i, other in combinations(read, 2):
        f_measure = rouge(texts[i], texts[other], (kind,))[kind]["fmeasure"]
        nearness[i, other] = nearness[other, i] = f_measure
    has_others = len(read) > 1
    # exact sums, rounded, so that what is equal on paper is equal here, whatever the order of the others
    means = [round(math.fsum(row) / max(1, len(read) - 1), DIGITS) for row in nearness]
    return [means[place] if has_others and place in read else None for place in range(len(texts))]


class Consensus(ScoringJudge):
    """The consensus of the candidates as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, options: ConsensusJudge) -> None:
        named = judge_signature(
            f"{options.type}-fmeasure", "consensus", against="candidates", stemmer="no", package="0.1.2", v=2
        )
        super().__init__(name, named, "candidates")
        self._of_group = lru_cache(maxsize=1)(lambda texts: consensus(texts, options.type))

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; a candidate without company is unscored."""
        verdicts = []
        for judge_input in inputs:
            texts = tuple(json.loads(judge_input.reference))
            # a refusal is none of the company, and is held against it
            in_company = judge_input.text in texts
            nearness = (
                self._of_group(texts)[texts.index(judge_input.text)]
                if in_company
                else self._of_group((*texts, judge_input.text))[-1]
            )
            verdicts.append(Verdict(nearness, None if nearness is not None else unread(judge_input.text) or ALONE))
        return verdicts


def open_consensus(name: str, options: ConsensusJudge, models: SharedModels) -> Judge:
    """The consensus judge that the options describe."""
    return Consensus(name, options)


CONSENSUS = Kind(open_consensus, ConsensusJudge)
