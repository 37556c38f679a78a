"""The pairs of a training, and those that are evaluated while it runs: of other document sets and other prompts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..errors import DataError
from ..text.digests import digest
from ..text.shown import shortened
from .examples import TokenPair, TrainingPairs, build_examples, read_rows
from .options import trainer_options
from .stage import eval_file


def read_examples(recipe: Recipe, path: Path, tokenizer: Any) -> tuple[TrainingPairs, TrainingPairs | None]:
    """What is trained on and what is evaluated meanwhile; None where nothing is.

    Args:
        recipe: says what is evaluated in `train.eval_pairs`: a share of the document sets of `path`, or a file.
        path: the pairs of the round.
        tokenizer: the policy's.

    Raises:
        DataError: pairs cannot be trained on, or a prompt or document set would be trained on and evaluated.
    """
    rows, held_out = read_rows(path, tokenizer, recipe.train.form), None
    if isinstance(recipe.train.eval_pairs, float):
        rows, eval_rows = _parted(rows, recipe.train.eval_pairs, recipe.seed)
        held_out = _fitting(recipe, eval_rows)
    elif (own := eval_file(recipe)) is not None:
        held_out = read_eval_pairs(recipe, own, tokenizer)
        _refuse_trained(own, held_out.rows, rows, tokenizer)
    return build_examples(rows, trainer_options(recipe)["max_length"], recipe.train.excess_length_strategy), held_out


def read_eval_pairs(recipe: Recipe, path: Path, tokenizer: Any) -> TrainingPairs:
    """What is evaluated of a file of pairs.

    Args:
        recipe: says how texts are read, and how long they may be.
        path: the file.
        tokenizer: the policy's.

    Raises:
        DataError: pairs cannot be read or are too long, or none is left.
    """
    return _fitting(recipe, read_rows(path, tokenizer, recipe.train.form))


def _fitting(recipe: Recipe, rows: Sequence[TokenPair]) -> TrainingPairs:
    try:
        return build_examples(rows, trainer_options(recipe)["max_length"], recipe.train.excess_length_strategy)
    except DataError as error:
        raise DataError(f"key 'train.eval_pairs': {error}") from error


def _parted(rows: Sequence[TokenPair], share: float, seed: int) -> tuple[list[TokenPair], list[TokenPair]]:
    """Rows to train on and rows to evaluate, in their order; sets that share a prompt stay together.

    The seed of the recipe gives each set a place in [0, 1), and those below the share are chosen: whichever sets a round has
    pairs of, none is held out in one round and trained on in another. Of two sets or more some are on either side.
    """
    places = {name: int(digest([seed, "eval", name], 13), 16) / 16**13 for name in {row.set_id for row in rows}}
    sets = sorted(places, key=places.__getitem__)
    below = sum(place < share for place in places.values())
    chosen = set(sets[: min(max(1, below), max(1, len(sets) - 1))])
    tied = False
    while grown := {row.set_id for row in _of_prompts(rows, chosen)} - chosen:
        chosen |= grown
        tied = True
    training = [row for row in rows if row.set_id not in chosen]
    if not training:
        raise DataError(
            f"key 'train.eval_pairs': a share of {share:g} leaves none of {len(sets)} document sets to train on"
            f"{', because they have prompts in common' if tied else ''}; name a file of other pairs, or leave it out"
        )
    return training, [row for row in rows if row.set_id in chosen]


def _of_prompts(rows: Sequence[TokenPair], sets: set[str]) -> Iterator[TokenPair]:
    """Rows whose prompt stands in one of these sets."""
    prompts = {tuple(row.prompt_ids) for row in rows if row.set_id in sets}
    return (row for row in rows if tuple(row.prompt_ids) in prompts)


def _refuse_trained(path: Path, held_out: Sequence[TokenPair], rows: Sequence[TokenPair], tokenizer: Any) -> None:
    """Refuse pairs to evaluate whose prompt or document set is trained on."""
    sets, prompts = {row.set_id for row in rows}, {tuple(row.prompt_ids) for row in rows}
    trained = [row for row in held_out if row.set_id in sets or tuple(row.prompt_ids) in prompts]
    if trained:
        first = trained[0]
        raise DataError(
            f"key 'train.eval_pairs': {path}: {len(trained)} of {len(held_out)} pairs have a prompt or a document set that is "
            f"trained on, the first of set {first.set_id!r} ({shortened(tokenizer.decode(first.prompt_ids))}); take them out of "
            "one of the two files"
        )
