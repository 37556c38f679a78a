"""Judges of other packages: what their code raises is one message, and no score counts that is none on the judge's scale."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from ..config.section import Check
from ..doors import blamed
from ..errors import PluginError
from ..text.json_text import HALF
from .asking import AskingJudge, Rounds
from .judge import Judge, JudgeInput, Kind, ModelReader, Verdict, number_verdict
from .shared import SharedModels


def packaged_kind(kind: Kind, whose: str) -> Kind:
    """A kind of judges of another package, whose judges and checks are looked at.

    Args:
        kind: of the package.
        whose: it is, in words: "judge 'brevity' of package mine 1.0".
    """

    def opened(name: str, options: Any, models: SharedModels) -> Judge:
        with blamed(whose):
            judge = kind.open(name, options, models)
            if isinstance(judge, AskingJudge):
                return PackagedAskingJudge(judge, name, whose)
            return PackagedJudge(judge, name, whose)

    def checks(name: str, options: Any) -> list[Check]:
        with blamed(whose):
            return [check._replace(run=_within(whose, check.run)) for check in kind.checks(name, options)]

    def readers(options: Any) -> list[ModelReader]:
        with blamed(whose):
            return [reader._replace(open=_within(whose, reader.open)) for reader in kind.readers(options)]

    prompt, trial = (each and _within(whose, each) for each in (kind.prompt, kind.trial))
    return Kind(opened, kind.section, checks, readers, prompt, trial)


def _within(whose: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        with blamed(whose):
            return function(*arguments)

    return call


class PackagedJudge:
    """A judge of another package."""

    def __init__(self, judge: Judge, name: str, whose: str) -> None:
        self._judge, self._whose, self.name = judge, whose, name
        self.signature, self.against, self.loads = judge.signature, judge.against, judge.loads
        self.low, self.high, self.requests_per_batch = judge.low, judge.high, judge.requests_per_batch

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order.

        Raises:
            PluginError: the package's code raised, or gave anything else.
        """
        with blamed(self._whose):
            verdicts = self._judge.score(inputs)
        return self._checked(verdicts, len(inputs))

    def close(self) -> None:
        """Give the model's memory back."""
        with blamed(self._whose):
            self._judge.close()

    def _checked(self, verdicts: object, n_inputs: int) -> list[Verdict]:
        if not isinstance(verdicts, list | tuple) or len(verdicts) != n_inputs:
            got = f"{len(verdicts)} verdicts" if isinstance(verdicts, list | tuple) else type(verdicts).__name__
            raise PluginError(
                f"{self._whose} gave {got} for {n_inputs} summaries; return a list with a Verdict for each"
            )
        return [self._one(each) for each in verdicts]

    def _one(self, verdict: object) -> Verdict:
        if not isinstance(verdict, Verdict):
            raise PluginError(f"{self._whose} gave {type(verdict).__name__} and no Verdict")
        if not all(isinstance(text, str | None) for text in (verdict.unscored, verdict.raw)):
            raise PluginError(f"{self._whose} gave a Verdict whose reason or reply is no text")
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

    def __init__(self, judge: AskingJudge, name: str, whose: str) -> None:
        super().__init__(judge, name, whose)
        self._asking = judge
        self.model, self.backend = judge.model, judge.backend

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, round by round, and in the end one verdict for each input, in order."""
        with blamed(self._whose):
            verdicts = yield from self._asking.rounds(inputs)
        return self._checked(verdicts, len(inputs))
