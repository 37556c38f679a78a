"""The training stage: where its inputs lie, and everything that the adapter depends on."""

from collections import Counter
from pathlib import Path

from ..config import Recipe
from ..errors import DataError, RecipeError
from ..models import signature
from ..models.files import ADAPTER_SETTINGS
from ..runfolder.phases import ADAPTER, LEDGER, PAIRS, TRAINING, Phase
from ..runfolder.stages import Stage, left_by
from ..storage import file_digest, iter_lines, read_json
from ..text.digests import digest
from .options import PUBLISHING, is_auto, trainer_options

# what of the section 'train' the adapter depends on
DECIDES = {"trainer", "reference", "excess_length_strategy", "fairness", "global_batch_size", "shuffle", "texts"}
# keys of trl.DPOConfig that change time and memory, or who is told of it, and nothing that is learnt
UNLEARNT = {"gradient_checkpointing", "gradient_checkpointing_kwargs", "report_to", *PUBLISHING}
# how the model is loaded, as far as it changes what is learnt
LOADED_AS = {"dtype", "quantise", "attn_implementation", "chat_template_kwargs"}
# endings of files that datasets reads, and that are no lines
TABLES = {"arrow", "csv", "parquet"}
# moves when the same pairs get other weights of FairPO; 2: small averages that are not 0 keep their ratio
FAIRPO_VERSION = 2
# moves when the same inputs train another adapter; 2: texts end as turns of the chat template do, and adapters of weights in four
# bits are float32
VERSION = 2


def training_stage(phase: Phase, processes: int) -> Stage:
    """The stage that trains a round's adapter.

    Args:
        phase: a round.
        processes: training processes; more of them make a larger effective batch and so another adapter.

    Raises:
        RecipeError: the phase is not a round.
        DataError: there are no pairs, or they are not what was reranked, or the adapter to start from is not there.
    """
    recipe = phase.recipe
    pairs = pair_file(phase)
    before = file_digest(pairs) if recipe.train.pairs else left_by("rerank", phase.folder, PAIRS)[PAIRS]
    adapter = phase.adapter
    if adapter is not None and not (adapter / ADAPTER_SETTINGS).is_file():
        raise DataError(
            f"{adapter}: there is no adapter to start from; train the round before {phase.name} first, "
            "or name an adapter folder with model.adapter"
        )
    inputs = {
        "pairs": before,
        "model": [
            signature(recipe.model.name, recipe.model.revision, adapter),
            recipe.model.model_dump(mode="json", include=LOADED_AS),
        ],
        "lora": recipe.lora.model_dump(mode="json"),
        "train": recipe.train.model_dump(mode="json", include=DECIDES, exclude_none=True),
        "trainer": {key: value for key, value in trainer_options(recipe).items() if key not in UNLEARNT},
        "seed": round_seed(recipe, phase.round or 0),
        "processes": processes,
        "version": VERSION,
    }
    if is_auto(recipe):
        # how a step is cut, which moves the last digits
        inputs["tokens_per_pass"] = recipe.train.max_tokens_per_pass
    if isinstance(recipe.train.eval_pairs, float):
        inputs["eval_pairs"] = recipe.train.eval_pairs
    elif (own := eval_file(recipe)) is not None:
        inputs["eval_pairs"] = file_digest(own)
    if recipe.train.fairness is not None:
        inputs["fairpo"] = FAIRPO_VERSION
    return Stage("train", phase.folder, inputs, (ADAPTER, TRAINING))


def pair_file(phase: Phase) -> Path:
    """The file of pairs to train on: the recipe's own, else the one in the phase folder.

    Raises:
        RecipeError: the phase is not a round.
        DataError: the file is not there, or has no pairs.
    """
    if phase.round is None:
        raise RecipeError(f"phase {phase.name!r} is an evaluation; only rounds are trained, for example round-00")
    path = own_pairs(phase.recipe) or phase.folder / PAIRS
    if not path.is_file():
        raise DataError(
            f"{path}: there are no preference pairs yet; make them by generating, judging and reranking {phase.name}, "
            "or name a file of pairs with train.pairs"
        )
    if next(iter_lines(path), None) is None:
        raise DataError(f"{path}: has no pairs, so there is nothing to train on" + _left_out(phase.folder / LEDGER))
    return path


def _left_out(path: Path) -> str:
    """Why a round has no pairs, by its ledger, the most frequent reason first."""
    counts: Counter[str] = Counter()
    for row in read_json(path)["rows"] if path.is_file() else ():
        counts[row["reason"]] += row["count"]
    if not counts:
        return ""
    reasons = ", ".join(f"{reason} ({count})" for reason, count in counts.most_common())
    return f"; left out: {reasons} ({path} has the sides). Change what they name in pairs and plans, or make more candidates"


def own_pairs(recipe: Recipe) -> Path | None:
    """The file of pairs that the recipe names, if any.

    Raises:
        DataError: it is not there, or a table.
    """
    return _present("pairs", recipe.train.pairs)


def eval_file(recipe: Recipe) -> Path | None:
    """The file of pairs that are evaluated while a training runs, if the recipe names one.

    Raises:
        DataError: it is not there, a table, or empty.
    """
    named = recipe.train.eval_pairs
    path = _present("eval_pairs", named if isinstance(named, Path) else None)
    if path is not None and next(iter_lines(path), None) is None:
        raise DataError(
            f"key 'train.eval_pairs': {path} has no pairs; name another file, or a share of the document sets (0.1)"
        )
    return path


def _present(key: str, path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise DataError(f"key 'train.{key}': {path}: there is no such file")
    if path is not None and (kind := path.suffix[1:].lower()) in TABLES:
        raise DataError(
            f"key 'train.{key}': {path}: pairs are read from JSON Lines, one object a line; datasets.load_dataset({kind!r}, "
            f"data_files={str(path)!r}, split='train').to_json('pairs.jsonl') writes them"
        )
    return path


def round_seed(recipe: Recipe, number: int) -> int:
    """Seed of a round's training, in [0, 2^31): of the adapter's first weights and of the order of the rows."""
    return int(digest([recipe.name, recipe.seed, "train", number]), 16) % 2**31
