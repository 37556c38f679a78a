"""FineSurE: a language model that checks a summary sentence by sentence, and answers with a JSON list.

"faithfulness" names the kind of error of each sentence and is the share of those without; "completeness" asks of each listed key
fact whether the summary implies it and is the share of those that it does; "conciseness" is the share of the summary's sentences
that imply some key fact. Source: Song et al. 2024 and its code; docs/papers.md#ri-metrics.

The code of Ri et al. 2025 split at line breaks, so that a summary of one line got 0 or 1, and divided by zero when a reply
could not be read. Here sentences are split by sentencex, and a summary whose replies cannot be read is unscored. The prompts
are our own.
"""

from collections.abc import Sequence
from functools import partial

from ..config.judges import FineSurEJudge
from ..generate.backend import Backend
from ..generate.backends import backend_signature
from ..prompts import PromptTemplate, load_template
from ..records import Message, Sampling
from ..storage import digest
from ..text import sentences
from .asking import Rounds, ask_together
from .attempts import until_read
from .finesure_reply import read_categories, read_key_facts
from .judge import Against, JudgeInput, Kind, PromptNeeds, Verdict, judge_signature
from .overflow import within_length
from .rubric import PROMPTS, engine_part, lazy_backend
from .shared import Lazy, SharedModels
from .splitters import sentence_signature


class FineSurE:
    """One measure of FineSurE as a judge, on a scale from 0 to 1."""

    low = 0.0
    high = 1.0

    def __init__(self, name: str, options: FineSurEJudge, backend: Lazy[Backend]) -> None:
        self.name = name
        self.against: Against | None = options.against
        self.loads = backend.key
        self.requests_per_batch = options.backend.requests_per_batch
        self.model = backend_signature(options.backend, options.model, options.model.adapter)
        self.backend = backend
        self._options = options
        self._template = finesure_template(options)
        cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
        self.signature = judge_signature(
            f"finesure-{options.measure}",
            "finesure",
            model=self.model,
            **engine_part(options.backend),
            template=self._template.signature,
            against=options.against,
            reply=options.most_reply_tokens,
            attempts=options.max_attempts,
            **cut,
            sentences=sentence_signature(),
            v=2,
        )

    def prompt(self, each: JudgeInput) -> tuple[Message, ...]:
        """The chat that asks about one summary; what is asked about is numbered."""
        about_facts = self._options.measure != "faithfulness"
        source = _numbered(key_facts(each)) if about_facts else each.reference
        text = self._template.fill(texts={"source": source, "summary": _numbered(sentences(each.text))})
        return (Message(role="user", content=text),)

    def score(self, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """One verdict for each input, in order; its `raw` is the reply, or a JSON list of several."""
        verdicts, _ = ask_together(self.backend, [self.rounds(inputs)])
        return verdicts[0]

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, and about those whose replies could not be read."""
        n_reply = self._options.most_reply_tokens
        first, later = Sampling(temperature=0.0, max_tokens=n_reply), Sampling(temperature=0.7, max_tokens=n_reply)
        attempts = [first] + [later] * (self._options.max_attempts - 1)

        def ask(some: Sequence[JudgeInput]) -> Rounds:
            return until_read(self, some, attempts, self._read)

        most_tokens = self._options.backend.max_model_len - n_reply
        return within_length(ask, self.prompt, inputs, self._options.overflow, most_tokens)

    def _read(self, each: JudgeInput, replies: Sequence[str]) -> float | None:
        n_sentences, reply = len(sentences(each.text)), replies[-1]
        if self._options.measure == "faithfulness":
            categories = read_categories(reply, n_sentences)
            return None if categories is None else categories.count("no error") / n_sentences
        found = read_key_facts(reply, len(key_facts(each)), n_sentences)
        if found is None:
            return None
        if self._options.measure == "completeness":
            return sum(bool(lines) for lines in found) / len(found)
        return len(set().union(*found)) / n_sentences

    def seed(self, each: JudgeInput, attempt: int) -> int:
        """A seed that depends on what is judged and on nothing else."""
        return int(digest([self.signature, each.reference, each.text, attempt], length=8), 16)

    def close(self) -> None:
        """Give the model's memory back."""
        self.backend.close()


def key_facts(each: JudgeInput) -> list[str]:
    """The key facts that the summary is compared with, one a line of its reference."""
    return [line.strip() for line in each.reference.splitlines() if line.strip()]


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, start=1))


def finesure_template(options: FineSurEJudge) -> PromptTemplate:
    """The prompt of the measure."""
    shipped = "finesure-faithfulness" if options.measure == "faithfulness" else "finesure-key_facts"
    return load_template(shipped, PROMPTS)


def open_finesure(name: str, options: FineSurEJudge, models: SharedModels) -> FineSurE:
    """The FineSurE judge that the options describe.

    Raises:
        ModelError: its model is a path that holds no model.
    """
    return FineSurE(name, options, lazy_backend(options.backend, options.model, models))


FINESURE = Kind(
    open_finesure,
    prompt=lambda name, each: PromptNeeds(partial(finesure_template, each), each.most_reply_tokens, each.overflow),
)
