"""Extract-then-evaluate: a long text is shortened to what matters for a summary, and a language model grades that.

Three grades (consistency 1 to 5, faithfulness 1 to 7, relevance 1 to 5) are mapped to [0, 1] and averaged. Source: Wu et al. 2023
(arXiv:2309.07382) by way of the seed paper's code; specification of the seed paper, section 7.7. That code joined four extracts
with their repeated sentences and lost their order, took contradiction for entailment, and averaged the grades as they were;
here the extract is a union in the order of the text within one budget, the class is found by its name, and grades are
normalised first. A text within the budget is judged whole.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from ..config import ExtractJudge, RubricJudge
from ..generate.backend import Ask, Backend, Reply
from ..models import signature
from ..storage import canonical_json
from .aligner import Aligner
from .alignment import load_aligner
from .asking import Rounds, ask_together
from .extracting import Extractor, Lead, Overlap, Supporting, extract
from .judge import Against, JudgeInput, Verdict, judge_signature
from .rubric import Rubric, engine_part, lazy_backend, rubric_template
from .shared import Lazy, SharedModels
from .support import splitter

# aspect -> lowest and highest grade
SCALES = {"consistency": (1, 5), "faithfulness": (1, 7), "relevance": (1, 5)}


class ExtractThenEvaluate:
    """Extracts and three rubrics on one language model as a judge, on a scale from 0 to 1."""

    low = 0.0
    high = 1.0

    def __init__(
        self, name: str, options: ExtractJudge, extractors: Sequence[Extractor], backend: Lazy[Backend]
    ) -> None:
        self.name = name
        self.against: Against | None = options.against
        self.loads = backend.key
        self.requests_per_batch = options.backend.requests_per_batch
        self.backend = backend
        self._most_words = options.most_words
        self._extractors = extractors
        self._rubrics = {aspect: _rubric(name, aspect, options, backend) for aspect in SCALES}
        self.model = self._rubrics["consistency"].model
        self.signature = _signature(options, self._rubrics, self.model)

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` has the three grades and the words of the extract."""
        verdicts, _ = ask_together(self.backend, [self.rounds(inputs)])
        return verdicts[0]

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks of the three rubrics about these inputs' extracts."""
        extracts = self._extracts(inputs)
        grades = yield from _in_step([rubric.rounds(extracts) for rubric in self._rubrics.values()])
        return [self._verdict(each, verdicts) for each, *verdicts in zip(extracts, *grades, strict=True)]

    def _extracts(self, inputs: Sequence[JudgeInput]) -> list[JudgeInput]:
        """The inputs with a reference within the budget."""
        long = [i for i, each in enumerate(inputs) if len(each.reference.split()) > self._most_words]
        if not long:
            return list(inputs)
        # (extractors, long inputs, sentences)
        weights = [extractor.weigh([inputs[i] for i in long]) for extractor in self._extractors]
        found = list(inputs)
        for i, *own in zip(long, *weights, strict=True):
            found[i] = replace(inputs[i], reference=extract(inputs[i].reference, own, self._most_words))
        return found

    def _verdict(self, each: JudgeInput, verdicts: Sequence[Verdict]) -> Verdict:
        named = dict(zip(self._rubrics, verdicts, strict=True))
        attempts = max(verdict.attempts for verdict in verdicts)
        raw = canonical_json(
            {aspect: [v.score, v.raw] for aspect, v in named.items()} | {"words": len(each.reference.split())}
        )
        parts = [
            (v.score - SCALES[a][0]) / (SCALES[a][1] - SCALES[a][0]) for a, v in named.items() if v.score is not None
        ]
        if len(parts) < len(SCALES):
            reasons = sorted({verdict.unscored for verdict in verdicts if verdict.unscored})
            return Verdict(None, " and ".join(reasons), raw, attempts)
        return Verdict(round(fmean(parts), 6), None, raw, attempts)

    def close(self) -> None:
        """Give the memory of the model and of the extractors' models back."""
        self.backend.close()
        for extractor in self._extractors:
            extractor.close()


def _in_step(conversations: Sequence[Rounds]) -> Generator[list[Ask], list[Reply], list[list[Verdict]]]:
    """The conversations as one: the asks of a round together, and the verdicts of each in the end."""
    verdicts: dict[int, list[Verdict]] = {}
    replies: dict[int, list[Reply] | None] = dict.fromkeys(range(len(conversations)))
    while replies:
        asks: dict[int, list[Ask]] = {}
        for place, got in replies.items():
            try:
                asks[place] = next(conversations[place]) if got is None else conversations[place].send(got)
            except StopIteration as end:
                verdicts[place] = end.value
        if not asks:
            break
        found = iter((yield [ask for mine in asks.values() for ask in mine]))
        replies = {place: [next(found) for _ in mine] for place, mine in asks.items()}
    return [verdicts[place] for place in range(len(conversations))]


def _rubric(name: str, aspect: str, options: ExtractJudge, backend: Lazy[Backend]) -> Rubric:
    section = RubricJudge(
        kind="rubric",
        rubric="faithfulness",
        template=f"extract-{aspect}",
        model=options.model,
        backend=options.backend,
        against=options.against,
        scoring=options.scoring,
        max_attempts=options.max_attempts,
        overflow=options.overflow,
    )
    return Rubric(name, section, rubric_template(name, section), backend, SCALES[aspect])


def _signature(options: ExtractJudge, rubrics: dict[str, Rubric], model: str) -> str:
    attempts = {"attempts": options.max_attempts} if options.scoring == "greedy" else {}
    cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
    return judge_signature(
        "extract-then-evaluate",
        "extract",
        model=model,
        **engine_part(options.backend),
        extractors="+".join(options.extractors),
        **({"encoder": signature(options.encoder)} if "similarity" in options.extractors else {}),
        **({"nli": signature(options.nli)} if "entailment" in options.extractors else {}),
        words=options.most_words,
        templates="+".join(rubric.template.signature for rubric in rubrics.values()),
        against=options.against,
        scoring=options.scoring,
        **attempts,
        **cut,
        sentences=splitter(),
        v=1,
    )


def open_extract(name: str, options: ExtractJudge, models: SharedModels) -> ExtractThenEvaluate:
    """The extract-then-evaluate judge that the options describe.

    Raises:
        ModelError: one of its models is a path that holds none.
    """
    extractors = [_extractor(kind, options, models) for kind in options.extractors]
    return ExtractThenEvaluate(name, options, extractors, lazy_backend(options.backend, options.model, models))


def _extractor(kind: str, options: ExtractJudge, models: SharedModels) -> Extractor:
    if kind == "lead":
        return Lead()
    if kind == "rouge":
        return Overlap()
    if kind == "similarity":
        return Supporting(_aligner("encoder", options.encoder, options.batch_size, models), whole_summary=True)
    return Supporting(_aligner("nli", options.nli, options.batch_size, models), whole_summary=False)


def _aligner(aligner: str, model: str, batch_size: int, models: SharedModels) -> Lazy[Aligner]:
    key = canonical_json(["extract", aligner, model, batch_size])
    return models.lazy(key, partial(load_aligner, aligner, model, batch_size))
