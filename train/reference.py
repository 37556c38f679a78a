"""Reference log-probabilities made before training, kept from run to run by what they are of.

The reference never moves, so a second epoch, or a second training with another learning rate, need not run it again. The key
of a pair is the SHA-256 of the reference's signature and of the token ids of prompt, chosen and rejected summary.
"""

import hashlib
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..extras import installed_versions
from ..models import signature
from ..models.cache import KeptTable
from ..runfolder.phases import Phase
from ..runfolder.progress import Progress
from ..text.digests import canonical_json
from ..text.shown import shortened
from .groups import packed_length
from .options import trainer_options

REFERENCE_LOGPS = KeptTable(
    "reference_logps.sqlite", "pairs", "key TEXT PRIMARY KEY, chosen REAL NOT NULL, rejected REAL NOT NULL",
    "reference log-probabilities", ", or leave out trainer.precompute_ref_log_probs",
)  # fmt: skip

# libraries whose versions change the numbers
COMPUTED_BY = ("torch", "transformers", "trl")

# summed log-probabilities of the chosen and the rejected summary, in nats
Logps = tuple[float, float]


def reference_signature(phase: Phase) -> str:
    """Names everything that the reference's log-probabilities depend on besides the tokens."""
    recipe: Recipe = phase.recipe
    model, options = recipe.model, trainer_options(recipe)
    adapter = phase.adapter if recipe.train.reference == "previous" else None
    loaded = model.model_dump(mode="json", include={"dtype", "quantise", "attn_implementation"})
    computed = {key: options.get(key) for key in ("bf16", "fp16", "ld_alpha")}
    named = signature(model.name, model.revision, adapter)
    return canonical_json([named, loaded, computed, installed_versions(COMPUTED_BY)])


def kept_reference(named: str, progress: Path) -> Callable[[Any, Any], Any]:
    """What `SharedPrefix` wants: takes the trainer and its rows, gives the rows with `ref_chosen_logps` and `ref_rejected_logps`.

    Args:
        named: the reference's signature.
        progress: file that says how many rows are done.
    """

    def add(trainer: Any, rows: Any) -> Any:
        from accelerate.utils import broadcast_object_list

        keys = [_keys(named, row) for row in rows]
        # the main process looks, so that all know the same
        results = [_find([key for row_keys in keys for key in row_keys]) if trainer.accelerator.is_main_process else {}]
        broadcast_object_list(results, from_process=0)
        known = results[0]
        missing = [place for place, row_keys in enumerate(keys) if any(key not in known for key in row_keys)]
        for place, logps in _computed(trainer, rows, missing, progress).items():
            known.update(zip(keys[place], logps, strict=True))
        if missing and trainer.accelerator.is_main_process:
            fresh = {key: (key, *known[key]) for place in missing for key in keys[place]}
            with REFERENCE_LOGPS.opened() as database, database:
                database.executemany("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", fresh.values())
        for column, side in (("ref_chosen_logps", 0), ("ref_rejected_logps", 1)):
            rows = rows.add_column(column, [[known[key][side] for key in row_keys] for row_keys in keys])
        return rows

    return add


def _computed(trainer: Any, rows: Any, missing: Sequence[int], path: Path) -> dict[int, list[Logps]]:
    """The reference's log-probabilities of the pairs of these rows, which the processes share out among them."""
    if not missing:
        return {}
    from accelerate.utils import gather_object

    accelerator = trainer.accelerator
    batches = _batches(rows, missing, trainer.data_collator.max_tokens, accelerator.num_processes)
    # every process runs as many, because sharded weights are gathered from all of them
    rounds = -(-len(batches) // accelerator.num_processes)
    first = accelerator.process_index * rounds
    logps: list[tuple[int, list[Logps]]] = []
    progress = Progress(path, "reference passes", {"": rounds}, {}) if accelerator.is_main_process else None
    # dropout would be in a frozen copy of the adapter, too
    trainer.model_wrapped.eval()
    for number in range(first, first + rounds):
        places = batches[min(number, len(batches) - 1)]
        batch = trainer._prepare_inputs(trainer.data_collator([rows[place] for place in places]))
        sides = trainer.compute_ref_log_probs(trainer.model_wrapped, batch)
        pairs = iter(zip(*(side.tolist() for side in sides), strict=True))
        logps += [(place, list(islice(pairs, len(rows[place]["chosen"])))) for place in places]
        if progress:
            progress.add()
    return dict(gather_object(logps))


def _batches(rows: Any, places: Sequence[int], allowed: int, processes: int) -> list[list[int]]:
    """These rows in the order of their prompts, in batches of like length and at most so many tokens, if rows are no longer.

    Without gradients a pass of many rows takes little memory, and what prompts begin with alike, as both sides of a document
    set do, runs once. Every process has a batch, where there are rows for it.
    """
    columns = {place: (rows[place]["prompt_ids"], rows[place]["candidate_ids"]) for place in places}
    lengths = {place: packed_length(*row) for place, row in columns.items()}
    order = sorted(places, key=lambda place: columns[place][0])
    ends = list(accumulate(lengths[place] for place in order))
    n = processes * -(-ends[-1] // (processes * allowed))
    while True:
        batches: dict[int, list[int]] = {}
        for place, end in zip(order, ends, strict=True):
            batches.setdefault(int((end - lengths[place] / 2) * n / ends[-1]), []).append(place)
        if n >= len(order) or all(sum(lengths[place] for place in batch) <= allowed for batch in batches.values()):
            return list(batches.values())
        n += processes


def _keys(named: str, row: Mapping[str, Any]) -> list[str]:
    candidates = row["candidate_ids"]
    return [
        hashlib.sha256(canonical_json([named, row["prompt_ids"], candidates[c], candidates[r]]).encode()).hexdigest()
        for c, r in zip(row["chosen"], row["rejected"], strict=True)
    ]


def _find(keys: Sequence[str]) -> dict[str, Logps]:
    logps = {}
    with REFERENCE_LOGPS.opened() as database:
        for key in dict.fromkeys(keys):
            row = database.execute("SELECT chosen, rejected FROM pairs WHERE key = ?", (key,)).fetchone()
            if row is not None:
                # SQLite keeps values of any type in any column, so a damaged or foreign file may hold some
                if not all(isinstance(number, float) and math.isfinite(number) for number in row):
                    raise sqlite3.DataError(f"it holds {shortened(row)} instead of two numbers")
                logps[key] = (row[0], row[1])
    return logps
