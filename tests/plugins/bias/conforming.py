"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from functools import partial
from pathlib import Path
from typing import Any

from bad_input.good_files import REPOSITORY, Given, written

from evenhand.evaluation.pages.blocks import Page
from evenhand.plugins.bias import study
from evenhand.plugins.bias.demographic.word_lists import WordLists, letter_runs
from evenhand.plugins.bias.recipe import BiasRecipe
from evenhand.plugins.bias.study.inputs import BiasInput
from evenhand.plugins.bias.study.replies import draw_prompt
from evenhand.plugins.bias.study.summarise import read_given
from evenhand.plugins.bias.word_list_family import WORDS_COMPARED, ListedWords


def read_case(*case: Any) -> Any:
    import demographic_operations

    return demographic_operations.read_case(*case)


def studied(path, ids):
    """Summaries of a file for a study, by id."""
    inputs = [
        BiasInput(
            id=name, original_id=name, design="balanced", assignment_id=0, pair_id=0, group=None,
            text=f"The {name} of the town has a ferry and a park.", entities={},
        )
        for name in ids
    ]  # fmt: skip
    return {each.input_id: each.text or "" for each in read_given(path, inputs) if each.reason in (None, "empty")}


# the prompts that are asked, with a text in place of a foreign one
PROMPTS = {"bias": lambda text: [draw_prompt(text, 0)]}
TEXT_READERS = {"word lists": letter_runs}
SUMMARY_READERS = {"studied": studied}
# families of an audit, and in what words each says who is off: the verb, less, more, and of whom
FAMILIES = {"word-lists": lambda given: ListedWords(WordLists())}
SAID = {"word-lists": ("used", "less", "more", ("female", "male"))}
MEASURED = {"word-lists": WORDS_COMPARED}
VECTORS = {"demographic-bias": read_case}


def bias_study(run: Any, folder: Path) -> Page:
    recipe = {
        "name": "study",
        "output": folder / "study",
        "inputs": {"assignments": 2},
        "simulated": "one-sided",
        "measures": {"persons": "known", "encoder": None, "resamples": 100},
    }
    return study.page(study.bias_study(BiasRecipe.model_validate(recipe)).report)


PAGES = {"bias_study": bias_study}
GOLDEN = {"bias_study": (bias_study, Path(__file__).parent / "bias_study.md")}


def _bias(folder: Path) -> Given:
    path = folder / "bias.yaml"
    path.write_bytes((REPOSITORY / "recipes" / "bias" / "simulated.yaml").read_bytes())
    return Given(path, "yaml", ("bias-study", path, "--dry-run"))


def _annotated(folder: Path) -> Given:
    path = folder / "news.jsonl"
    shipped = (REPOSITORY / "plugins" / "bias" / "annotated" / "sample").glob("*.jsonl")
    path.write_text("".join(next(shipped).read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    recipe_path = REPOSITORY / "recipes" / "bias" / "simulated.yaml"
    return Given(path, "jsonl", ("bias-study", recipe_path, "--dry-run", "--set", f"input={path}"))


def _studied_summaries(folder: Path) -> Given:
    inputs = [
        BiasInput(
            id=f"s{k}", original_id=f"s{k}", design="balanced", assignment_id=0, pair_id=0, group=None,
            text=f"The ferry {k} is cheap.", entities={},
        )
        for k in range(4)
    ]  # fmt: skip
    path = written(folder / "given.jsonl", *({"id": each.id, "summary": "The ferry is dear."} for each in inputs))
    return Given(path, "jsonl", read=partial(read_given, path, inputs))


FILES = {
    "bias recipe": _bias,
    "annotated news": _annotated,
    "studied summaries": _studied_summaries,
}
