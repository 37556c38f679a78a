"""What is answered: the chosen summary as a completion of OpenAI's protocol, and rewards as trainers read them."""

import math
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...errors import DataError
from ...records import Judgement, ScoredCandidate
from ...runfolder.phases import Phase
from ...text.digests import digest
from .guard import Guard
from .sides import worst_side
from .work import NoSummaryError, RankedResponse

# of each summary its reward, and what the judges said
Rewarded = Sequence[tuple[float | None, Sequence[Judgement]]]


def completion(about: dict[str, Any], chosen: RankedResponse) -> dict[str, Any]:
    """The chosen summary as a completion; what the protocol has no word for is in its `evenhand` field.

    Args:
        about: see `evenhand_field`.
        chosen: what is served.
    """
    best = chosen.best.candidate
    message = {"role": "assistant", "content": best.text}
    cut = "length" if best.finish_reason == "length" else "stop"
    return {
        "id": f"chatcmpl-{digest([about['signature'], best.id])}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": about["recipe"],
        "choices": [{"index": 0, "message": message, "finish_reason": cut}],
        "usage": _usage(chosen.group.candidates),
        "evenhand": about,
    }


def _usage(candidates: Sequence[ScoredCandidate]) -> dict[str, int]:
    """Tokens of all candidates, and of the prompt, which is read once for those that have the same; judges' are not counted."""
    drawn = [entry.candidate for entry in candidates]
    prompt = sum({candidate.prompt_digest: candidate.n_prompt_tokens for candidate in drawn}.values())
    written = sum(candidate.n_tokens for candidate in drawn)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def evenhand_field(
    phase: Phase, guard: Guard, signature: str, chosen: RankedResponse, *, is_late: bool
) -> dict[str, Any]:
    """What is said of a chosen summary.

    Args:
        phase: is served.
        guard: what it had to keep.
        signature: of all that a summary depends on besides the request.
        chosen: what is served.
        is_late: whether the deadline had passed.
    """
    best = chosen.best.candidate
    return {
        "recipe": phase.recipe.name,
        "phase": phase.name,
        "request": chosen.request.id,
        "side": chosen.request.side,
        "candidate": best.id,
        "n_candidates": len(chosen.group.candidates),
        "deadline": _passed(chosen) if is_late else None,
        "reward": chosen.best.reward,
        **_by_judge(chosen.said),
        "sides": chosen.sides,
        "source": chosen.source,
        "limits": [limit.text for limit in guard.limits],
        "contract_ok": best.contract_ok,
        "issues": best.issues,
        "model": best.model,
        # with its folder's name: those of rounds are all called "adapter"
        "adapter": "/".join(phase.adapter.parts[-2:]) if phase.adapter else None,
        "signatures": {judgement.judge: judgement.signature for judgement in chosen.said},
        "signature": signature,
    }


def headers_of(about: dict[str, Any]) -> dict[str, str]:
    """What of the `evenhand` field stands in headers, too."""
    headers = {
        "X-Evenhand-Signature": about["signature"],
        "X-Evenhand-Candidates": str(about["n_candidates"]),
        "X-Evenhand-Reward": str(about["reward"]),
    }
    if about["adapter"]:
        # names may have letters that a header may not
        headers["X-Evenhand-Adapter"] = quote(about["adapter"])
    worst = {judge: worst_side(table) for judge, table in about["sides"].items()}
    if shares := [f"{quote(judge)}={has:.4g}" for judge, has in worst.items() if has is not None]:
        headers["X-Evenhand-Worst-Side"] = ", ".join(shares)
    if about["deadline"]:
        headers["X-Evenhand-Deadline"] = "passed"
    return headers


def _passed(chosen: RankedResponse) -> str:
    n_judged = sum(entry.candidate.answers_request for entry in chosen.group.candidates)
    return f"passed: {n_judged} of {chosen.n_draws} candidates were judged"


def _by_judge(judgements: Sequence[Judgement]) -> dict[str, dict[str, Any]]:
    return {
        "scores": {judgement.judge: judgement.score for judgement in judgements},
        "unscored": {judgement.judge: judgement.unscored for judgement in judgements if judgement.unscored},
    }


def rewards(rows: Rewarded, stand_in: float | None) -> dict[str, Any]:
    """Rewards in evenhand's own form.

    Args:
        rows: by summary.
        stand_in: the reward of a summary that has none.
    """
    return {
        "rewards": _filled([reward for reward, _ in rows], stand_in),
        "results": [{"reward": reward, **_by_judge(judgements)} for reward, judgements in rows],
        "signatures": {judgement.judge: judgement.signature for _, judgements in rows for judgement in judgements},
    }


def rewards_for_openrlhf(rows: Rewarded, judges: Sequence[str], stand_in: float | None) -> dict[str, Any]:
    """What OpenRLHF reads, which has no word for a reward that is not known.

    Args:
        rows: by summary.
        judges: whose scores are logged.
        stand_in: the reward of a summary that has none.

    Raises:
        NoSummaryError: a summary has none, and the client has not said what to put in its place.
    """
    without = [place for place, (reward, _) in enumerate(rows) if reward is None]
    if stand_in is None and without:
        raise NoSummaryError(
            f"{len(without)} of {len(rows)} summaries have no reward, the first at {without[0]}; write the number "
            f"that replaces it into the address: /v1/score?unscored=0"
        )
    filled = _filled([reward for reward, _ in rows], stand_in)
    scores = [{judgement.judge: judgement.score for judgement in judgements} for _, judgements in rows]
    logs = {name: _filled([by_judge.get(name) for by_judge in scores], stand_in) for name in judges}
    return {"rewards": filled, "scores": filled, "extra_logs": logs}


def _filled(numbers: Sequence[float | None], stand_in: float | None) -> list[float | None]:
    return [stand_in if number is None else number for number in numbers]


def stand_in_of(text: str | None) -> float | None:
    """The number that an address has for rewards that are not known.

    Raises:
        DataError: it is none.
    """
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"unscored={text[:20]!r} is not a number")
    return number
