"""Rewards from `evenhand serve` for trainers: verl's custom reward function, TRL's GRPO reward function.

This file needs Python and nothing else, evenhand included, so that a trainer's environment can have a copy of it. The server is
at $EVENHAND_SERVE_URL (http://127.0.0.1:8080/v1), its key, if it asks for one, in $EVENHAND_SERVE_KEY.
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

DEFAULT_URL = "http://127.0.0.1:8080/v1"
# what an item may have besides its documents
ABOUT = ("side", "id", "topic", "key_points", "notes")


def rewards(items: Sequence[Mapping[str, Any]], *, url: str | None = None, timeout: float = 600) -> list[float | None]:
    """The reward of each item's "summary" of its "documents"; None where a judge gave no score.

    Args:
        items: with "summary" and "documents" ([{"text": ..., "attributes": {...}}]), and "side" where the recipe has sides.
        url: of the server, with its version; None: $EVENHAND_SERVE_URL.
        timeout: seconds.

    Raises:
        ValueError: the address is none, or the server refuses the items; its reason is in the text.
        OSError: the server is not there.
    """
    place = (url or os.environ.get("EVENHAND_SERVE_URL") or DEFAULT_URL).rstrip("/")
    if not place.startswith(("http://", "https://")):
        raise ValueError(f"{place!r} is no address of a server; write http://HOST:PORT/v1")
    body = json.dumps({"items": [_clean(each) for each in items]}).encode()
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("EVENHAND_SERVE_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(f"{place}/score", body, headers)  # noqa: S310 (the scheme is looked at above)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310
            return list(json.load(response)["rewards"])
    except urllib.error.HTTPError as error:
        raise ValueError(f"{place}: {error.code}: {error.read().decode(errors='replace')[:2000]}") from error


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    url: str | None = None,
    unscored: float | None = None,
    **_: Any,
) -> float:
    """The reward of one answer, as verl calls it (custom_reward_function.path=FILE, .name=compute_score).

    Args:
        data_source: is not read.
        solution_str: the summary.
        ground_truth: {"documents": [...], "side": ...}, or its JSON text.
        extra_info: is not read.
        url: of the server.
        unscored: what stands for a summary without a reward (reward_kwargs.unscored).

    Raises:
        ValueError: the summary has no reward, and nothing stands for it; and as `rewards`.
    """
    said = json.loads(ground_truth) if isinstance(ground_truth, str) else ground_truth
    (found,) = rewards([{**said, "summary": solution_str}], url=url)
    if found is None and unscored is None:
        raise ValueError("a judge gave no score, and verl needs a number; say which: reward_kwargs.unscored=0")
    return float(unscored if found is None else found)  # type: ignore[arg-type]


def evenhand_reward(completions: Sequence[Any], documents: Sequence[Any], **columns: Any) -> list[float | None]:
    """The reward of each completion, as TRL's GRPOTrainer calls it; None, which TRL leaves out, where a judge gave no score.

    Args:
        completions: texts, or chats that end with the summary.
        documents: the data set's column with the documents of each prompt.
        columns: the data set's other columns, of which side, id, topic, key_points and notes are read.

    Raises:
        ValueError, OSError: as `rewards`.
    """
    about = {key: columns[key] for key in ABOUT if key in columns}
    return rewards(
        [
            {"summary": _text(each), "documents": documents[place], **{key: row[place] for key, row in about.items()}}
            for place, each in enumerate(completions)
        ]
    )


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])


def _clean(value: Any) -> Any:
    """Without the None that tables put where another row has a value."""
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items() if each is not None}
    return [_clean(each) for each in value] if isinstance(value, list | tuple) else value
