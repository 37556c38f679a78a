"""What a round trains on and evaluates meanwhile, in tokens, and how often."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..train.examples import TrainingPairs
from ..train.groups import build_groups
from ..train.held_out import read_eval_pairs, read_examples
from ..train.launch import accelerate_config, read_accelerate
from ..train.memory import Pass, Strategy, fill_pass
from ..train.options import SIZE, accumulation, is_auto, trainer_options
from ..train.policy import load_tokenizer
from ..train.stage import eval_file


@dataclass(frozen=True)
class TrainSequence:
    """Sequences of a training that are alike: a prompt, and candidates behind it."""

    # tokens; of a candidate the last one, which predicts nothing, is counted and not run
    prompt: int
    candidates: tuple[int, ...]
    count: float = 1.0

    @property
    def run(self) -> tuple[int, ...]:
        """Tokens of each candidate that are run."""
        return tuple(n - 1 for n in self.candidates)

    @property
    def length(self) -> int:
        """Tokens that run."""
        return self.prompt + sum(self.run)


@dataclass
class TrainWork:
    """What one round trains on."""

    # of an epoch
    sequences: list[TrainSequence]
    # the longest ones, the longest first; what stands for all of them may stand here once
    longest: list[TrainSequence]
    # of a request, at most, where the round has pairs of its own
    pairs: int
    # evaluated each time that the training is
    held_out: list[TrainSequence] = field(default_factory=list)


@dataclass(frozen=True)
class Rhythm:
    """How often a training runs what it trains on, and what it evaluates."""

    epochs: float
    evaluations: int


def work_of_file(recipe: Recipe, path: Path) -> tuple[int, TrainWork]:
    """Rows of an epoch, and what a round trains on whose pairs are in this file.

    Raises:
        DataError: pairs cannot be trained on.
        ModelError: the tokenizer is not here.
    """
    trained, held_out = read_examples(recipe, path, load_tokenizer(recipe.model))
    n, sequences = _sequences(recipe, trained)
    longest = sorted(sequences, key=lambda sequence: -sequence.length)
    return n, TrainWork(sequences, longest, 0, _sequences(recipe, held_out)[1] if held_out else [])


def held_out_of_file(recipe: Recipe) -> list[TrainSequence]:
    """What is evaluated of a file of its own; nothing where the recipe names none.

    Raises:
        DataError: pairs cannot be read.
        ModelError: the tokenizer is not here.
    """
    path = eval_file(recipe)
    return [] if path is None else _sequences(recipe, read_eval_pairs(recipe, path, load_tokenizer(recipe.model)))[1]


def _sequences(recipe: Recipe, pairs: TrainingPairs) -> tuple[int, list[TrainSequence]]:
    """Rows, and what runs of them: a request with its candidates, or each summary of a pair behind its prompt."""
    if recipe.train.trainer == "pairwise":
        sides = ((row, ids) for row in pairs.rows for ids in (row.chosen_ids, row.rejected_ids))
        return len(pairs.rows), [TrainSequence(len(row.prompt_ids), (len(ids),)) for row, ids in sides]
    groups = build_groups(pairs.rows)
    return len(groups), [TrainSequence(len(g.prompt_ids), tuple(map(len, g.candidate_ids))) for g in groups]


def work_of_run(
    recipe: Recipe, prompts: tuple[list[int], int], factor: float, n_candidates: int, n_pairs: int, answer: int
) -> TrainWork:
    """What a round trains on whose pairs are made by the run.

    Args:
        recipe: a share of the document sets may be evaluated and not trained on.
        prompts: tokens of each counted request's prompt, and of the longest of all.
        factor: requests for each counted one.
        n_candidates: of a request.
        n_pairs: of a request, at most.
        answer: tokens of a candidate, at most.
    """
    lengths, n_longest = prompts
    alone = recipe.train.trainer == "pairwise"
    candidates = (answer,) if alone else (answer,) * min(n_candidates, 2 * n_pairs)
    share = recipe.train.eval_pairs if isinstance(recipe.train.eval_pairs, float) else 0.0

    def counted(part: float) -> list[TrainSequence]:
        return [TrainSequence(n, candidates, part * factor * (2 * n_pairs if alone else 1)) for n in lengths]

    return TrainWork(
        counted(1 - share), [TrainSequence(n_longest, candidates)], n_pairs, counted(share) if share else []
    )


def rhythm(recipe: Recipe, sequences: Iterable[TrainSequence], gpus: int) -> Rhythm:
    """How often a training runs these sequences, and what it evaluates."""
    options: dict[str, Any] = trainer_options(recipe)
    n_rows = sum(sequence.count for sequence in sequences) / (2 if recipe.train.trainer == "pairwise" else 1)
    per_epoch = max(1, ceil(n_rows / (options[SIZE] * accumulation(recipe, gpus) * gpus)))
    epochs, steps = float(options["num_train_epochs"]), options.get("max_steps", -1)
    if steps > 0:
        epochs = steps / per_epoch
    else:
        steps = ceil(epochs * per_epoch)
    strategy, delay = options.get("eval_strategy"), options.get("eval_delay", 0)
    if strategy == "epoch":
        return Rhythm(epochs, sum(min(number, epochs) >= delay for number in range(1, ceil(epochs) + 1)))
    if strategy != "steps":
        return Rhythm(epochs, 0)
    every = options["eval_steps"]
    every = ceil(every * steps) if every < 1 else int(every)
    # and at the last step, whether or not it is one of these
    evaluated = {*range(every, steps + 1, every), steps}
    return Rhythm(epochs, sum(step >= delay for step in evaluated))


def strategy_of(recipe: Recipe) -> tuple[Strategy, int]:
    """How training is spread, and over how many GPUs.

    Raises:
        RecipeError: the accelerate configuration is not one.
    """
    if not recipe.rounds:
        return "one GPU", 1
    values = read_accelerate(accelerate_config(recipe.train.accelerate_config))
    gpus = recipe.train.num_processes or values.num_processes or 1
    kind = values.distributed_type.upper()
    if kind == "DEEPSPEED":
        stage = int((values.deepspeed_config or {}).get("zero_stage", 2))
        return ("ZeRO-3" if stage == 3 else "ZeRO-2"), gpus
    return ("FSDP2", gpus) if kind == "FSDP" else ("one GPU", 1) if kind == "NO" else ("DDP", gpus)


def largest_pass(recipe: Recipe, train: TrainWork) -> Pass:
    """The largest pass of training on GPUs."""
    gpus = strategy_of(recipe)[1]
    size = accumulation(recipe, gpus) if is_auto(recipe) else int(trainer_options(recipe)[SIZE])
    if recipe.train.trainer == "pairwise":
        # both summaries of each pair, padded to the longest
        answer = max(max(sequence.candidates) for sequence in train.longest)
        return Pass((max(sequence.length + 1 for sequence in train.longest),) * 2 * size, 2 * size * answer)
    rows = (train.longest * size)[:size]
    sequences = fill_pass([row.length for row in rows], recipe.train.max_tokens_per_pass)
    # as many candidates as have room behind one prompt
    room = max(1, (sum(sequences) - rows[0].prompt) // max(1, *rows[0].run))
    answers = [answer for row in rows for answer in row.candidates]
    return Pass(sequences, sum(sorted(answers, reverse=True)[:room]), has_masks=recipe.model.has_masks_on_gpu)
