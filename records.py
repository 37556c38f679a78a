"""The records: frozen and validated in memory, one JSON object a line on disk.

    DocumentSet -> SummaryRequest -> Candidate -> Judgement -> CandidateGroup -> PreferencePair

A record is checked once, where it is made or read, and then trusted. Unknown keys are refused: a misspelt key is a
mistake that would otherwise surface three stages later.
"""

import math
from collections.abc import Mapping, Sequence
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt, model_validator

from .text import fold, look_alike, one_spelling, repeated, some_of


def not_blank(text: str) -> str:
    """The text; refused when it is blank."""
    if not text.strip():
        raise ValueError("is empty; give it some text or leave the record out")
    return text


def is_none(value: object) -> bool:
    """Whether a field has no value; one that came later and has none is left out of files, which stay as they were before it."""
    return value is None


Text = Annotated[str, AfterValidator(not_blank)]
# an attribute value, in the one spelling of all that look the same
Value = Annotated[str, AfterValidator(one_spelling), AfterValidator(not_blank)]


def _by_value(points: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Key points of each attribute value, under the one spelling of all that look the same."""
    if twice := repeated(map(one_spelling, points)):
        raise ValueError(f"has the value {some_of([repr(value) for value in twice])} in several spellings; keep one")
    return {one_spelling(value): texts for value, texts in points.items()}


# what joins the texts of one value unless the corpus says otherwise
SEPARATOR = " || "
# note of a document set: side -> the prompt that the corpus's authors published
RELEASED_PROMPTS = "released_prompts"
# note of a document set: attribute -> the groups that its values are, "critical=1,2; praising=4,5"
GROUPS = "groups"
# note of a document set: attribute -> how many of its documents groups left out
OF_NO_GROUP = "of_no_group"


class Record(BaseModel):
    """Base of all records: immutable, unknown keys refused, and so are numbers that JSON cannot hold (inf, nan)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LeftOut(Record):
    """Things that were left out for one reason, counted; what does not apply to them is not written."""

    phase: str = Field(default="", exclude_if=not_)
    stage: str = Field(default="", exclude_if=not_)
    judge: str = Field(default="", exclude_if=not_)
    # what one of the things is: "request", "candidate", "pair"
    what: str = Field(default="", exclude_if=not_)
    side: str = Field(default="", exclude_if=not_)
    reason: Text
    count: NonNegativeInt

    @classmethod
    def rows(cls, keys: Sequence[str], counts: Mapping[Any, int], **constants: str) -> "tuple[LeftOut, ...]":
        """One record a count, in the order of what they are counted by.

        Args:
            keys: fields that the counts go by.
            counts: values of those fields, in their order -> count.
            constants: the other fields.
        """
        return tuple(
            cls.model_validate({**constants, **dict(zip(keys, by, strict=True)), "count": count})
            for by, count in sorted(counts.items())
        )


class Message(Record):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Document(Record):
    """One source text and what it is grouped by."""

    id: Text
    text: Text
    # social attributes, for example {"stance": "left"}
    attributes: dict[str, Value] = Field(default_factory=dict)


class DocumentSet(Record):
    """The documents summarised together."""

    id: Text
    topic: str = ""
    documents: Annotated[tuple[Document, ...], Field(min_length=1)]
    # reference summaries, if people wrote some
    references: tuple[str, ...] = ()
    # attribute value -> the key points its documents make, if somebody listed them
    key_points: Annotated[dict[str, tuple[str, ...]], AfterValidator(_by_value)] = Field(default_factory=dict)
    # "train", "test", ... when the corpus has a published split
    split: str | None = None
    # whatever else the corpus says of the set; of it, tables and measures read `values`, attribute -> its values in the order
    # to show them, `separator`, which joins the texts of one value, and `sentences`, "lines" where a document has one sentence a
    # line, whatever else looks like a border; `groups`, attribute -> the groups that its values are; prompts may be
    # `released_prompts`, side -> prompt; the rest is carried along
    notes: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "DocumentSet":
        if twice := repeated(document.id for document in self.documents):
            raise ValueError(f"document ids occur more than once: {some_of(twice)}; rename them")
        for group in look_alike(document.id for document in self.documents):
            raise ValueError(f"document ids look the same: {some_of([*map(ascii, group)])}; rename all but one")
        return self

    def values(self, attribute: str) -> tuple[str, ...]:
        """The attribute values of the documents, each once, in order of first appearance."""
        present = (d.attributes[attribute] for d in self.documents if attribute in d.attributes)
        return tuple(dict.fromkeys(present))

    def declared_values(self, attribute: str) -> tuple[str, ...]:
        """The values in the order that the corpus's notes declare, with or without documents; then others as they appear."""
        declared = self.notes.get("values")
        listed = declared.get(attribute) if isinstance(declared, dict) else None
        first = (one_spelling(str(value)) for value in listed) if isinstance(listed, list | tuple) else ()
        return tuple(dict.fromkeys((*first, *self.values(attribute))))

    @property
    def separator(self) -> str:
        """What joins the texts of one value."""
        value = self.notes.get("separator")
        return value if isinstance(value, str) else SEPARATOR

    def released_prompt(self, side: str) -> str | None:
        """The prompt for a side that the corpus's authors published; None where it has none."""
        prompts = self.notes.get(RELEASED_PROMPTS)
        spelt = (
            {one_spelling(str(name)): prompt for name, prompt in prompts.items()} if isinstance(prompts, dict) else {}
        )
        text = spelt.get(side)
        return text if isinstance(text, str) and text.strip() else None

    def sentences_of(self, document: Document) -> tuple[str, ...] | None:
        """The sentences of a document where the corpus says which they are; None where they have to be found."""
        return tuple(document.text.split("\n")) if self.notes.get("sentences") == "lines" else None

    def select(self, attribute: str, value: str) -> tuple[Document, ...]:
        """The documents whose attribute has this value, in their order."""
        return tuple(d for d in self.documents if d.attributes.get(attribute) == value)


class Perspective(Record):
    """The side a summary is asked to represent."""

    attribute: Text
    value: Value
    # what prompts call the value, where the recipe says so
    label: Text | None = Field(default=None, exclude_if=is_none)


class Contract(Record):
    """What a summary must look like; source: docs/papers.md#ri-contract."""

    # the words it opens with ("The Left"); None asks for none
    opening: str | None = None
    # openings of the other sides, which a summary must not have
    other_openings: tuple[str, ...] = ()
    # number of sentences; None asks for none
    sentences: int | None = Field(default=None, ge=1)
    # about how many words; None asks for none
    words: int | None = Field(default=None, ge=1)


class SummaryRequest(Record):
    """A document set plus what is asked of it."""

    id: Text
    document_set: DocumentSet
    # None asks for all sides
    perspective: Perspective | None = None
    # social attribute whose values the summary is to be fair to; None when nobody named one
    attribute: Text | None = None
    contract: Contract = Contract()
    # name and digest of the prompt template
    template: str
    # the chat sent to the model
    prompt: Annotated[tuple[Message, ...], Field(min_length=1)]

    @property
    def side(self) -> str:
        """The perspective's value, or "all"; reports split by it."""
        return self.perspective.value if self.perspective else "all"

    @property
    def source_documents(self) -> tuple[Document, ...]:
        """The documents that the summary is to represent."""
        if self.perspective is None:
            return self.document_set.documents
        return self.document_set.select(self.perspective.attribute, self.perspective.value)

    @property
    def source(self) -> str:
        """Text of the documents to represent, joined by line breaks: what judges compare a summary with."""
        return "\n".join(document.text for document in self.source_documents)

    @property
    def opposing(self) -> str:
        """Text of the other sides' documents, joined by line breaks; "" when all sides are asked for."""
        source_ids = {document.id for document in self.source_documents}
        return "\n".join(d.text for d in self.document_set.documents if d.id not in source_ids)


class Sampling(Record):
    """How tokens are drawn; every value is stated, none is left to a model's own defaults."""

    # 0 is greedy: the likeliest token, always
    temperature: float = Field(default=1.0, ge=0)
    # nucleus mass in (0, 1]
    top_p: float = Field(default=1.0, gt=0, le=1)
    # 0 keeps all tokens
    top_k: int = Field(default=0, ge=0)
    # tokens less likely than this share of the likeliest are left out; 0 keeps all tokens
    min_p: float = Field(default=0.0, ge=0, le=1)
    # above 1 discourages tokens that are there already
    repetition_penalty: float = Field(default=1.0, gt=0)
    # no sequence of this many tokens comes twice; 0 bans none. Left out where it says nothing, as is the next one, so that plans
    # without them keep their seeds
    no_repeat_ngram_size: int = Field(default=0, ge=0, exclude_if=not_)
    # what the two look at: the generated tokens alone, or the prompt's as well, as transformers does
    include_prompt: bool = Field(default=False, exclude_if=not_)
    # most tokens of an answer
    max_tokens: int = Field(default=128, ge=1)

    @property
    def looks_back(self) -> bool:
        """Whether a token depends on those that are there already by more than the model."""
        return self.repetition_penalty != 1 or self.no_repeat_ngram_size > 0


class Thinned(Record):
    """What a prompt lacked of its request's documents."""

    # the attribute value that was thinned
    value: Text
    # ids of the documents that were taken out
    left_out: Annotated[tuple[Text, ...], Field(min_length=1)]


# the issue of a candidate in which a model declines to summarise
REFUSAL = "refusal"


class Candidate(Record):
    """One generated summary of a request."""

    id: Text
    request_id: Text
    # cleaned by the contract check, cut where the method cuts, never repaired; what judges see
    text: str
    # as the model wrote it
    raw_text: str
    # what the contract check found, in its fixed order, after what the method found; empty when nothing
    issues: tuple[str, ...] = ()
    # True when the text opens as asked and is as long as asked
    contract_ok: bool
    method: str
    # documents that the prompt lacked; None for the request's own prompt
    thinned: Thinned | None = Field(default=None, exclude_if=is_none)
    # name of the sampling plan and its values
    plan: str
    sampling: Sampling
    # place in the canonical candidate order of the request: repeats outermost, plans innermost
    index: int = Field(ge=0)
    seed: int
    # signature of model and adapter
    model: str
    # digest of the prompt's token ids, so that training can assert it sees the same tokens
    prompt_digest: str
    n_prompt_tokens: int
    # generated token ids, end token included when the model gave one; empty when the backend does not tell
    token_ids: tuple[int, ...] = ()
    n_tokens: int
    # "stop": the model ended; "length": it ran into max_tokens; "cut": the method cut what it wrote
    finish_reason: str
    # sum of the generated tokens' log-probabilities in nats; None when the backend does not tell
    logps: float | None = None

    @property
    def is_refusal(self) -> bool:
        """Whether the model declined to summarise."""
        return REFUSAL in self.issues

    @property
    def answers_request(self) -> bool:
        """Whether it answers the request's own prompt, and not that of a copy of the set."""
        return self.thinned is None


class Turn(Record):
    """What a model said on the way to a candidate, of a method that asks more than once."""

    request_id: Text
    # the candidate's place in the canonical order of the request
    index: int = Field(ge=0)
    # round of the method; 0 for the first answers
    round: int = Field(ge=0)
    # what was asked for, and of whom: "summary", "feedback", "refine", "agent-2", ...
    role: Text
    # whether this would be the candidate if the method ended with this round
    is_candidate: bool
    # as the model wrote it; "" when it could not be asked
    text: str
    seed: int
    prompt_digest: str
    n_prompt_tokens: int
    n_tokens: int
    finish_reason: str
    # sum of the generated tokens' log-probabilities in nats; None when the backend does not tell
    logps: float | None = None


class Failure(Record):
    """A request of which nothing could be generated, or one of its answers that could not be, and why."""

    request_id: Text
    side: str
    reason: str
    detail: str
    # of an answer: the index of the candidate that it would have been; None for the whole request
    index: int | None = Field(default=None, exclude_if=is_none)


class Judgement(Record):
    """One judge's score of one candidate, or the reason there is none."""

    candidate_id: Text
    request_id: Text
    judge: str
    signature: str
    score: float | None
    unscored: str | None = None
    # the judge's reply as it came, when it is a text
    raw: str | None = None
    attempts: int = 1

    @model_validator(mode="after")
    def _score_or_reason(self) -> "Judgement":
        if (self.score is None) == (self.unscored is None):
            raise ValueError("needs either a score or the reason why there is none")
        return self


class ScoredCandidate(Record):
    """A candidate with what its judges said."""

    candidate: Candidate
    scores: dict[str, float | None]
    # the combined score that orders candidates; None when a part of it is missing, and for a thinned copy's summary
    reward: float | None


class CandidateScores(Record):
    """What the judges said of a candidate; the candidate itself lies elsewhere."""

    id: Text
    scores: dict[str, float | None]
    reward: float | None


class GroupScores(Record):
    """A group of candidates as its file keeps it: without their texts and the prompt, which lie in other files."""

    request_id: Text
    set_id: Text
    side: str
    candidates: tuple[CandidateScores, ...]
    best_id: str | None


class CandidateGroup(Record):
    """All candidates of one request with their rewards, best of n named."""

    request_id: Text
    set_id: Text
    side: str
    prompt: tuple[Message, ...]
    candidates: tuple[ScoredCandidate, ...]
    # id of the candidate of highest reward; None when none has a reward
    best_id: str | None


class BestSummary(Record):
    """The summary to use for a request: best of n."""

    request_id: Text
    set_id: Text
    side: str
    # None when no candidate could be scored
    text: str | None
    candidate_id: str | None
    reward: float | None
    scores: dict[str, float | None]
    n_candidates: int


class PairFairness(Record):
    """What FairPO weighs a pair by.

    Each value has two slots, "over-represented" and then "under-represented": lists of slots are twice as long as `values`. A
    summary is in the slots whose weight is above 0.
    Source: FairPO; docs/papers.md#fairpo-slots.
    """

    # the declared values, the same for all pairs of a file
    values: Annotated[tuple[Text, ...], Field(min_length=2)]
    # square root of the gap in Equal Coverage, over its mean in the file
    diff: float = Field(gt=0)
    # documents of each slot's value in the full set
    num: tuple[float, ...]
    # |C_k| of the slot, C_k being the summed deviation of the value's documents; 0 where the summary is not in the slot
    weight_chosen: tuple[float, ...]
    weight_rejected: tuple[float, ...]
    # how far the weight is from usual, as exponent; 0 where the summary is not in the slot
    pow_chosen: tuple[float, ...]
    pow_rejected: tuple[float, ...]

    @model_validator(mode="after")
    def _slots_fit(self) -> "PairFairness":
        slots = (self.num, self.weight_chosen, self.weight_rejected, self.pow_chosen, self.pow_rejected)
        if any(len(numbers) != 2 * len(self.values) for numbers in slots):
            raise ValueError(
                f"{len(self.values)} values have {2 * len(self.values)} slots; each list needs as many numbers"
            )
        if any(number < 0 for numbers in slots for number in numbers):
            raise ValueError("no number of a slot may be below 0")
        return self


# as a model's tokenizer numbers them
TokenIds = tuple[Annotated[int, Field(ge=0)], ...]


class PreferencePair(Record):
    """A better and a worse summary of the same request, in TRL's explicit-prompt conversational columns."""

    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]
    request_id: Text
    set_id: Text
    side: str
    chosen_id: Text
    rejected_id: Text
    chosen_reward: float
    rejected_reward: float
    # chosen_reward less rejected_reward
    margin: float = Field(gt=0)
    # how much the pair counts in the loss beside the others
    weight: float = Field(default=1.0, gt=0)
    # slots of both summaries, for FairPO
    fairness: PairFairness | None = Field(default=None, exclude_if=is_none)
    prompt_digest: str
    # the tokens as generated, empty where the text was cleaned and must be tokenised again
    chosen_token_ids: TokenIds = ()
    rejected_token_ids: TokenIds = ()

    @property
    def chosen_text(self) -> str:
        """The better summary."""
        return "\n\n".join(turn.content for turn in self.chosen)

    @property
    def rejected_text(self) -> str:
        """The worse summary."""
        return "\n\n".join(turn.content for turn in self.rejected)

    @model_validator(mode="after")
    def _contradicts_nothing(self) -> "PreferencePair":
        mistakes = []
        roles = [turn.role for turn in self.prompt]
        if roles[-1:] != ["user"] or "system" in roles[1:]:
            mistakes.append(
                f"prompt has the roles {', '.join(roles) or 'of nobody'}; a system message may only come first, and a user's has "
                "to come last"
            )
        for name, turns, text in (
            ("chosen", self.chosen, self.chosen_text),
            ("rejected", self.rejected, self.rejected_text),
        ):
            if any(turn.role != "assistant" for turn in turns):
                mistakes.append(f"{name} is not the assistant's alone")
            if not text.strip():
                mistakes.append(f"{name} is empty")
        if fold(self.chosen_text) == fold(self.rejected_text):
            mistakes.append("chosen and rejected are the same text")
        gap = self.chosen_reward - self.rejected_reward
        if not math.isclose(self.margin, gap, rel_tol=1e-6, abs_tol=1e-6):
            mistakes.append(f"margin is {self.margin:g}, but chosen_reward less rejected_reward is {gap:g}")
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self
