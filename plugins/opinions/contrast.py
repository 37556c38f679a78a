"""Contrast: how much better the documents of the asked side support the summary than those of the other sides.

Each unit of the summary has the best window of its own side's documents, less the best of the others'; the score is the mean over
the units. Above 0 the summary is nearer to its own side, higher is better. It is for requests of one side; a summary of all sides
has none to be contrasted with and is unscored. The measure is our own, after the two scores (against the source, against opposing
documents) that Ri et al. 2025 set side by side; what entails is as for Equal Coverage, without gate and without merging. One
unit is enough, since nothing is compared but sides.
"""

from collections.abc import Sequence

import numpy as np

from ...fairness.groups.entailment import document_entailment
from ...fairness.groups.masses import Unscored
from ...judges.documents import summary_of
from ...judges.judge import Judge, JudgeInput, Kind, ScoringJudge, Verdict, judge_signature
from ...judges.measures import Entailer, UnitEvidence, entailer_readers, open_entailer
from ...judges.overflow import CUT_PAIRS
from ...judges.shared import SharedModels
from ...text.digests import canonical_json
from .sections import ContrastJudge

ALL_SIDES = "the request asks for all sides"
NO_OTHERS = "no documents of other sides"
NO_OWN = "no documents of the side"


class SupportContrast(ScoringJudge):
    """Support by the own side less support by the others as a judge, on a scale from -1 to 1."""

    low = -1.0

    def __init__(self, name: str, entailer: Entailer) -> None:
        named = judge_signature("contrast", "contrast", entailer=entailer.signature, v=2)
        super().__init__(name, named, "documents", entailer)
        self._entailer = entailer

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has both supports and the number of units."""
        verdicts = {
            i: Verdict(None, why, attempts=0) for i, judge_input in enumerate(inputs) if (why := _why_not(judge_input))
        }
        places = [place for place in range(len(inputs)) if place not in verdicts]
        answers = self._entailer.evidence([summary_of(inputs[place]) for place in places], between=False)
        verdicts |= {place: _verdict(inputs[place], evidence) for place, evidence in zip(places, answers, strict=True)}
        return [verdicts[place] for place in range(len(inputs))]


def _why_not(judge_input: JudgeInput) -> str | None:
    """Why there is nothing to contrast; None when there is."""
    labelled = judge_input.labelled
    if labelled.side is None:
        return ALL_SIDES
    is_own = [document.value == labelled.side for document in labelled.documents]
    if not any(is_own):
        return NO_OWN
    return NO_OTHERS if all(is_own) else None


def _verdict(judge_input: JudgeInput, answer: UnitEvidence | Unscored) -> Verdict:
    if isinstance(answer, Unscored):
        return Verdict(None, answer.reason)
    evidence, labelled = answer.evidence, judge_input.labelled
    best = document_entailment(
        evidence.nli, evidence.windows, len(labelled.documents), gate=False
    )  # (documents, units)
    is_own = np.array([document.value == labelled.side for document in labelled.documents])
    own_support, other_support = (float(best[rows].max(axis=0).mean()) for rows in (is_own, ~is_own))
    raw = {"own": round(own_support, 6), "others": round(other_support, 6), "units": len(answer.units)}
    if answer.n_cut:
        raw[CUT_PAIRS] = answer.n_cut
    return Verdict(round(own_support - other_support, 6), raw=canonical_json(raw))


def open_contrast(name: str, options: ContrastJudge, models: SharedModels) -> Judge:
    """The judge of contrast that the options describe.

    Raises:
        ModelError: as `open_entailer`.
    """
    return SupportContrast(name, open_entailer(options.entailer, models))


CONTRAST = Kind(open_contrast, ContrastJudge, readers=lambda section: entailer_readers(section.entailer))
