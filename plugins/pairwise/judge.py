"""Candidates compared two by two: a language model says which of two summaries is better, once in each order.

A model that likes the summary in the first place says "A" both times. Where the two orders disagree, or a verdict cannot be read,
the pair is a tie. The score is the Bradley-Terry strength among the request's candidates (`pairs.py`): it compares nothing beyond
them.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...generate.answers import written_choice
from ...generate.backend import Ask, Backend, Reply
from ...judges.asking import UNREADABLE, LanguageModelJudge, Rounds, refused
from ...judges.bradley_terry import fit_library
from ...judges.judge import JudgeInput, Kind, PromptNeeds, Verdict, judge_signature
from ...judges.overflow import within_length
from ...judges.rubric import ONE_GRADE, engine_part, lazy_backend
from ...judges.shared import Lazy, SharedModels
from ...prompts import PromptTemplate, load_template
from ...records import Message
from ...text.digests import canonical_json, digest
from .pairs import PRIOR, PairedVerdicts, rival_pairs, scored
from .section import PairwiseJudge

PROMPTS = Path(__file__).parent / "prompts"
# the summary in the first place, and the one in the second
FIRST, SECOND = CHOICES = ("A", "B")
OUTSIDE = "no candidate that is compared"


@dataclass(frozen=True)
class Company:
    """The candidates of a request that are compared."""

    source: str
    # distinct, sorted: the order in which candidates were made changes no strength
    texts: tuple[str, ...]

    @classmethod
    def read(cls, reference: str) -> "Company":
        """The company that a reference against "source_and_candidates" spells out."""
        spelt = json.loads(reference)
        return cls(spelt["source"], tuple(sorted({text for text in spelt["candidates"] if text.strip()})))


class Pairwise(LanguageModelJudge):
    """Comparisons of two on one language model as a judge; the scale has no bounds."""

    low = -math.inf
    high = math.inf

    def __init__(self, name: str, options: PairwiseJudge, template: PromptTemplate, backend: Lazy[Backend]) -> None:
        super().__init__(name, options, backend)
        self.signature = _signature(options, template, self.model)
        self._options = options
        self._template = template

    def prompt(self, comparison: JudgeInput) -> tuple[Message, ...]:
        """The chat about two summaries, which are the comparison's text."""
        first, second = json.loads(comparison.text)
        text = self._template.fill(texts={"source": comparison.reference, "first": first, "second": second})
        return (Message(role="user", content=text),)

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about all pairs of the inputs' companies."""
        companies = {item.reference: Company.read(item.reference) for item in inputs}
        places = {name: self._pairs(company) for name, company in companies.items()}
        ids = {(item.reference, item.text): item.candidate_id for item in inputs}
        comparisons = [
            JudgeInput(
                ids.get((name, company.texts[order[0]]), ""),
                "",
                canonical_json([company.texts[place] for place in order]),
                contract_ok=True,
                reference=company.source,
            )
            for name, company in companies.items()
            for pair in places[name]
            for order in (pair, pair[::-1])
        ]
        room = self._options.backend.max_model_len - ONE_GRADE.max_tokens
        verdicts = iter((yield from within_length(self._ask, self.prompt, comparisons, self._options.overflow, room)))
        strengths_by_company = {
            name: scored(
                company.texts,
                [PairedVerdicts(first, second, (next(verdicts), next(verdicts))) for first, second in places[name]],
            )
            for name, company in companies.items()
        }
        return [
            strengths_by_company[item.reference].get(item.text, Verdict(None, OUTSIDE, attempts=0)) for item in inputs
        ]

    def _pairs(self, company: Company) -> list[tuple[int, int]]:
        seed = int(digest([self.signature, company.source, *company.texts], length=8), 16)
        return rival_pairs(len(company.texts), self._options.rivals, seed)

    def _ask(self, comparisons: Sequence[JudgeInput]) -> Rounds:
        replies = yield [Ask(self.prompt(item), ONE_GRADE, self.seed(item, 1), CHOICES) for item in comparisons]
        return [_verdict(reply) for reply in replies]


def _verdict(reply: Reply) -> Verdict:
    """1 where the summary in the first place is better, 0 where the other one is."""
    if reply.finish_reason == "failed":
        return refused(reply, 1)
    shares = reply.choice_probabilities
    choice = max(CHOICES, key=lambda letter: shares.get(letter, 0.0)) if shares else written_choice(reply.text, CHOICES)
    return Verdict(None, UNREADABLE, reply.text) if choice is None else Verdict(float(choice == FIRST), raw=choice)


def _signature(options: PairwiseJudge, template: PromptTemplate, model: str) -> str:
    # where a source is cut depends on the room
    cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
    return judge_signature(
        options.rubric,
        "pairwise",
        model=model,
        **engine_part(options.backend, options.model),
        template=template.signature,
        against=options.against,
        rivals=options.rivals,
        prior=PRIOR,
        **cut,
        v=1,
    )


def pairwise_template(options: PairwiseJudge) -> PromptTemplate:
    """The prompt about two summaries."""
    return load_template(f"pairwise-{options.rubric}", PROMPTS)


def open_pairwise(name: str, options: PairwiseJudge, models: SharedModels) -> Pairwise:
    """The judge that the options describe.

    Raises:
        MissingExtra: choix is not installed.
        ModelError: its model is a path that holds no model.
    """
    fit_library()
    backend = lazy_backend(options.backend, options.model, models)
    return Pairwise(name, options, pairwise_template(options), backend)


PAIRWISE = Kind(
    open_pairwise,
    PairwiseJudge,
    prompt=lambda name, options: PromptNeeds(
        partial(pairwise_template, options), ONE_GRADE.max_tokens, options.overflow, [CHOICES]
    ),
)
