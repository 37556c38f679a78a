"""UniEval's consistency: whether each sentence of a summary agrees with the text, mean over the sentences.

A T5 is asked "is this claim consistent with the document?" about each sentence; the score is P(Yes) / (P(Yes) + P(No)) at its
first step. The text stands last in the question, so a question that is too long loses the text's end, which the judgement
says. Source: Zhong et al. 2022 and its code; docs/papers.md#ri-metrics. With
`splitter: nltk` the sentences are those of the paper's code.
"""

from typing import Any

from ...errors import JudgeError
from ...judges.aligner import Pairing
from ...judges.alignment import whole
from ...judges.judge import Judge, Kind, judge_signature, own_model
from ...judges.shared import SharedModels
from ...judges.splitters import open_splitter, splitter_checks
from ...judges.support import SupportJudge, SupportReading, aggregate
from ...models import signature
from .sections import UniEvalJudge
from .yes_no import YesNoAligner, YesNoQuestion, YesNoTokens, lazy_yes_no


class Consistency:
    """How UniEval asks for consistency."""

    feature = "judge 'unieval'"

    def question(self, premise: str, claim: str, end: str) -> YesNoQuestion:
        """The question as UniEval was trained with it."""
        beginning = f"question: Is this claim consistent with the document? {end} claim: {claim} {end} document: "
        return YesNoQuestion(beginning, premise, "")

    def answers(self, tokenizer: Any) -> YesNoTokens:
        """The first tokens of "No" and "Yes".

        Raises:
            JudgeError: the tokenizer does not tell them apart.
        """
        no, yes = (tokenizer(word)["input_ids"][0] for word in ("No", "Yes"))
        if no == yes or tokenizer.unk_token_id in (no, yes):
            raise JudgeError(f"{self.feature}: the model's tokenizer has no words for No and Yes; name a UniEval model")
        return YesNoTokens(no, yes)


def open_unieval(name: str, options: UniEvalJudge, models: SharedModels) -> Judge:
    """The UniEval judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        MissingExtra, DataError: its splitter needs NLTK or NLTK's data, which is absent.
    """
    splitter = open_splitter(options.splitter)
    named = judge_signature(
        "unieval-consistency",
        "unieval",
        model=signature(options.model, options.revision),
        tokens=options.most_tokens,
        against=options.against,
        sentences=splitter.signature,
        v=2,
    )
    reading = SupportReading(
        lambda judge_input: Pairing(whole(judge_input.reference), tuple(splitter.split(judge_input.text))), aggregate
    )
    return SupportJudge(name, named, options.against, lazy_yes_no(models, options, Consistency()), reading)


UNIEVAL = Kind(
    open_unieval,
    UniEvalJudge,
    checks=splitter_checks,
    readers=own_model(lambda options: YesNoAligner(options.model, Consistency(), 32, 1, options.revision)),
)
