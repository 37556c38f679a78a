"""Rewards from `evenhand serve` for trainers: verl's custom reward function, TRL's GRPO reward function.

This file needs Python and nothing else, evenhand included, so that a trainer's environment can have a copy of it. The server is
at $EVENHAND_SERVE_URL (http://127.0.0.1:8080/v1), its key, if it asks for one, in $EVENHAND_SERVE_KEY.
Trainers do not ask again, so this does, as long as `timeout` allows: where the server is busy, and where it is gone for a while.
"""

import http.client
import json
import logging
import math
import os
import random
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

log = logging.getLogger(__name__)

# http://HOST:PORT/PATH, IPv6 in brackets
ADDRESS = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]]+)(:\d{1,5})?(/\S*)?")
DEFAULT_URL = "http://127.0.0.1:8080/v1"
# answers after which the same request may succeed, unless the server says that nothing but mending it helps
LATER = (429, 502, 503, 504)
LASTING = "upstream_unfit"
# seconds before the second try, doubled for each later one up to the most; a server's Retry-After comes before
FIRST_PAUSE, MOST_PAUSE = 1.0, 30.0
# bytes of a body, of the 2,000,000 that a server takes unless it is told another number (--most-bytes)
MOST_BYTES = 1_500_000
# bytes for each value that it may have
BYTES_OF_VALUE = 40
# what an item may have besides its documents
ABOUT = ("side", "id", "topic", "key_points", "notes")


def rewards(items: Sequence[Mapping[str, Any]], *, url: str | None = None, timeout: float = 600) -> list[float | None]:
    """The reward of each item's "summary" of its "documents"; None where a judge gave no score.

    Args:
        items: with "summary" and "documents" ([{"text": ..., "attributes": {...}}]), and "side" where the recipe has sides.
        url: of the server, with its version; None: $EVENHAND_SERVE_URL.
        timeout: seconds, over all tries.

    Raises:
        ValueError: the address is none, or the server refuses the items, or cannot answer all the time; the text says why.
        OSError: the server is not there all the time, or has a certificate that is not trusted.
    """
    place = (url or os.environ.get("EVENHAND_SERVE_URL") or DEFAULT_URL).rstrip("/")
    if not ADDRESS.fullmatch(place):
        raise ValueError(f"{place!r} is not a server's address; write http://HOST:PORT/v1")
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("EVENHAND_SERVE_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    numbers: list[float | None] = [None] * len(items)
    until = time.monotonic() + timeout
    for places, body in _bodies(items):
        request = urllib.request.Request(f"{place}/score", body, headers)  # noqa: S310 (the scheme is looked at above)
        for where, reward in zip(places, _asked(request, until)["rewards"], strict=True):
            numbers[where] = reward
    return numbers


def _bodies(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[list[int], bytes]]:
    """Items as bodies that a server takes, each with the places of its items; those of one request stay together."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, row in enumerate(items):
        item = _clean(row)
        about = {key: value for key, value in item.items() if key != "summary"}
        groups.setdefault(json.dumps(about, sort_keys=True), []).append((place, json.dumps(item)))
    body: list[tuple[int, str]] = []
    size = 0
    for group in groups.values():
        # a server takes so many values as well: of short documents fewer bytes
        n_more = sum(max(len(text) + 1, BYTES_OF_VALUE * sum(map(text.count, ",[{"))) for _, text in group)
        if body and size + n_more > MOST_BYTES:
            yield _joined(body)
            body, size = [], 0
        body, size = body + group, size + n_more
    if body or not items:
        yield _joined(body)


def _joined(body: Sequence[tuple[int, str]]) -> tuple[list[int], bytes]:
    return [place for place, _ in body], f'{{"items": [{",".join(text for _, text in body)}]}}'.encode()


def _asked(request: urllib.request.Request, until: float) -> Any:
    """What the server answers, asked again until then where that may help."""
    pause = FIRST_PAUSE
    while True:
        after = ""
        try:
            status, content, after = _answer(request, max(0.1, until - time.monotonic()))
        except (OSError, http.client.HTTPException) as lost:
            fault: Exception = OSError(f"{request.full_url}: {lost}")
            if isinstance(getattr(lost, "reason", lost), ssl.SSLCertVerificationError):
                raise fault from lost
        else:
            if status == 200:
                return json.loads(content)
            fault = ValueError(f"{request.full_url}: {status}: {content[:2000]}")
            if status not in LATER or LASTING in content:
                raise fault
        # spread, so that those who were sent away together do not come back together
        seconds = max(pause, float(after) if after.isdecimal() else 0.0) * random.uniform(1, 2)  # noqa: S311
        if time.monotonic() + seconds > until:
            raise fault
        log.warning("%s; asked again in %.0f seconds", fault, seconds)
        time.sleep(seconds)
        pause = min(2 * pause, MOST_PAUSE)


def _answer(request: urllib.request.Request, timeout: float) -> tuple[int, str, str]:
    """Status, body and Retry-After."""
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310
            return 200, response.read().decode(), ""
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(errors="replace"), refused.headers.get("Retry-After", "")


def compute_score(  # noqa: PLR0913, PLR0917 (verl gives all of them)
    data_source: Any = None,
    solution_str: str | None = None,
    ground_truth: Any = None,
    extra_info: Any = None,
    url: str | None = None,
    unscored: float | None = None,
    timeout: float = 600,
    data_sources: Any = None,
    solution_strs: Sequence[str] | None = None,
    ground_truths: Sequence[Any] | None = None,
    extra_infos: Any = None,
    **_: Any,
) -> Any:
    """The reward of an answer, or of each of a batch, as verl calls it (custom_reward_function.path=FILE, .name=compute_score).

    Args:
        data_source, data_sources, extra_info, extra_infos: are not read.
        solution_str: the summary.
        ground_truth: {"documents": [...], "side": ...}, or its JSON text.
        url: of the server.
        unscored: what stands for a summary without a reward (reward_kwargs.unscored).
        timeout: seconds, over all tries.
        solution_strs, ground_truths: of a batch, as verl's batch manager gives them.

    Raises:
        ValueError: a summary has no reward, and nothing stands for it; and as `rewards`.
    """
    is_batch = solution_strs is not None
    answers = list(solution_strs) if solution_strs is not None else [solution_str]
    truths = [_plain(truth) for truth in ([ground_truth] if ground_truths is None else ground_truths)]
    if len(answers) != len(truths):
        raise ValueError(f"{len(answers)} answers and {len(truths)} ground truths; each answer needs one")
    if wrong := [place for place, truth in enumerate(truths) if not isinstance(truth, Mapping)]:
        raise ValueError(f'ground truth {wrong[0]} is not an object; it needs the documents: {{"documents": [...]}}')
    items = [{**truth, "summary": str(answer)} for truth, answer in zip(truths, answers, strict=True)]
    scores = rewards(items, url=url, timeout=timeout) if items else []
    if None in scores and unscored is None:
        raise ValueError("a judge gave no score, and verl needs a number; say which: reward_kwargs.unscored=0")
    numbers = [float(unscored if score is None else score) for score in scores]  # type: ignore[arg-type]
    return numbers if is_batch else numbers[0]


def _plain(truth: Any) -> Any:
    """A ground truth without the arrays of tables, also where it is JSON's text."""
    truth = truth.item() if hasattr(truth, "item") and getattr(truth, "size", 1) == 1 else truth
    return json.loads(truth) if isinstance(truth, str | bytes) else truth


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
            {
                "summary": _text(completion),
                "documents": documents[place],
                **{key: row[place] for key, row in about.items()},
            }
            for place, completion in enumerate(completions)
        ]
    )


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])


def _clean(value: Any) -> Any:
    """As JSON has it: arrays of tables as lists, without the None and NaN that tables put where another row has a value."""
    if isinstance(value, Mapping):
        return {str(key): _clean(child) for key, child in value.items() if not _is_absent(child)}
    if isinstance(value, list | tuple):
        return [_clean(child) for child in value]
    return _clean(value.tolist()) if hasattr(value, "tolist") else value


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
