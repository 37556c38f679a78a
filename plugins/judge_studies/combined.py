"""A line through the scores of other judges, which `evenhand judges train` fitted to summaries whose truth is known.

The truth is a share, so the line is cut off at 0 and 1. A summary that one of the judges leaves unscored is unscored: the line
says nothing of fewer. Beside the judges, the logarithms of the summary's words and claims and of the source's words are features.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ...config.section import Check
from ...errors import UnfitModelError
from ...judges import JUDGES, open_judge
from ...judges.claims import VERSION as CLAIM_RULES
from ...judges.claims import claims
from ...judges.judge import Judge, JudgeInput, Kind, ModelReader, ScoringJudge, Verdict, judge_signature
from ...judges.shared import SharedModels
from ...models.dates import undated
from ...storage import file_digest, local_path
from ...text import sentences
from ...text.digests import canonical_json
from .combination import COUNTED, Combination, CombinedJudge, inside


def counts(summary: str, source: str) -> dict[str, float]:
    """The features that need no judge; the logarithm of a number is 0 for none."""
    parts = [part for sentence in sentences(summary) for part in claims(sentence)]
    numbers = (len(summary.split()), len(source.split()), len(parts))
    return {name: math.log(max(1, number)) for name, number in zip(COUNTED, numbers, strict=True)}


def value_of(saved: Combination, features: Mapping[str, float]) -> float:
    """The line at these features, cut off at 0 and 1."""
    parts = [
        feature.coefficient * (features[feature.name] - feature.mean) / feature.scale for feature in saved.features
    ]
    return min(1.0, max(0.0, saved.intercept + math.fsum(parts)))


class Combined(ScoringJudge):
    """A trained line as a judge, on a scale from 0 to 1."""

    def __init__(self, name: str, saved: Combination, content: str, members: Sequence[Judge]) -> None:
        # what a signature of a member says of a model is in it, because the file has their signatures
        signature = judge_signature(saved.purpose, "combined", file=content, against="source", claims=CLAIM_RULES, v=2)
        super().__init__(name, signature, "source")
        loads = sorted({member.loads for member in members if member.loads})
        # members on several models hold them all while they score
        self.loads = loads[0] if len(loads) == 1 else canonical_json(loads) if loads else ""
        self.requests_per_batch = min(member.requests_per_batch for member in members)
        self._saved = saved
        self.members = members

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order, from what the judges say when they are asked."""
        return self.combine(inputs, {member.name: member.score(inputs) for member in self.members})

    def combine(self, inputs: Sequence[JudgeInput], by_member: Mapping[str, Sequence[Verdict]]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has what each judge said, and which features are new to the line."""
        return [
            self._verdict(judge_input, {member.name: by_member[member.name][place] for member in self.members})
            for place, judge_input in enumerate(inputs)
        ]

    def _verdict(self, judge_input: JudgeInput, verdicts: Mapping[str, Verdict]) -> Verdict:
        attempts = max(verdict.attempts for verdict in verdicts.values())
        scores = {name: verdict.score for name, verdict in verdicts.items()}
        member_scores = {name: score for name, score in scores.items() if score is not None}
        for name, verdict in verdicts.items():
            if verdict.score is None:
                return Verdict(None, f"{name}: {verdict.unscored}", canonical_json({"scores": scores}), attempts)
        values = member_scores | counts(judge_input.text, judge_input.reference)
        # as fitted nowhere: a line goes on beyond what it has seen, and may be wrong there
        beyond = [f.name for f in self._saved.features if not f.least <= values[f.name] <= f.most]
        raw = {"scores": scores} | ({"beyond_training": beyond} if beyond else {})
        return Verdict(round(value_of(self._saved, values), 6), raw=canonical_json(raw), attempts=attempts)

    def close(self) -> None:
        """Give the memory of all judges back."""
        for member in self.members:
            member.close()


def _open(name: str, options: CombinedJudge, models: SharedModels) -> Judge:
    """The combined judge that the options describe.

    Raises:
        DataError: its file cannot be read, or is none that `evenhand judges train` wrote.
        UnfitModelError: a judge in it is not the one that it was trained with.
        EvenhandError: a judge in it cannot be opened.
    """
    saved, sections = options.read()
    members = [open_judge(member, section, models) for member, section in sections.items()]
    trained = {member.name: member.signature for member in saved.members}
    if changed := [member for member in members if undated(member.signature) != undated(trained[member.name])]:
        changes = "; ".join(
            f"{member.name!r} was {trained[member.name]} and is {member.signature}" for member in changed
        )
        raise UnfitModelError(
            f"judge {name!r}: {options.file} was trained with other judges than those that are here, so its coefficients do not "
            f"fit their scores: {changes}. Train it again with `evenhand judges train`, or install what it was trained with"
        )
    return Combined(name, saved, file_digest(local_path(options.file)), members)


def _checks(name: str, options: CombinedJudge) -> Iterator[Check]:
    yield Check("file", partial(_open, name, options, SharedModels()), is_here=True)
    for member, section in options.members.items():
        for check in JUDGES[section.kind].checks(member, section):
            yield check._replace(key=f"{inside(member)}.{check.key}", is_here=True)


def _readers(options: CombinedJudge) -> Iterator[ModelReader]:
    for member, section in options.members.items():
        for reader in JUDGES[section.kind].readers(section):
            yield reader._replace(below=f"{inside(member)}.{reader.below}")


COMBINED = Kind(_open, CombinedJudge, checks=_checks, readers=_readers)
