"""Judges of other packages: what their code raises is one message, and no score counts that is none on the judge's scale."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from ..config.section import Check
from ..doors import guarded, guarded_call, guarded_fields
from ..errors import PluginError
from ..text.json_text import HALF
from .asking import AskingJudge, Rounds
from .judge import Judge, JudgeInput, Kind, ModelReader, Verdict, number_verdict
from .shared import SharedModels


def packaged_kind(kind: Kind, label: str) -> Kind:
    """A kind of judges of another package, whose judges and checks are looked at."""
    kind = guarded_fields(kind, label)

    def opened(name: str, options: Any, models: SharedModels) -> Judge:
        judge = kind.open(name, options, models)
        if isinstance(judge, AskingJudge):
            return PackagedAskingJudge(judge, name, label)
        return PackagedJudge(judge, name, label)

    def checks(name: str, options: Any) -> list[Check]:
        return [check._replace(run=guarded_call(check.run, label)) for check in kind.checks(name, options)]

    def readers(options: Any) -> list[ModelReader]:
        return [reader._replace(open=guarded_call(reader.open, label)) for reader in kind.readers(options)]

    return replace(
        kind,
        open=guarded_call(opened, label),
        checks=guarded_call(checks, label),
        readers=guarded_call(readers, label),
    )


class PackagedJudge:
    """A judge of another package."""

    def __init__(self, judge: Judge, name: str, label: str) -> None:
        self._judge, self._label, self.name = guarded(judge, label), label, name
        self.signature, self.against, self.loads = judge.signature, judge.against, judge.loads
        self.low, self.high, self.requests_per_batch = judge.low, judge.high, judge.requests_per_batch
        self.close = self._judge.close

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order.

        Raises:
            PluginError: the package's code raised, or gave anything else.
        """
        return self._checked(self._judge.score(inputs), len(inputs))

    def _checked(self, verdicts: object, n_inputs: int) -> list[Verdict]:
        if not isinstance(verdicts, list | tuple) or len(verdicts) != n_inputs:
            got = f"{len(verdicts)} verdicts" if isinstance(verdicts, list | tuple) else type(verdicts).__name__
            raise PluginError(
                f"{self._label} gave {got} for {n_inputs} summaries; return a list with a Verdict for each"
            )
        return [self._one(each) for each in verdicts]

    def _one(self, verdict: object) -> Verdict:
        if not isinstance(verdict, Verdict):
            raise PluginError(f"{self._label} gave {type(verdict).__name__} and no Verdict")
        if not all(isinstance(text, str | None) for text in (verdict.unscored, verdict.raw)):
            raise PluginError(f"{self._label} gave a Verdict whose reason or reply is no text")
        # no file can hold half a character
        unscored, raw = (text and HALF.sub("\ufffd", text) for text in (verdict.unscored, verdict.raw))
        verdict = replace(verdict, unscored=unscored, raw=raw)
        if verdict.score is None or verdict.unscored:
            return replace(verdict, score=None, unscored=verdict.unscored or "the judge gave no score")
        if isinstance(verdict.score, bool) or not isinstance(verdict.score, Real):
            return replace(
                verdict, score=None, unscored=f"the judge gave a value of type {type(verdict.score).__name__}"
            )
        checked = number_verdict(float(verdict.score), self.low, self.high, "the judge gave")
        return replace(verdict, score=checked.score, unscored=checked.unscored, raw=verdict.raw or checked.raw)


class PackagedAskingJudge(PackagedJudge):
    """A judge of another package that asks a language model."""

    def __init__(self, judge: AskingJudge, name: str, label: str) -> None:
        super().__init__(judge, name, label)
        self._asking = guarded(judge, label)
        self.model, self.backend = judge.model, judge.backend

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, round by round, and in the end one verdict for each input, in order."""
        verdicts = yield from self._asking.rounds(inputs)
        return self._checked(verdicts, len(inputs))
