"""Best of n, and preference pairs from judged candidates.

The best candidate is that of highest reward; on equal rewards one that keeps the contract, then the first drawn.

A pair teaches something when its two summaries differ clearly in reward and length does not explain it.
For each request: every unordered pair of scored candidates is weighed once, in canonical order (i before j); pairs that no guard
refuses are admissible, and the mode chooses among those. Whatever is left out is counted by reason, because a filter
nobody sees is a bias nobody sees.
Source: Ri et al. 2025, section 4; docs/papers.md#ri-combine and #ri-pairs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..config import PairsSection
from ..records import CandidateGroup, Message, PreferencePair, ScoredCandidate
from ..text import fold


def best_of(candidates: Sequence[ScoredCandidate]) -> ScoredCandidate | None:
    """The best candidate; None when none has a reward. A refusal is the best only where there is no summary at all."""
    scored = [c for c in candidates if c.reward is not None]
    if any(c.candidate.text and not c.candidate.is_refusal for c in candidates):
        scored = [c for c in scored if not c.candidate.is_refusal]
    return max(scored, key=lambda c: (c.reward, c.candidate.contract_ok), default=None)


def first_of_each_text(texts: Sequence[str]) -> list[int]:
    """Places of the texts that no earlier one equals, white space folded."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(fold(text), place)
    return list(first.values())


@dataclass(frozen=True)
class RequestPairs:
    """The pairs of one request, and how many were left out for which reason."""

    # (place of chosen, place of rejected) in the group
    pairs: tuple[tuple[int, int], ...]
    left_out: Counter[str]


def choose_pairs(candidates: Sequence[ScoredCandidate], section: PairsSection) -> RequestPairs:
    """The pairs of one request's candidates, in canonical order; widest first for `best_k` and `top_bottom`."""
    left_out: Counter[str] = Counter()
    admissible = []
    for i, first in enumerate(candidates):
        for j in range(i + 1, len(candidates)):
            reason = refusal(first, candidates[j], section)
            if reason:
                left_out[reason] += 1
            else:
                admissible.append((i, j) if _reward(first) > _reward(candidates[j]) else (j, i))
    pairs = admissible
    if section.mode != "all":
        widest = sorted(admissible, key=lambda pair: _reward(candidates[pair[1]]) - _reward(candidates[pair[0]]))
        # the top and the bottom of those that can form a pair, the first of equals
        pairs = widest[: section.k if section.mode == "best_k" else 1]
    if len(admissible) > len(pairs):
        left_out[f"not taken by {section.mode}"] += len(admissible) - len(pairs)
    return RequestPairs(tuple(pairs), left_out)


def refusal(first: ScoredCandidate, second: ScoredCandidate, section: PairsSection) -> str | None:
    """Why two candidates form no pair; None when they do. The first reason that holds, in the order below."""
    if first.reward is None or second.reward is None:
        return "unscored"
    gap = abs(first.reward - second.reward)
    chosen = first if first.reward > second.reward else second
    shorter, longer = sorted(len(c.candidate.text.split()) for c in (first, second))
    ratio = section.most_length_ratio
    reasons = {
        "empty text": not shorter,
        "same text": fold(first.candidate.text) == fold(second.candidate.text),
        "equal reward": gap == 0,
        "chosen is a refusal": chosen.candidate.is_refusal,
        "margin": gap < section.least_margin,
        "chosen breaks contract": section.chosen_keeps_contract and not chosen.candidate.contract_ok,
        # its tokens have no end, and to prefer it is to teach never to stop
        "chosen stopped by max_tokens": chosen.candidate.finish_reason == "length",
        "length": ratio is not None and longer > ratio * shorter,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _reward(candidate: ScoredCandidate) -> float:
    assert candidate.reward is not None, "only scored candidates are compared"
    return candidate.reward


def preference_pair(group: CandidateGroup, chosen: ScoredCandidate, rejected: ScoredCandidate) -> PreferencePair:
    """The pair as a training record in TRL's columns, of the request's own prompt, also when a summary was made from another."""
    return PreferencePair(
        prompt=group.prompt,
        chosen=(Message(role="assistant", content=chosen.candidate.text),),
        rejected=(Message(role="assistant", content=rejected.candidate.text),),
        request_id=group.request_id,
        set_id=group.set_id,
        side=group.side,
        chosen_id=chosen.candidate.id,
        rejected_id=rejected.candidate.id,
        chosen_reward=_reward(chosen),
        rejected_reward=_reward(rejected),
        margin=_reward(chosen) - _reward(rejected),
        prompt_digest=next(c.candidate.prompt_digest for c in group.candidates if c.candidate.answers_request),
        chosen_token_ids=generated_ids(chosen),
        rejected_token_ids=generated_ids(rejected),
    )


def generated_ids(scored: ScoredCandidate) -> tuple[int, ...]:
    """Tokens as the model drew them; () when the text was cleaned, since they would say something else then."""
    candidate = scored.candidate
    return candidate.token_ids if candidate.text == candidate.raw_text.strip() else ()
