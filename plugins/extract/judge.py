"""Extract-then-evaluate: a long text is shortened to what matters for a summary, and a language model grades that.

Three grades (consistency 1 to 5, faithfulness 1 to 7, relevance 1 to 5) are mapped to [0, 1] and averaged. Source: Wu et al. 2023
(arXiv:2309.07382) by way of the code of Ri et al. 2025; docs/papers.md#ri-extract. That code joined four extracts
with their repeated sentences and lost their order, took contradiction for entailment, and averaged the grades as they were;
here the extract is a union in the order of the text within one budget, the class is found by its name, and grades are
normalised first. A text within the budget is judged whole.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

from ...config.judges import RubricJudge
from ...generate.backend import Backend
from ...judges.asking import LanguageModelJudge, Rounds, in_step
from ...judges.encoder import lazy_encoder
from ...judges.judge import JudgeInput, Kind, ModelReader, PromptNeeds, Verdict, judge_signature
from ...judges.nli import NliAligner, lazy_nli
from ...judges.overflow import CUT_WORDS, cut_words
from ...judges.rubric import (
    Rubric,
    engine_part,
    grades_of,
    lazy_backend,
    prompt_needs,
    rubric_template,
)
from ...judges.shared import Lazy, SharedModels
from ...judges.splitters import sentence_signature
from ...judges.support import NO_NUMBER
from ...models import signature
from ...prompts import PromptTemplate, load_template
from ...text.digests import canonical_json
from .extracting import Extract, Extractor, Lead, Supporting, WordOverlap, extract
from .sections import ExtractJudge

PROMPTS = Path(__file__).parent / "prompts"
# aspect -> lowest and highest grade
SCALES = {"consistency": (1, 5), "faithfulness": (1, 7), "relevance": (1, 5)}


class ExtractThenEvaluate(LanguageModelJudge):
    """Extracts and three rubrics on one language model as a judge, on a scale from 0 to 1."""

    low = 0.0
    high = 1.0

    def __init__(
        self, name: str, options: ExtractJudge, extractors: Sequence[Extractor], backend: Lazy[Backend]
    ) -> None:
        super().__init__(name, options, backend)
        self._most_words = options.most_words
        self._extractors = extractors
        sections = {aspect: _rubric_section(aspect, options) for aspect in SCALES}
        self._rubrics = {
            aspect: Rubric(name, section, rubric_template(name, section), backend, SCALES[aspect])
            for aspect, section in sections.items()
        }
        self.signature = _signature(options, self._rubrics, self.model)

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks of the three rubrics about these inputs' extracts.

        A verdict's `raw` has the three grades, the words of the extract, and by how many words it was cut, if it was.
        """
        extracts = self._extracts(inputs)
        open_inputs = [
            replace(judge_input, reference=found.text)
            for judge_input, found in zip(inputs, extracts, strict=True)
            if found is not None
        ]
        grades = yield from in_step([rubric.rounds(open_inputs) for rubric in self._rubrics.values()])
        graded = iter(zip(*grades, strict=True))
        return [
            Verdict(None, NO_NUMBER) if extracted is None else self._verdict(extracted, next(graded))
            for extracted in extracts
        ]

    def _extracts(self, inputs: Sequence[JudgeInput]) -> list[Extract | None]:
        """The references within the budget; None where an extractor's model gave no finite number."""
        extracts: list[Extract | None] = [Extract(each.reference) for each in inputs]
        long = [i for i, judge_input in enumerate(inputs) if len(judge_input.reference.split()) > self._most_words]
        if not long:
            return extracts
        # (extractors, long inputs, sentences)
        weights = [extractor.weigh([inputs[i] for i in long]) for extractor in self._extractors]
        for i, *rows in zip(long, *weights, strict=True):
            finite = all(math.isfinite(weight) for row in rows for weight in row)
            extracts[i] = extract(inputs[i].reference, rows, self._most_words) if finite else None
        return extracts

    def _verdict(self, extracted: Extract, verdicts: Sequence[Verdict]) -> Verdict:
        named = dict(zip(self._rubrics, verdicts, strict=True))
        attempts = max(verdict.attempts for verdict in verdicts)
        raw = {aspect: [v.score, v.raw] for aspect, v in named.items()} | {"words": len(extracted.text.split())}
        parts = [
            (v.score - SCALES[a][0]) / (SCALES[a][1] - SCALES[a][0]) for a, v in named.items() if v.score is not None
        ]
        if len(parts) < len(SCALES):
            reasons = sorted({verdict.unscored for verdict in verdicts if verdict.unscored})
            return Verdict(None, " and ".join(reasons), canonical_json(raw), attempts)
        n_cut = extracted.n_cut + max(cut_words(verdict.raw) for verdict in verdicts)
        cut = {CUT_WORDS: n_cut} if n_cut else {}
        return Verdict(round(fmean(parts), 6), None, canonical_json(raw | cut), attempts)

    def close(self) -> None:
        """Give the memory of the model and of the extractors' models back."""
        super().close()
        for extractor in self._extractors:
            extractor.close()


def _rubric_section(aspect: str, options: ExtractJudge) -> RubricJudge:
    return RubricJudge(
        kind="rubric",
        rubric="faithfulness",
        template=str(PROMPTS / f"extract-{aspect}.txt"),
        model=options.model,
        backend=options.backend,
        against=options.against,
        scoring=options.scoring,
        max_attempts=options.max_attempts,
        overflow=options.overflow,
    )


def _signature(options: ExtractJudge, rubrics: dict[str, Rubric], model: str) -> str:
    attempts = {"attempts": options.max_attempts} if options.scoring == "greedy" else {}
    cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
    return judge_signature(
        "extract-then-evaluate",
        "extract",
        model=model,
        **engine_part(options.backend, options.model),
        extractors="+".join(options.extractors),
        **(
            {"encoder": signature(options.encoder, options.encoder_revision)}
            if "similarity" in options.extractors
            else {}
        ),
        **({"nli": signature(options.nli, options.nli_revision)} if "entailment" in options.extractors else {}),
        words=options.most_words,
        templates="+".join(rubric.template.signature for rubric in rubrics.values()),
        against=options.against,
        scoring=options.scoring,
        **attempts,
        **cut,
        sentences=sentence_signature(),
        v=3 if options.scoring == "expected" else 2,
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
        return WordOverlap()
    if kind == "similarity":
        encoder = lazy_encoder(models, options.encoder, options.batch_size, options.encoder_revision)
        return Supporting(encoder, whole_summary=True)
    nli = lazy_nli(models, options.nli, options.batch_size, revision=options.nli_revision)
    return Supporting(nli, whole_summary=False)


def _readers(options: ExtractJudge) -> Iterator[ModelReader]:
    if "entailment" in options.extractors:
        read = partial(NliAligner, options.nli, 1, revision=options.nli_revision)
        yield ModelReader("nli", options.nli, options.nli_revision, read)


def _prompt_needs(name: str, options: ExtractJudge) -> PromptNeeds:
    needs = prompt_needs(name, _rubric_section("consistency", options))
    grades = [grades_of(scale) for scale in SCALES.values()] if needs.grades else []

    def shortest() -> PromptTemplate:
        return min(
            (load_template(f"extract-{aspect}", PROMPTS) for aspect in SCALES), key=lambda template: len(template.text)
        )

    # a source that is shortened to an extract fits
    return needs._replace(template=shortest, overflow="truncate", grades=grades)


EXTRACT = Kind(open_extract, ExtractJudge, readers=_readers, prompt=_prompt_needs)
