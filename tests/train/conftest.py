"""A training small enough for a test: the tiny model, a dozen pairs, LoRA of rank 4."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.config import Recipe
from evenhand.config.recipe_file import dump_recipe
from evenhand.generate.backend import prompt_tokens, tokens_digest
from evenhand.records import Message, PreferencePair
from evenhand.runfolder.phases import PAIRS, Phase, round_name
from evenhand.storage import write_jsonl

GOOD = (
    "The Left wants the ferry kept.",
    "The Left says nurses need the ferry at night.",
    "The Left calls the ferry cheap.",
)
BAD = ("Ferries float.", "The Right wants a bridge that pays for itself.", "It is about taxes, mostly.")


def make_pairs(tokenizer: Any, n: int = 12) -> list[PreferencePair]:
    """Pairs of the two sides in turn; every other one without generated tokens."""
    pairs = []
    for i in range(n):
        prompt = (Message(role="user", content=f"Summarise what is said about ferry number {i}."),)
        chosen, rejected = GOOD[i % 3], BAD[(i // 3) % 3]
        ids = [(*tokenizer(text)["input_ids"], tokenizer.eos_token_id) for text in (chosen, rejected)]
        pairs.append(
            PreferencePair(
                prompt=prompt,
                chosen=(Message(role="assistant", content=chosen),),
                rejected=(Message(role="assistant", content=rejected),),
                request_id=f"ferry-{i}/left",
                set_id=f"ferry-{i}",
                side=("left", "right")[i % 2],
                chosen_id=f"c{i}",
                rejected_id=f"r{i}",
                chosen_reward=1.0,
                rejected_reward=0.0,
                margin=1.0,
                prompt_digest=tokens_digest(prompt_tokens(tokenizer, prompt)),
                chosen_token_ids=ids[0] if i % 2 else (),
                rejected_token_ids=ids[1] if i % 2 else (),
            )
        )
    return pairs


@pytest.fixture(scope="session")
def tokenizer(tiny_model: Path) -> Any:
    """Tokenizer of the tiny model."""
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture
def pairs(tokenizer: Any) -> list[PreferencePair]:
    """A dozen pairs."""
    return make_pairs(tokenizer)


@pytest.fixture
def open_round(tiny_model: Path, tokenizer: Any, tmp_path: Path) -> Callable[..., Phase]:
    """Makes a round with its pair file and resolved recipe; sections of the recipe may be overridden."""

    def make(name: str = "run", number: int = 0, **sections: Any) -> Phase:
        values: dict[str, Any] = {
            "name": "tiny",
            "output": str(tmp_path / name),
            "model": {"name": str(tiny_model), "dtype": "float32"},
            "generate": {"plans": {"nucleus": {"top_p": 0.9}}, "max_model_len": 256},
            "judges": {"rouge": {"kind": "rouge"}, "words": {"kind": "length"}},
            "reward": {"judges": ["rouge"]},
            "evaluation": {"judges": ["words"]},
            "lora": {"r": 4, "lora_alpha": 8},
            "trainer": {
                "learning_rate": 1e-2, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 1,
                "disable_tqdm": True, "save_steps": 2,
            },
            "rounds": 2,
        }  # fmt: skip
        for section, changed in sections.items():
            values[section] = values[section] | changed if isinstance(values.get(section), dict) else changed
        recipe = Recipe.model_validate(values)
        phase = Phase(recipe, round_name(number), number - 1 if number else None)
        phase.folder.mkdir(parents=True, exist_ok=True)
        write_jsonl(phase.folder / PAIRS, make_pairs(tokenizer))
        (recipe.output / "recipe.yaml").write_text(dump_recipe(recipe))
        return phase

    return make


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny model gains nothing from more threads, and on a busy machine they wait for each other."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
