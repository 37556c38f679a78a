"""What a run learnt of its candidates, in the forms that other trainers read; see `train.foreign` for the way back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..records import PreferencePair
from ..runfolder.files import with_groups
from ..runfolder.phases import CANDIDATES, GROUPS, PAIRS, REQUESTS
from ..runfolder.stages import refuse_changed
from ..storage import iter_jsonl

Row = dict[str, Any]


def reranked_folders(run: Path) -> list[Path]:
    """The phase folders to export: a run's rounds, or else its evaluation of the base model; a phase folder is its own.

    Raises:
        DataError: nothing was reranked there, or what is exported was changed since.
    """
    for places in ([run], sorted(run.glob("round-*")), [run / "evaluation" / "base"]):
        if folders := [folder for folder in places if (folder / GROUPS).is_file()]:
            for folder in folders:
                refuse_changed(folder, REQUESTS, CANDIDATES, GROUPS, PAIRS)
            return folders
    raise DataError(
        f"{run}: has no phase with {GROUPS}; name a run folder or one of its phases, reranked by `evenhand rerank`"
    )


def trl_pairs(folder: Path) -> Iterator[Row]:
    """Pairs with an explicit prompt, conversations as TRL reads them, with the rewards as scores."""
    for pair in iter_jsonl(folder / PAIRS, PreferencePair) if (folder / PAIRS).is_file() else ():
        row = pair.model_dump(mode="json", include={"prompt", "chosen", "rejected"})
        yield row | {"score_chosen": pair.chosen_reward, "score_rejected": pair.rejected_reward}


def ranked_lists(folder: Path) -> Iterator[Row]:
    """The scored candidates of each request by rank, 1 the best; equal rewards share one."""
    for prompt, group in _groups(folder):
        rewards = sorted({completion["reward"] for completion in group}, reverse=True)
        ranks = {reward: place for place, reward in enumerate(rewards, start=1)}
        listed = sorted(group, key=lambda completion: ranks[completion["reward"]])
        yield prompt | {
            "completions": [
                {"rank": ranks[completion["reward"]], "completion": completion["completion"]} for completion in listed
            ]
        }


def rewarded(folder: Path) -> Iterator[Row]:
    """Every scored candidate with its reward."""
    for prompt, group in _groups(folder):
        yield from (prompt | completion for completion in group)


def _groups(folder: Path) -> Iterator[tuple[Row, list[Row]]]:
    """The prompt of each request that has a scored candidate, and those with their rewards."""
    for _, group in with_groups(folder):
        scored: list[Row] = [
            {"completion": entry.candidate.text, "reward": entry.reward}
            for entry in group.candidates
            if entry.reward is not None and entry.candidate.text.strip()
        ]
        if scored:
            yield {"prompt": [turn.model_dump() for turn in group.prompt]}, scored


# form -> what makes its rows of a phase folder
FORMS: dict[str, Callable[[Path], Iterator[Row]]] = {"trl": trl_pairs, "ranked": ranked_lists, "rewards": rewarded}
