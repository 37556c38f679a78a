"""FineSurE: a language model that checks a summary sentence by sentence, and answers with a JSON list.

"faithfulness" names the kind of error of each sentence and is the share of those without; "completeness" asks of each listed key
fact whether the summary implies it and is the share of those that it does; "conciseness" is the share of the summary's sentences
that imply some key fact. Source: Song et al. 2024 and its code; docs/papers.md#ri-metrics.

The code of Ri et al. 2025 split at line breaks, so that a summary of one line got 0 or 1, and divided by zero when a reply
could not be read. Here sentences are split by sentencex, and a summary whose replies cannot be read is unscored. The prompts
are our own.

A reply must hold exactly one JSON list of objects, with whatever words around it. Each object names its sentence or key fact by
number, or the objects stand in order, one for each; a reply that leaves one out has said nothing of the others.
"""

import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...generate.backend import Backend
from ...judges.asking import LanguageModelJudge, Rounds, samplings, until_read
from ...judges.judge import JudgeInput, Kind, PromptNeeds, judge_signature
from ...judges.overflow import within_length
from ...judges.rubric import engine_part, lazy_backend
from ...judges.shared import Lazy, SharedModels
from ...judges.splitters import sentence_signature
from ...prompts import PromptTemplate, load_template
from ...records import Message
from ...text import sentences
from ...text.thoughts import without_thoughts
from .sections import FineSurEJudge

PROMPTS = Path(__file__).parent / "prompts"


class FineSurE(LanguageModelJudge):
    """One measure of FineSurE as a judge, on a scale from 0 to 1."""

    low = 0.0
    high = 1.0

    def __init__(self, name: str, options: FineSurEJudge, backend: Lazy[Backend]) -> None:
        super().__init__(name, options, backend)
        self._options = options
        self._template = finesure_template(options)
        cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
        self.signature = judge_signature(
            f"finesure-{options.measure}",
            "finesure",
            model=self.model,
            **engine_part(options.backend, options.model),
            template=self._template.signature,
            against=options.against,
            reply=options.most_reply_tokens,
            attempts=options.max_attempts,
            **cut,
            sentences=sentence_signature(),
            # 3: thoughts in any marks are no verdict
            v=3,
        )

    def prompt(self, judge_input: JudgeInput) -> tuple[Message, ...]:
        """The chat that asks about one summary; what is asked about is numbered."""
        about_facts = self._options.measure != "faithfulness"
        source = _numbered(key_facts(judge_input)) if about_facts else judge_input.reference
        text = self._template.fill(texts={"source": source, "summary": _numbered(sentences(judge_input.text))})
        return (Message(role="user", content=text),)

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs, and about those whose replies could not be read."""
        n_reply = self._options.most_reply_tokens
        attempts = samplings(self._options.max_attempts, n_reply)

        def ask(some: Sequence[JudgeInput]) -> Rounds:
            return until_read(self, some, attempts, self._read)

        most_tokens = self._options.backend.max_model_len - n_reply
        return within_length(ask, self.prompt, inputs, self._options.overflow, most_tokens)

    def _read(self, judge_input: JudgeInput, replies: Sequence[str]) -> float | None:
        n_sentences, reply = len(sentences(judge_input.text)), replies[-1]
        if self._options.measure == "faithfulness":
            categories = read_categories(reply, n_sentences)
            return None if categories is None else categories.count("no error") / n_sentences
        fact_lines = read_key_facts(reply, len(key_facts(judge_input)), n_sentences)
        if fact_lines is None:
            return None
        if self._options.measure == "completeness":
            return sum(bool(lines) for lines in fact_lines) / len(fact_lines)
        return len(set().union(*fact_lines)) / n_sentences


def key_facts(judge_input: JudgeInput) -> list[str]:
    """The key facts that the summary is compared with, one a line of its reference."""
    return [line.strip() for line in judge_input.reference.splitlines() if line.strip()]


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
    FineSurEJudge,
    prompt=lambda name, options: PromptNeeds(
        partial(finesure_template, options), options.most_reply_tokens, options.overflow
    ),
)


KINDS = frozenset(
    {"no", "out-of-context", "entity", "predicate", "circumstantial", "grammatical", "coreference", "linking", "other"}
)
DECODER = json.JSONDecoder()


def read_categories(reply: str, n_sentences: int) -> list[str] | None:
    """The category of each sentence, "no error" among them; None when the reply does not give exactly one for each."""
    rows = _rows(reply, "sentence", n_sentences)
    answers = [_category(row.get("category")) for row in rows or ()]
    categories = [category for category in answers if category]
    return categories if rows and len(categories) == n_sentences else None


def read_key_facts(reply: str, n_facts: int, n_sentences: int) -> list[frozenset[int]] | None:
    """The sentences, counted from 1, that each key fact is inferred from, none for a fact that is not.

    None when the reply does not answer Yes or No for each fact, or when a Yes names no sentence or one that the summary does not
    have.
    """
    rows = _rows(reply, "key fact", n_facts)
    answers = [_lines(row, n_sentences) for row in rows or ()]
    lines = [answer for answer in answers if answer is not None]
    return lines if rows and len(lines) == n_facts else None


def _rows(reply: str, key: str, n: int) -> list[dict[str, Any]] | None:
    """The reply's objects in the order of what they are about; None unless there is one for each of `n`."""
    lists = _lists(without_thoughts(reply).text)
    if len(lists) != 1 or len(lists[0]) != n:
        return None
    rows = lists[0]
    numbers = [_number(row.get(key)) for row in rows]
    if all(number is None for number in numbers):
        return rows
    by_number = dict(zip(numbers, rows, strict=True))
    return [by_number[i] for i in range(1, n + 1)] if by_number.keys() == set(range(1, n + 1)) else None


def _lists(text: str) -> list[list[dict[str, Any]]]:
    """The outermost JSON lists of objects in a text; none in a text that JSON's reader gives up on."""
    lists = []
    place = text.find("[")
    while place >= 0:
        try:
            value, end = DECODER.raw_decode(text, place)
        except json.JSONDecodeError:
            value, end = None, place + 1
        except (RecursionError, ValueError):
            # brackets nested a thousand deep, or a number of thousands of digits
            return []
        if value and all(isinstance(entry, dict) for entry in value):
            lists.append(value)
        place = text.find("[", end)
    return lists


def _number(value: Any) -> int | None:
    """The number in 2, "2", "[2]" and "[2] The ferry ..."; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    match = re.match(r"\s*(?:\[(\d{1,9})\]|(\d{1,9})\s*$)", str(value))
    return int(match[1] or match[2]) if match else None


def _category(value: Any) -> str | None:
    """The category in lower case and with its "error"; None for one that FineSurE does not have."""
    if not isinstance(value, str):
        return None
    kind = re.sub(r"[\s_]+", " ", value).strip(" .[]").lower().removesuffix("error").strip()
    kind = kind.replace("out of context", "out-of-context")
    return f"{kind} error" if kind in KINDS else None


def _lines(row: dict[str, Any], n_sentences: int) -> frozenset[int] | None:
    response = row.get("response")
    if not isinstance(response, str) or response.strip().lower() not in ("yes", "no"):
        return None
    if response.strip().lower() == "no":
        return frozenset()
    field = row.get("line number")
    values: Sequence[Any] = field if isinstance(field, list) else [field]
    numbers = [_number(value) for value in values]
    lines = frozenset(number for number in numbers if number is not None and 1 <= number <= n_sentences)
    return lines if lines and len(lines) == len(set(numbers)) else None
