"""A language model as judge: it grades coverage or faithfulness by a rubric, from 1 to 5 unless its mode has another scale.

The prompt gives the source first, then the rubric, then the summary, so that all candidates of a request share the long
part of it. "expected" asks for one of the grades and takes the mean grade under the model's distribution where the grades'
tokens part (generate/answers.py): no parsing, few ties. "greedy" is the published way: the reply is read as text, an unreadable
one is asked for again with another seed, and when all attempts fail the candidate is left unscored. `on_fail: min` gives it the
lowest grade instead, as the released code did, and says so. Source: docs/papers.md#ri-rubrics. "thought" lets the model think
first and takes the mean of several replies' grades (`thought.py`).

A model in bfloat16 rounds differently with the prompts that are run beside one, so an expected grade may differ by some
hundredths between runs that ask in other company; the cache keeps the first. In float32 it does not.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..config import BackendSection, ModelSection, without_speed
from ..config.judges import SCALES, RubricJudge
from ..config.section import Check
from ..errors import ModelError, RecipeError
from ..generate.answers import reading, written_choice
from ..generate.backend import Ask, Backend, Reply
from ..generate.backends import open_backend
from ..prompts import VERSION as FENCE
from ..prompts import PromptTemplate, load_template
from ..records import Message, Sampling
from ..text.digests import canonical_json, digest
from .asking import CUT_OFF, UNREADABLE, LanguageModelJudge, Rounds, refused, samplings, until_read
from .judge import JudgeInput, Kind, PromptNeeds, Verdict, judge_signature
from .overflow import CUT_WORDS, flags_of, within_length
from .shared import Lazy, SharedModels
from .thought import mean_verdict, that_may_think, thinking
from .verdict_text import parse_judge

PROMPTS = Path(__file__).parent / "prompts"
FIELDS = frozenset({"source", "summary"})

# the grades of the standard mode
GRADES = ("1", "2", "3", "4", "5")

ONE_GRADE = Sampling(temperature=0.0, max_tokens=1)
# key of a verdict's `raw` that has the grade that was written, where the expected one cannot be told
GREEDY = "greedy"
# key of a verdict's `raw` that has the distribution, where a server held the answer of a chat to the grades
GUIDED = "guided"
# why a reply without probabilities has no score
NO_GRADE = "reply is no grade"
# tokens of a reply that is read as text: it should be one number; the rest is room for models that introduce it
MOST_WRITTEN = 64


class Rubric(LanguageModelJudge):
    """One rubric on one language model as a judge."""

    def __init__(
        self,
        name: str,
        options: RubricJudge,
        template: PromptTemplate,
        backend: Lazy[Backend],
        scale: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(name, options, backend)
        scale = scale or SCALES[options.mode]
        low, high = scale
        self.low = float(low)
        self.high = float(high)
        self._grades = grades_of(scale)
        self.signature = _signature(options, template, self.model, f"{low}-{high}")
        self._options = options
        self.template = template

    def prompt(self, judge_input: JudgeInput) -> tuple[Message, ...]:
        """The chat that asks for the grade of one summary."""
        text = self.template.fill(texts={"source": judge_input.reference, "summary": judge_input.text})
        return (Message(role="user", content=text),)

    def rounds(self, inputs: Sequence[JudgeInput]) -> Rounds:
        """The asks about these inputs: one round, or further ones with what could not be read or was shortened."""
        ask = {"expected": self._expected, "greedy": self._greedy, "thought": self._thought}[self._options.scoring]
        most_tokens = self._options.backend.max_model_len - reply_tokens(self._options)
        return within_length(ask, self.prompt, inputs, self._options.overflow, most_tokens)

    def _expected(self, inputs: Sequence[JudgeInput]) -> Rounds:
        replies = yield [
            Ask(self.prompt(judge_input), ONE_GRADE, self.seed(judge_input, 1), self._grades) for judge_input in inputs
        ]
        return [_expected_verdict(reply, self._grades) for reply in replies]

    def _greedy(self, inputs: Sequence[JudgeInput]) -> Rounds:
        attempts = samplings(self._options.max_attempts, MOST_WRITTEN)
        verdicts = yield from until_read(self, inputs, attempts, self._read)
        if self._options.on_fail != "min":
            return verdicts
        # the lowest grade for what could not be read, flagged in `raw`
        return [
            replace(
                verdict, score=self.low, unscored=None, raw=canonical_json({"failed": True, "replies": verdict.raw})
            )
            if verdict.unscored in (UNREADABLE, CUT_OFF)
            else verdict
            for verdict in verdicts
        ]

    def _thought(self, inputs: Sequence[JudgeInput]) -> Rounds:
        sampling, n_draws = thinking(reply_tokens(self._options)), self._options.draws
        replies = yield [
            Ask(self.prompt(judge_input), sampling, self.seed(judge_input, draw))
            for judge_input in inputs
            for draw in range(1, n_draws + 1)
        ]
        return [
            mean_verdict(replies[start : start + n_draws], self._grades) for start in range(0, len(replies), n_draws)
        ]

    def _read(self, judge_input: JudgeInput, replies: Sequence[str]) -> float | None:
        """The grade that the last reply gives, a whole one; those before it gave none."""
        return parse_judge(replies[-1], self.low, self.high, integer_only=True)


def grades_of(scale: tuple[int, int]) -> tuple[str, ...]:
    """The grades from the lowest to the highest, as a model writes them."""
    low, high = scale
    return tuple(str(grade) for grade in range(low, high + 1))


def _expected_verdict(reply: Reply, grades: Sequence[str]) -> Verdict:
    """The mean grade under the reply's distribution; `raw` is that, and says where a server held the answer to the grades."""
    if reply.finish_reason == "failed":
        return refused(reply, 1)
    shares = {grade: reply.choice_probabilities.get(grade, 0.0) for grade in grades}
    if not reply.choice_probabilities:
        # a server without logprobs: the grade that it wrote, and `raw` says so
        if grade := written_choice(reply.text, grades):
            return Verdict(float(grade), raw=canonical_json({GREEDY: reply.text}))
        return Verdict(None, NO_GRADE, reply.text)
    # not-a-number fails this as well
    if not math.isclose(math.fsum(shares.values()), 1.0, abs_tol=1e-3):
        return Verdict(None, "grade probabilities do not sum to 1", str(shares))
    # digits beyond these differ with the prompts that stood beside this one, in bfloat16 even the second may
    expected = math.fsum(int(grade) * share for grade, share in shares.items()) / math.fsum(shares.values())
    raw = {grade: round(share, 6) for grade, share in shares.items()}
    return Verdict(round(expected, 6), raw=canonical_json({GUIDED: raw} if reply.is_guided else raw))


def was_greedy(raw: str | None) -> bool:
    """Whether a score's `raw` says that it is the grade that was written, for want of probabilities; of a cut source, too."""
    return _is_marked(raw, GREEDY)


def was_guided(raw: str | None) -> bool:
    """Whether a score's `raw` says that a server held the answer to the grades; of a cut source, too."""
    return _is_marked(raw, GUIDED)


def _is_marked(raw: str | None, mark: str) -> bool:
    flags = flags_of(raw)
    return flags.keys() == {mark} or (flags.keys() == {CUT_WORDS, "reply"} and _is_marked(flags["reply"], mark))


def _signature(options: RubricJudge, template: PromptTemplate, model: str, scale: str) -> str:
    attempts = {"attempts": options.max_attempts} if options.scoring == "greedy" else {}
    if options.scoring == "thought":
        attempts = {"thought": options.thought_tokens or 0, "draws": options.draws}
    on_fail = {"on_fail": options.on_fail} if options.on_fail != "unscored" else {}
    # where a source is cut depends on the room; a prompt that is skipped has no score that could
    cut = {"cut_to": options.backend.max_model_len} if options.overflow == "truncate" else {}
    return judge_signature(
        options.rubric,
        "rubric",
        model=model,
        **engine_part(options.backend, options.model),
        template=template.signature,
        against=options.against,
        scale=scale,
        scoring=options.scoring,
        **attempts,
        **on_fail,
        **cut,
        v=_version(options),
    )


def _version(options: RubricJudge) -> int:
    """Of how grades are asked for and read, one more with every change."""
    if options.scoring == "thought":
        return 1
    if options.scoring == "greedy":
        # 6: nor is a fraction that counts anything else; 5: nor are ranges, bounds, other scales and what a reply denies;
        # 4: nor is a fraction that counts points of a text; 3: a number in a sentence is none
        return 6
    # 4, of chats of servers: at the token that is the written grade; 3: behind what their answers have in common
    server = options.backend.server
    return 4 if server is not None and not server.sends_tokens else 3


def engine_part(backend: BackendSection, model: ModelSection) -> dict[str, str]:
    """The parts of a signature that say how texts are fenced, and which engine arguments and switches change replies."""
    engine = without_speed(backend.model_dump(mode="json"))["engine"]
    parts = {"engine": engine, "switches": model.chat_template_kwargs}
    return {"fence": str(FENCE)} | {name: digest(value, 8) for name, value in parts.items() if value}


def lazy_backend(backend: BackendSection, model: ModelSection, models: SharedModels) -> Lazy[Backend]:
    """The backend of these sections, which judges that name the same ones share."""
    key = canonical_json([model.model_dump(mode="json"), backend.model_dump(mode="json")])
    return models.lazy(key, partial(open_backend, backend, model, model.adapter))


def open_rubric(name: str, options: RubricJudge, models: SharedModels) -> Rubric:
    """The LLM judge that the options describe.

    Raises:
        RecipeError: its template does not exist, or its fields are not {source} and {summary}.
        ModelError: its model is a path that holds no model.
    """
    template = rubric_template(name, options)
    return Rubric(name, options, template, lazy_backend(options.backend, options.model, models))


def rubric_template(name: str, options: RubricJudge) -> PromptTemplate:
    """The prompt of the LLM judge.

    Raises:
        RecipeError: it does not exist, or its fields are not {source} and {summary}.
    """
    shipped = options.rubric if options.mode == "standard" else f"{options.rubric}-{options.mode}"
    place = f"key 'judges.{name}.template': "
    template = load_template(options.template or shipped, PROMPTS, place)
    if template.fields != FIELDS:
        raise RecipeError(
            f"{place}{template.name!r} has the fields {sorted(template.fields)}, "
            "but a rubric needs {source} and {summary}, and no others"
        )
    # one's own template says itself how to answer
    is_rewritten = options.scoring == "thought" and options.template is None
    return that_may_think(template, options.rubric) if is_rewritten else template


def reply_tokens(options: RubricJudge) -> int:
    """Most tokens of a reply: of the thought, where there is one, and of the grade."""
    return ONE_GRADE.max_tokens if options.scoring == "expected" else (options.thought_tokens or 0) + MOST_WRITTEN


def prompt_needs(name: str, options: RubricJudge) -> PromptNeeds:
    """What the judge asks its model for."""
    expects = options.scoring == "expected"
    grades = [grades_of(SCALES[options.mode])] if expects else []
    return PromptNeeds(partial(rubric_template, name, options), reply_tokens(options), options.overflow, grades)


def refuse_unreadable_grades(key: str, model: str, grades: Iterable[Sequence[str]], tokenizer: Any) -> None:
    """Refuse grades that this tokenizer, the model's own, cannot tell apart; no weights are needed.

    Raises:
        RecipeError: they cannot be read as probabilities.
    """
    for grade in grades:
        try:
            reading(tokenizer, grade)
        except ModelError as error:
            raise RecipeError(f"key {key!r}: model {model!r}: {error}") from error


RUBRIC = Kind(
    open_rubric,
    RubricJudge,
    checks=lambda name, options: [Check("template", partial(rubric_template, name, options))],
    prompt=prompt_needs,
)
