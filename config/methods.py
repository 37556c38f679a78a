"""The options of the methods that make candidates."""

from typing import Any, Literal

from pydantic import Field, model_validator

from .section import Section


class SelfRefineSection(Section):
    """A summary, then rounds of feedback and revision."""

    # rounds after the first summary
    rounds: int = Field(default=3, ge=1)
    # most tokens of a feedback; summaries have the plan's max_tokens
    feedback_tokens: int = Field(default=256, ge=1)


class DebateSection(Section):
    """Agents that answer, then revise their answers in sight of the others'."""

    # agents that answer in each round
    agents: int = Field(default=3, ge=2)
    # revisions after the first answers
    rounds: int = Field(default=3, ge=1)
    # "first": the first agent's last answer; "final_agent": one more call that sees all last answers; "judge": each agent's last
    # answer is a candidate of its own, and reranking takes the best, so a plan has as many candidates as agents, or a multiple
    final: Literal["first", "final_agent", "judge"] = "first"


class AttentionReweightingSection(Section):
    """Position-invariant attention over the passages."""

    # "target": the passages of the side that is asked for, the others stand before them; "all": the passages of all sides, as
    # task.scope: all needs it
    mode: Literal["target", "all"] = "target"
    # false runs the same prompts on the same backend with ordinary attention: the control
    reweight: bool = True


class ShuffledSection(Section):
    """One summary of each cyclic rotation of the side's documents, then all of them merged."""

    # most rotations of a request, evenly spaced; None takes as many as the side has documents
    rotations: int | None = Field(default=None, ge=1)


class ChainOfThoughtSection(Section):
    """Key points, a summary of them, a critique, a revision."""

    # most tokens of the key points and of the critique; summaries have the plan's max_tokens
    thought_tokens: int = Field(default=256, ge=1)


class RegenerationSection(Section):
    """Summaries that are drawn once more, because they are far too short or too long; the defaults are the published values."""

    # those of so many white-space words or fewer, and of so many or more
    few_words: int = Field(default=35, ge=0)
    many_words: int = Field(default=75, ge=1)
    # the draw nearer to so many words is kept, the first of equals
    words: int = Field(default=50, ge=1)
    # most tokens of the second draw; the first has the plan's
    max_tokens: int = Field(default=256, ge=1)

    @model_validator(mode="after")
    def _wanted_length_is_between(self) -> "RegenerationSection":
        if not self.few_words < self.words < self.many_words:
            raise ValueError(
                f"words lie between few_words and many_words, got {self.few_words}, {self.words}, {self.many_words}; "
                "published are few_words: 35, words: 50, many_words: 75"
            )
        return self


class ThinnedSection(Section):
    """For training: a summary of all documents, and of copies of the set that lack some documents of one value."""

    # share of all documents that is taken from a copy, at least one document
    rate: float = Field(default=0.1, gt=0, lt=1)
    # a longer summary is cut after its last sentence that ends within so many characters, if that leaves half of them; the
    # published runs cut at 400. None cuts nothing
    most_characters: int | None = Field(default=None, ge=2)
    # the published runs do all of these three. A refusal and a text that speaks of "document 1" leave an empty summary and an
    # issue: "refusal" or "names_document". The judges `length` and `contract` give it 0; every other one leaves it unscored,
    # which counts towards limits.unscored
    reject: bool = False
    # lines of at most one character are dropped; of more than two lines the first, and of two where the second is longer
    # (issue "first_line"); the others are joined with spaces
    join_lines: bool = False
    # None draws nothing again
    regenerate: RegenerationSection | None = None

    def chosen(self) -> dict[str, Any]:
        """The options that summaries depend on, as JSON; those that are off are left out and change no finished work."""
        off = {name for name in ("reject", "join_lines", "regenerate") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude=off)


# method -> key of its options
METHOD_OPTIONS = {
    "self-refine": "self_refine",
    "debate": "debate",
    "attention-reweighting": "attention_reweighting",
    "shuffled": "shuffled",
    "chain-of-thought": "chain_of_thought",
    "thinned": "thinned",
    "fair-extractive": "fair_extractive",
}
