"""The text of a first recipe: answers to four questions, and everything else as it suits them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..config import CorpusSection, Recipe
from ..config.plain_yaml import dump_yaml, parse_yaml
from ..config.recipe_file import recipe_of
from ..config.remote import SERVED
from ..errors import RecipeError

Goal = Literal["rerank", "train"]
# models too small for an instruction of several sentences
SMALL = "embedded:smollm2"
# values whose documents are counted in a comment
MOST_COUNTED = 6


@dataclass(frozen=True)
class Answers:
    """What a recipe is written for."""

    # of the run, and of its folder in runs/
    name: str
    corpus: CorpusSection
    # value of the attribute -> documents that have it
    values: Mapping[str, int]
    # that the document sets name
    splits: frozenset[str]
    model: str
    goal: Goal


def recipe_text(answers: Answers, file: str) -> str:
    """The recipe, at most 25 lines; `file` is what its command calls it."""
    return "\n".join(_lines(answers, file)) + "\n"


def checked(text: str) -> Recipe:
    """The recipe that a text is, checked as `evenhand validate --elsewhere` would.

    Raises:
        RecipeError: something is wrong with it; all mistakes are listed.
    """
    from ..preflight import preflight

    values = parse_yaml(text)
    if not isinstance(values, dict):
        raise RecipeError("a recipe has keys and values")
    recipe = recipe_of(values)
    preflight(recipe, elsewhere=True)
    return recipe


def _lines(answers: Answers, file: str) -> Iterator[str]:
    trains = answers.goal == "train"
    served = SERVED.fullmatch(answers.model)
    is_small = answers.model.startswith(SMALL)
    more = ", and LoRA DPO on their pairs" if trains else ""
    yield f"# evenhand loop {file}"
    yield f"name: {_flow(answers.name)}  # best of six by the judges below{more}"
    yield f"output: {_flow(f'runs/{answers.name}')}"
    yield f"model: {_flow({'name': served['name'] if served else answers.model})}  # writes the summaries"
    yield "corpus:"
    yield from (f"  {line}" for line in _corpus(answers))
    yield f"task: {_flow(SMALL_TASK if is_small else TASK)}  # a summary of each side's documents"
    yield "generate:"
    if served:
        yield "  backend: openai"
        yield f"  server: {_flow({'base_url': served['address']})}  # a key: api_key_env: NAME_OF_A_VARIABLE"
    else:
        yield "  backend: vllm  # or transformers, which is slower and needs no engine"
    yield "  plans: {nucleus: {temperature: 0.9, top_p: 0.9, candidates: 6, max_tokens: 128}}"
    yield "judges:"
    yield "  coverage: {kind: alignment, chunks: sentence, parts: claim, direction: recall}  # how much its side says is there"
    yield "  contract: {kind: contract}  # whether length and form are those that were asked for"
    yield "  rouge: {kind: rouge, type: rouge1, measure: recall}  # of the report alone, so that no reward grades itself"
    yield "reward: {judges: [coverage, contract], combine: z_mean}"
    yield "evaluation: {judges: [rouge]}"
    yield f"rounds: {int(trains)}"
    if trains:
        yield "pairs: {most_length_ratio: 1.25}  # coverage grows with length, which is not to be learnt"
        # few steps must do for a small model
        rate = "4.0e-4" if is_small else "1.0e-5"
        yield "train: {accelerate_config: cpu}  # with GPUs another: evenhand recipes accelerate"
        yield f"trainer: {{beta: 0.1, learning_rate: {rate}, per_device_train_batch_size: 1}}  # of TRL's DPOConfig"


TASK = {"template": "perspective", "opening": None, "sentences": 1}
SMALL_TASK = {"template": "perspective-short", "opening": "The {side}", "sentences": 1}


def _corpus(answers: Answers) -> Iterator[str]:
    corpus = answers.corpus
    yield f"path: {_flow(corpus.path)}"
    if corpus.columns:
        yield f"columns: {_flow(corpus.columns.model_dump(exclude_none=True))}"
    yield f"attribute: {_flow(corpus.attribute)}{_counted(answers.values)}"
    if corpus.sides:
        yield f"sides: {_flow(list(corpus.sides))}"
    if answers.goal == "train":
        is_split = {"train", "test"} <= answers.splits
        yield "train: {split: train}" if is_split else "train: {split: null}  # what test leaves"
        yield "test: {split: test}" if is_split else "test: {split: null}  # a quarter of the topics, drawn by the seed"
    else:
        yield "test: {split: test}" if "test" in answers.splits else "test: {split: null}  # all sets"


def _counted(values: Mapping[str, int]) -> str:
    if len(values) > MOST_COUNTED or any("\n" in value or len(value) > 20 for value in values):
        return ""
    return f"  # {', '.join(f'{value} {count:,}' for value, count in values.items())} documents"


def _flow(value: str | Sequence[str] | Mapping[str, Any]) -> str:
    """A text, a list of texts or a flat mapping as YAML in one line."""
    line = " ".join(dump_yaml([value] if isinstance(value, str) else value, compact=True).split("\n")).strip()
    return line[1:-1] if isinstance(value, str) else line
