"""From what a model wrote to the summary that training uses: what FairPO does to its candidates.

Refusals and texts that speak of "document 1" are rejected, lines joined, a summary far too short or too long is drawn once more,
and a long one is cut after a whole sentence. Each step is an option and off by default. A rejected text leaves an empty summary,
which the judges `length` and `contract` give 0 and all others leave unscored, and an issue that says why; what the model wrote
stays in `raw_text`, and both draws of a summary that was drawn again stay in turns.jsonl.
As published the quotes around a summary are taken off last; here the contract check does it, and only where they are a pair. A
rejected text is not drawn again; a second draw is cleaned like the first, and one of which nothing is left is not kept.
Source: FairPO; docs/papers.md#fairpo-thinning.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...generate.backend import Ask, Backend, Reply
from ...generate.contract import check_output
from ...generate.method import AGAIN, seed_from
from ...generate.refusals import is_refusal
from ...generate.reply_text import answer_of
from ...records import REFUSAL, Candidate, Contract
from ...text import fold, has_words
from .sections import RegenerationSection, ThinnedSection

# issues of a candidate, beside those of the contract check
NAMES_DOCUMENT, FIRST_LINE = "names_document", "first_line"
# documents are numbered in prompts; a summary that says so is of no use to who has not seen the prompt
NUMBERED = "document 1"
# a mark that ends a sentence and not a list number, with closing quotes; scripts without spaces have marks of their own
SENTENCE_END = re.compile(
    r"(?<!\d)[.!?][\"')\u201d\u2019]*(?=\s)|[\u3002\uff01\uff1f][\"')\u201d\u2019\u300d\u300f\uff09]*"
)


@dataclass(frozen=True)
class Cleaned:
    """A model's text after rejection and joining of lines."""

    # "" when it was rejected
    text: str
    # why it was rejected, or that its first line was dropped
    issues: tuple[str, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether nothing of the text may be used."""
        return bool({REFUSAL, NAMES_DOCUMENT} & set(self.issues))


@dataclass(frozen=True)
class Drawn:
    """One ask and its reply."""

    ask: Ask
    reply: Reply


@dataclass(frozen=True)
class Draft:
    """The draw that a summary is made from, and all draws that were made for it, in order."""

    kept: Drawn
    draws: tuple[Drawn, ...]


def clean(text: str, options: ThinnedSection) -> Cleaned:
    """The text that the options leave of a model's own turn; without its thoughts, and as it is where they are off.

    Lines of at most one character are dropped; of more than two lines the first, which announces the others; of two the first
    where the second is longer. The others are joined with spaces.
    """
    text = answer_of(text).text
    if options.reject and is_refusal(text):
        return Cleaned("", (REFUSAL,))
    if options.reject and NUMBERED in fold(text).lower():
        return Cleaned("", (NAMES_DOCUMENT,))
    if not options.join_lines:
        return Cleaned(text)
    lines = [line for each in text.splitlines() if len(line := each.strip()) > 1]
    drops = len(lines) > 2 or (len(lines) == 2 and len(lines[1]) > len(lines[0]))
    return Cleaned(" ".join(lines[drops:]), (FIRST_LINE,) if drops else ())


def draw_drafts(backend: Backend, asks: Sequence[Ask], options: ThinnedSection) -> list[Draft]:
    """A draft for each ask; where the options say so, summaries far too short or too long are drawn once more, all together.

    A second draw has a seed of its own, which follows from the first one's. The draw nearer to the wanted number of words is
    kept, the first of equals; a second one that failed, is rejected or has no word never is.
    """
    first = [Drawn(ask, reply) for ask, reply in zip(asks, backend.complete(asks), strict=True)]
    drafts = [Draft(reply, (reply,)) for reply in first]
    again = options.regenerate
    if again is None:
        return drafts
    lengths = [_n_words(draft.reply, options) for draft in first]
    places = [i for i, n in enumerate(lengths) if n is not None and not again.few_words < n < again.many_words]
    second = [
        replace(
            ask,
            sampling=ask.sampling.model_copy(update={"max_tokens": again.max_tokens}),
            seed=seed_from(ask.seed, AGAIN),
        )
        for ask in (first[place].ask for place in places)
    ]
    for place, ask, reply in zip(places, second, backend.complete(second) if second else [], strict=True):
        pair = first[place], Drawn(ask, reply)
        drafts[place] = Draft(min(pair, key=lambda draft: _distance(draft.reply, options, again)), pair)
    return drafts


def finished(candidate: Candidate, contract: Contract, options: ThinnedSection) -> Candidate:
    """The candidate as the options leave it, made of its `raw_text`."""
    cleaned = clean(candidate.raw_text, options)
    if cleaned.is_rejected:
        return candidate.model_copy(update={"text": "", "issues": cleaned.issues, "contract_ok": False})
    if options.join_lines:
        checked = check_output(contract, cleaned.text)
        issues = (*cleaned.issues, *checked.issues)
        candidate = candidate.model_copy(
            update={"text": checked.text, "issues": issues, "contract_ok": checked.ok},
        )
    return shortened(candidate, contract, options.most_characters)


def shortened(candidate: Candidate, contract: Contract, most_characters: int | None) -> Candidate:
    """The candidate, cut after its last sentence that ends within `most_characters`; unchanged where that leaves less than half.

    What the model wrote stays in `raw_text`, and what was found in it in `issues`; whether the contract is kept is checked again.
    """
    if most_characters is None or len(candidate.text) <= most_characters:
        return candidate
    ends_of_sentences = SENTENCE_END.finditer(candidate.text, 0, most_characters + 1)
    ends = [match.end() for match in ends_of_sentences if match.end() <= most_characters]
    if not ends or ends[-1] < most_characters / 2:
        return candidate
    text = candidate.text[: ends[-1]]
    keeps_contract = check_output(contract, text).ok
    return candidate.model_copy(update={"text": text, "contract_ok": keeps_contract, "finish_reason": "cut"})


def _n_words(reply: Reply, options: ThinnedSection) -> int | None:
    """Words of the cleaned reply, 0 where it has no letter or digit; None where it failed or is rejected."""
    cleaned = clean(reply.text, options)
    if reply.finish_reason == "failed" or cleaned.is_rejected:
        return None
    return len(cleaned.text.split()) if has_words(cleaned.text) else 0


def _distance(reply: Reply, options: ThinnedSection, again: RegenerationSection) -> float:
    n = _n_words(reply, options)
    return abs(n - again.words) if n else float("inf")
