"""Reference log-probabilities made once and found again by content."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preference_groups import make_alike_rows, make_rows, make_trainer

from evenhand.errors import StorageError
from evenhand.runfolder.phases import Phase
from evenhand.train.examples import TokenPair
from evenhand.train.reference import REFERENCE_LOGPS, _batches, kept_reference, reference_signature

pytest.importorskip("trl")
pytestmark = pytest.mark.usefixtures("fresh_accelerate", "own_cache")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pairs of each reference pass."""
    import trl

    counted: list[int] = []
    plain = trl.DPOTrainer.compute_ref_log_probs

    def counting(self: Any, model: Any, inputs: Any) -> Any:
        counted.append(len(inputs["input_ids"]) // 2)
        return plain(self, model, inputs)

    monkeypatch.setattr(trl.DPOTrainer, "compute_ref_log_probs", counting)
    return counted


def precomputed(model: Path, folder: Path, rows: Any = None, named: str = "base", **options: Any) -> Any:
    options |= {"precompute_ref_log_probs": True, "reference_logps": kept_reference(named, folder / "progress")}
    return make_trainer("shared-prefix", model, folder, rows, **options)


def loss(trainer: Any) -> float:
    trainer.model.train()
    return float(trainer.compute_loss(trainer.model, trainer.data_collator(list(trainer.train_dataset))).detach())


@pytest.mark.parametrize("options", [{}, {"ld_alpha": 0.5}], ids=["plain", "ld_alpha"])
def test_loss_is_that_of_a_reference_run_beside_the_policy(
    options: dict[str, Any], tiny_model: Path, tmp_path: Path
) -> None:
    wanted = loss(make_trainer("shared-prefix", tiny_model, tmp_path, **options))
    assert loss(precomputed(tiny_model, tmp_path, **options)) == pytest.approx(wanted, rel=1e-5)


def test_known_pairs_are_not_run_again(tiny_model: Path, tmp_path: Path, runs: list[int]) -> None:
    rows = make_rows()
    first = precomputed(tiny_model, tmp_path, rows)
    assert runs == [8]
    again = precomputed(tiny_model, tmp_path, rows)
    assert runs == [8], "everything was known"
    assert again.train_dataset["ref_chosen_logps"] == first.train_dataset["ref_chosen_logps"]
    precomputed(tiny_model, tmp_path, [*rows[:-1], TokenPair("left", [20, 21], [30, 31], [32])])
    assert runs == [8, 1], "the new request only"


def test_rows_share_passes_as_far_as_they_fit_and_have_what_they_have_alone(
    tiny_model: Path, tmp_path: Path, runs: list[int]
) -> None:
    """Three prompts of which two begin alike, and those follow each other."""
    columns = ("ref_chosen_logps", "ref_rejected_logps")
    together = precomputed(tiny_model, tmp_path, make_alike_rows())
    assert runs == [8]
    REFERENCE_LOGPS.forget()
    alone = precomputed(tiny_model, tmp_path, make_alike_rows(), max_tokens=170)
    assert len(runs) == 1 + 3 and sorted(runs[1:]) == [1, 3, 4]
    for name in columns:
        for wanted, row in zip(alone.train_dataset[name], together.train_dataset[name], strict=True):
            assert row == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    ("allowed", "processes", "sizes"),
    [
        (1000, 1, [4]),
        (60, 1, [2, 2]),
        (1000, 2, [2, 2]),
        (35, 1, [1, 1, 1, 1]),
        (5, 3, [1, 1, 1, 1]),
        (1000, 8, [1, 1, 1, 1]),
    ],
)
def test_passes_are_filled_and_every_process_has_some(allowed: int, processes: int, sizes: list[int]) -> None:
    """Of four rows of 30 tokens, in the order of their prompts."""
    prompts = [[3] * 20, [1] * 20, [3] * 20, [2] * 20]
    rows = [{"prompt_ids": prompt, "candidate_ids": [[5] * 6, [6] * 6]} for prompt in prompts]
    batches = _batches(rows, range(4), allowed, processes)
    assert [len(batch) for batch in batches] == sizes
    assert [place for batch in batches for place in batch] == [1, 3, 0, 2]


def test_what_is_kept_is_counted_and_forgotten(tiny_model: Path, tmp_path: Path, runs: list[int]) -> None:
    assert (REFERENCE_LOGPS.count(), REFERENCE_LOGPS.forget()) == (0, 0)
    precomputed(tiny_model, tmp_path)
    assert REFERENCE_LOGPS.count() == 8
    assert (REFERENCE_LOGPS.forget(), REFERENCE_LOGPS.count()) == (8, 0)
    precomputed(tiny_model, tmp_path)
    assert runs == [8, 8]


def test_another_reference_is_run_anew(tiny_model: Path, tmp_path: Path, runs: list[int]) -> None:
    precomputed(tiny_model, tmp_path, named="base")
    precomputed(tiny_model, tmp_path, named="another")
    assert runs == [8, 8]


def test_signature_tells_references_apart(open_round: Callable[..., Phase]) -> None:
    named = {
        reference_signature(open_round(name, **sections))
        for name, sections in {
            "a": {},
            "b": {"model": {"dtype": "bfloat16"}},
            "c": {"trainer": {"ld_alpha": 0.5}},
            "d": {"model": {"quantise": "nf4"}},
            "e": {"trainer": {"bf16": True}},
        }.items()
    }
    assert len(named) == 5
    # what only the policy depends on
    assert reference_signature(open_round("f", lora={"r": 8}, trainer={"beta": 0.5})) in named


def test_file_that_cannot_be_used_is_named_with_the_remedy(tiny_model: Path, tmp_path: Path) -> None:
    REFERENCE_LOGPS.path.parent.mkdir(parents=True)
    REFERENCE_LOGPS.path.write_text("this is no database, and long enough to be seen as none " * 20)
    with pytest.raises(StorageError, match=r"reference_logps\.sqlite.*delete the file"):
        precomputed(tiny_model, tmp_path)
