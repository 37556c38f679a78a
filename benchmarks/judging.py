"""Judging: all rubrics and candidates of a document together, against one call for each with the rubric first.

Nine summaries of each of twenty documents of about 1,400 tokens are graded by two rubrics on one model. evenhand puts the
document first and asks everything together, so that a document is run once. The usual research code puts the rubric first and
makes one call for each summary and rubric. All have the same engine.

    evenhand     everything together
    one by one   the usual way; nothing is kept between calls, so a document is run eighteen times
    with cache   the same with vLLM's prefix cache kept from call to call: a document is run once for each rubric

`--alone` leaves the other two out: what is prefilled by a model with which they take hours.

"prefilled" are the prompt tokens that went through the model. The least that any engine could run is every distinct beginning of
evenhand's prompts once: the nodes of the tree that their tokens form. "of least" is prefilled over that.
"""

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..config import CorpusSection, ModelSection, ReplicatedSection
from ..config.judges import RubricJudge
from ..corpora import load_corpus
from ..errors import DataError
from ..extras import need
from ..generate.backend import Ask, Reply, Usage, prompt_tokens
from ..generate.vllm_backend import VllmBackend
from ..judges.asking import score_together
from ..judges.judge import JudgeInput
from ..judges.rubric import GRADES, ONE_GRADE, Rubric, open_rubric
from ..judges.shared import SharedModels
from ..models import locate, signature
from ..prompts import PromptTemplate
from ..records import Message
from ..text import sentences
from .measure import Contender, Counts, Extrapolated, Table, compare
from .report import Report, bench_options, count, run_bench

RUBRICS: tuple[Literal["coverage", "faithfulness"], ...] = ("coverage", "faithfulness")
TOGETHER = "evenhand"
ONE_BY_ONE = "one by one"
CACHED = "with cache"

SOURCE = "<source>\n{source}\n</source>\n\n"


@dataclass(frozen=True)
class Work:
    """What is judged, and by what."""

    judges: Sequence[Rubric]
    # the candidates of each document
    documents: Sequence[Sequence[JudgeInput]]
    tokenizer: Any

    def least(self, n_documents: int) -> int:
        """Least number of tokens to run for the first `n_documents` documents when prompts share their beginnings."""
        prompts = [
            prompt_tokens(self.tokenizer, judge.prompt(each))
            for inputs in self.documents[:n_documents]
            for each in inputs
            for judge in self.judges
        ]
        return shared_minimum(prompts)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "judging",
        __doc__,
        argv,
        {"documents": 2, "candidates": 2, "tokens": 100, "one_by_one": 1, "repeats": 1},
        "backends",
        "model",
        "dtype",
        "engine",
        documents=count(20),
        candidates=count(9, "summaries of each document"),
        tokens=count(1400, "least length of a document"),
        one_by_one=count(2, "documents that are judged one call at a time; the seconds are scaled to all of them"),
        alone={"action": "store_true", "help": "evenhand's way alone, without a warm-up"},
    )
    report = Report("judging", vars(options) | {"model": signature(options.model)})
    for backend in options.backends:
        report.add(judging_table(backend, options))
    report.finish()


def judging_table(backend: str, options: argparse.Namespace) -> Table:
    """Both ways timed on one backend."""
    tokenizer = need("transformers", "benchmark 'judging'").AutoTokenizer.from_pretrained(
        locate(options.model), trust_remote_code=False
    )
    documents = [
        [
            JudgeInput(candidate_id=f"{i}#{n}", request_id=str(i), text=summary, contract_ok=True, reference=document)
            for n, summary in enumerate(sentences(document)[: options.candidates])
        ]
        for i, document in enumerate(long_documents(tokenizer, options.documents, options.tokens))
    ]
    section = ReplicatedSection.model_validate(
        {
            "backend": backend,
            # instructions, rubric, summary and one grade, beside the document and the text that exceeds its least length
            "max_model_len": options.tokens + 1024,
            "engine": options.engine if backend == "vllm" else {},
        }
    )
    model, models = ModelSection(name=options.model, dtype=options.dtype), SharedModels()
    judges = [
        open_rubric(name, RubricJudge(kind="rubric", rubric=name, model=model, backend=section), models)
        for name in RUBRICS
    ]
    work = Work(judges, documents, tokenizer)
    loaded = work.judges[0].backend
    with closing(loaded):
        engine = loaded.get()
        n_apart = min(options.one_by_one, len(documents))
        apart = partial(_one_by_one, work, n_apart, work.least(n_apart))
        scaled = Extrapolated(n_apart, len(documents), "documents")
        contenders = [Contender(TOGETHER, partial(_together, work, work.least(len(documents))))]
        if not options.alone:
            contenders.append(Contender(ONE_BY_ONE, partial(apart, engine.complete), extrapolated=scaled))
        if isinstance(engine, VllmBackend) and not options.alone:
            contenders.append(
                Contender(CACHED, partial(apart, engine.complete_cached), engine.empty_cache, extrapolated=scaled)
            )
        return compare(
            f"{len(documents)} documents x {options.candidates} candidates x {len(RUBRICS)} rubrics, backend {backend}",
            contenders,
            options.repeats,
            [each.name for each in contenders[1:]],
            warm_up=not (options.quick or options.alone),
        )


def _together(work: Work, least: int) -> Counts:
    inputs = [each for document in work.documents for each in document]
    verdicts, used = score_together([(judge, inputs) for judge in work.judges])
    n_scored = sum(verdict.score is not None for row in verdicts for verdict in row)
    return _counts(used, least, n_scored, len(inputs) * len(work.judges))


def _one_by_one(work: Work, n_documents: int, least: int, complete: Callable[[Sequence[Ask]], list[Reply]]) -> Counts:
    """The same grades asked for in the usual layout, one at a time."""
    backend = work.judges[0].backend.get()
    before = Usage(backend.usage.prompt_tokens, backend.usage.prefilled_tokens)
    templates = [rubric_first(judge.template) for judge in work.judges]
    replies = [
        complete([Ask((Message(role="user", content=template.fill(texts=texts)),), ONE_GRADE, 0, GRADES)])[0]
        for document in work.documents[:n_documents]
        for texts in ({"source": each.reference, "summary": each.text} for each in document)
        for template in templates
    ]
    used = Usage(
        backend.usage.prompt_tokens - before.prompt_tokens, backend.usage.prefilled_tokens - before.prefilled_tokens
    )
    return _counts(used, least, sum(bool(reply.choice_probabilities) for reply in replies), len(replies))


def _counts(used: Usage, least: int, n_scored: int, n_asked: int) -> Counts:
    if n_scored < n_asked:
        raise DataError(
            f"{n_asked - n_scored} of {n_asked} summaries got no grade, so the two ways do not do the same work"
        )
    return {
        "asked": used.prompt_tokens,
        "prefilled": used.prefilled_tokens,
        "of least": round(used.prefilled_tokens / least, 3),
    }


def rubric_first(template: PromptTemplate) -> PromptTemplate:
    """The template with its source moved from the beginning to just before the summary: the same words, the usual order."""
    head, _, rest = template.text.partition(SOURCE)
    task, _, summary = rest.partition("<summary>")
    assert task and summary, f"{template.name} has its sections in another order"
    return PromptTemplate(template.name, f"{head}{task}{SOURCE}<summary>{summary}")


def shared_minimum(prompts: Sequence[list[int]]) -> int:
    """Number of distinct beginnings of the prompts: the tokens that must be run when each shared one is run once."""
    found = 0
    before: list[int] = []
    # in sorted order a prompt shares most with the one before it
    for prompt in sorted(prompts):
        same = next((i for i, (a, b) in enumerate(zip(prompt, before, strict=False)) if a != b), None)
        found += len(prompt) - (min(len(prompt), len(before)) if same is None else same)
        before = prompt
    return found


def long_documents(tokenizer: Any, n: int, least_tokens: int) -> list[str]:
    """Documents of at least `least_tokens` tokens each, joined from the sample's texts, no two with the same first text."""
    texts = [document.text for each in load_corpus(CorpusSection()) for document in each.documents]
    if n > len(texts):
        raise DataError(
            f"{n} documents are asked for, but the sample corpus has only {len(texts)} texts to begin them with"
        )
    lengths = [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
    found = []
    for document in range(n):
        place = document * (len(texts) // n)
        parts: list[str] = []
        length = 0
        while length < least_tokens:
            parts.append(texts[place % len(texts)])
            length += lengths[place % len(texts)]
            place += 1
        found.append("\n".join(parts))
    return found


if __name__ == "__main__":
    run_bench(main)
