"""Aligners that put a yes/no question to a T5 and compare the probabilities of the two answers at its first step.

The question holds the source. When it is longer than the model reads, the end of the source is cut, and nothing else.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ...errors import JudgeError
from ...extras import need
from ...judges.aligner import Aligner, Alignment, Holder, Pairing, alignment_of, in_batches, warn_of_cuts
from ...judges.checkpoint import open_checkpoint
from ...judges.shared import Lazy, SharedModels
from ...judges.tokens import as_text, special_tokens
from ...text.digests import canonical_json
from ...text.forms import normal_form
from .sections import MiniCheckJudge, UniEvalJudge


@dataclass(frozen=True)
class YesNoQuestion:
    """A question in the words that the model was trained with, the source in its middle."""

    before: str
    source: str
    after: str


@dataclass(frozen=True)
class YesNoTokens:
    """Ids of the tokens that mean no and yes."""

    no: int
    yes: int


class Asking(Protocol):
    """How one metric asks."""

    # what errors call it
    feature: str

    def question(self, premise: str, claim: str, end: str) -> YesNoQuestion:
        """The question whether the premise supports the claim; `end` is the model's end token, which separates its parts."""
        ...

    def answers(self, tokenizer: Any) -> YesNoTokens:
        """The two answers."""
        ...


class YesNoAligner(Holder):
    """A T5 that answers whether a premise supports a claim.

    Args:
        model: Hugging Face id or local folder.
        asking: what is asked, and which tokens answer.
        most_tokens: longest question in tokens, the end token included.
        batch_size: questions run at a time.
        revision: branch, tag or commit of a Hugging Face id.

    Raises:
        ModelError: the model cannot be opened.
        JudgeError: it lacks weights, or has no tokens for the answers.
    """

    def __init__(
        self, model: str, asking: Asking, most_tokens: int, batch_size: int, revision: str | None = None
    ) -> None:
        self._tokenizer, self._model = open_checkpoint("AutoModelForSeq2SeqLM", model, asking.feature, revision)
        self._asking = asking
        special = sorted(special_tokens(self._tokenizer).values(), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)))
        self._answers = asking.answers(self._tokenizer)
        self._most = most_tokens
        self._batch_size = batch_size
        n_outputs = self._model.config.vocab_size
        if max(self._answers.no, self._answers.yes) >= n_outputs:
            raise JudgeError(f"{asking.feature}: model {model!r} has {n_outputs} tokens and none for the answers")

    def align(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        """One alignment for each pairing, in order; a question asked twice is run once."""
        pairs = dict.fromkeys((premise, claim) for p in pairings for premise in p.premises for claim in p.claims)
        questions = {pair: self._encoded(*pair) for pair in pairs}
        ids = {pair: tokens for pair, (tokens, _) in questions.items() if tokens}
        cut = {pair for pair, (_, was_cut) in questions.items() if was_cut}
        warn_of_cuts(len(cut), len(pairs), self._most)
        support: dict[tuple[str, str], float] = {}
        for batch in in_batches(ids, lambda pair: (len(ids[pair]), pair), self._batch_size):
            support.update(zip(batch, self._shares([ids[pair] for pair in batch]), strict=True))
        return [alignment_of(p, support, cut) for p in pairings]

    def _encoded(self, premise: str, claim: str) -> tuple[list[int], bool]:
        """Token ids of the question, and whether its source was cut; no ids when not even a token of the source fits."""
        end = self._tokenizer.eos_token
        # a text that wrote the end token itself would begin a part of the question
        plain_premise, plain_claim = (self._special.sub(" ", normal_form(text)) for text in (premise, claim))
        question = self._asking.question(plain_premise, plain_claim, end)
        text = question.before + question.source + question.after
        encoded = self._tokenizer(
            text, return_offsets_mapping=True, truncation=False, verbose=False, split_special_tokens=False
        )
        is_text = [start < stop and text[start:stop].strip() != end for start, stop in encoded["offset_mapping"]]
        ids = as_text(self._tokenizer, encoded["input_ids"], is_text)
        excess = len(ids) - self._most
        if excess <= 0:
            return ids, False
        first, last = len(question.before), len(question.before) + len(question.source)
        source = [
            i for i, (start, stop) in enumerate(encoded["offset_mapping"]) if first < stop <= last and start < stop
        ]
        if excess >= len(source):
            return [], False
        gone = set(source[-excess:])
        return [token for i, token in enumerate(ids) if i not in gone], True

    def _shares(self, rows: list[list[int]]) -> list[float]:
        """Probability of yes among yes and no, for each question."""
        torch = need("torch", self._asking.feature)
        encoded = self._tokenizer.pad({"input_ids": rows}, return_tensors="pt").to(self._model.device)
        start = torch.full((len(rows), 1), self._model.config.decoder_start_token_id, device=self._model.device)
        with torch.inference_mode():
            logits = self._model(**encoded, decoder_input_ids=start).logits[:, 0].float()  # (questions, tokens)
        shares = logits[:, [self._answers.no, self._answers.yes]].softmax(dim=-1)
        return [float(share) for share in shares[:, 1]]


def lazy_yes_no(models: SharedModels, options: UniEvalJudge | MiniCheckJudge, asking: Asking) -> Lazy[Aligner]:
    """The model of a judge that asks so, which all that name it share."""
    settings = (options.most_tokens, options.batch_size, options.revision)
    key = canonical_json([asking.feature, options.model, *settings])
    load: Callable[[], Aligner] = partial(YesNoAligner, options.model, asking, *settings)
    return models.lazy(key, load)
