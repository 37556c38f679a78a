"""From the command line to runs: recipes, values to sweep over, and where each run lies."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ....config import JudgeOptions, Recipe
from ....config.plain_yaml import NotYamlError, parse_yaml
from ....config.recipe_file import has_section, load_recipe
from ....errors import RecipeError
from ....generate.stage import phase_requests
from ....records import Contract, SummaryRequest
from ....runfolder.phases import BASE, open_phase
from ....text import repeated
from ....text.digests import digest
from ....text.mistakes import listed
from ....text.shown import shortened
from .entries import BUDGETS, NamedRecipe

RUNS = "runs"
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# letters of a folder name that is not the label itself
LONGEST = 80


def name_runs(paths: Sequence[Path], overrides: Sequence[str], sweeps: Sequence[str], out: Path) -> list[NamedRecipe]:
    """The runs of some recipes, each once for every combination of swept values.

    Args:
        paths: recipes; a run is called as its file.
        overrides: "key=value" texts, applied to all recipes.
        sweeps: "key=value,value" texts. A recipe that does not have the key's section is not swept over it.
        out: the runs lie in its folder `runs`, each under its name, wherever their recipes would put them.

    Raises:
        RecipeError: a recipe is wrong, a sweep fits no recipe, or two runs have the same name or folder; all are listed.
    """
    swept = [_Setting.sweep(text) for text in sweeps]
    unused = [setting.key for setting, *_ in swept if not any(has_section(path, setting.key) for path in paths)]
    mistakes = [
        f"--over {key}: no recipe has the section {key.rpartition('.')[0]!r}; write it into the recipe that is meant"
        for key in unused
    ]
    runs: list[NamedRecipe] = []
    for path in paths:
        grid = [settings for settings in swept if has_section(path, settings[0].key)]
        for settings in product(*grid):
            try:
                recipe = load_recipe(path, [*overrides, *(setting.override for setting in settings)])
            except RecipeError as error:
                mistakes.append(str(error))
                continue
            label = " ".join([path.stem, *(setting.label for setting in settings)])
            runs.append(NamedRecipe(label, recipe.model_copy(update={"output": out / RUNS / folder_name(label)})))
    mistakes += _same("are called", (run.label for run in runs))
    mistakes += _same("lie in", (str(run.recipe.output) for run in runs))
    if mistakes:
        raise RecipeError(listed(mistakes))
    return runs


def usual_budgets(runs: Sequence[NamedRecipe]) -> list[int]:
    """The budgets of Ri et al. 2025, and as many candidates as each recipe asks for."""
    return sorted({*BUDGETS, *map(_most_candidates, runs)})


def refuse_unlike(runs: Sequence[NamedRecipe], budgets: Sequence[int]) -> None:
    """Refuse, before any work, runs that could not be compared after it.

    Args:
        runs: at least one, the reference first.
        budgets: numbers of candidates.

    Raises:
        RecipeError: other test requests or other report judges than the first run's, or no run has that many candidates; all such
            are listed.
        DataError: a corpus is wrong.
    """
    first, mistakes = runs[0], []
    n_candidates = max(map(_most_candidates, runs))
    if min(budgets) > n_candidates:
        mistakes.append(f"--budgets: no recipe asks for more than {n_candidates} candidates of a request")
    expected = _test_requests(first.recipe)
    for run in runs[1:]:
        requests = _test_requests(run.recipe)
        difference = expected.keys() ^ requests.keys()
        if difference:
            mistakes.append(
                f"{run.label}: {len(difference)} test requests are in this recipe or in {first.label!r} only, for example "
                f"{min(difference)!r}; give both the same corpus"
            )
        elif changed := [i for i in expected if _asked(expected[i]) != _asked(requests[i])]:
            mistakes.append(
                f"{run.label}: {len(changed)} test requests have another side, other documents or another contract than in "
                f"{first.label!r}, for example {changed[0]!r}; give both the same corpus and the same task"
            )
        if _report_judges(run.recipe) != _report_judges(first.recipe):
            mistakes.append(f"{run.label}: the report judges are others than in {first.label!r}; give both the same")
    if mistakes:
        raise RecipeError(listed(mistakes))


def _most_candidates(run: NamedRecipe) -> int:
    return open_phase(run.recipe, BASE).n_candidates


def _test_requests(recipe: Recipe) -> dict[str, SummaryRequest]:
    return {request.id: request for request in phase_requests(open_phase(recipe, BASE))}


def _asked(request: SummaryRequest) -> tuple[str, str, Contract]:
    """The parts of a request that comparable summaries have in common; summaries of all sides may differ in their length."""
    length = {"sentences": None, "words": None} if request.perspective is None else {}
    return request.side, request.source, request.contract.model_copy(update=length)


def _report_judges(recipe: Recipe) -> dict[str, JudgeOptions]:
    return {name: recipe.judges[name] for name in recipe.evaluation.judges}


@dataclass(frozen=True)
class _Setting:
    """A key with one of its values."""

    key: str
    value: Any

    @classmethod
    def sweep(cls, text: str) -> list["_Setting"]:
        """A key with each of the values that it takes in turn."""
        key, equals, written = text.partition("=")
        try:
            values = parse_yaml(f"[{written}]") if equals else []
        except NotYamlError:
            values = []
        # between two commas there may be null, but not nothing
        is_left_out = values.count(None) > sum(part.strip() == "null" for part in written.split(","))
        if not all(key.split(".")) or not values or is_left_out:
            raise RecipeError(
                f"--over {shortened(text)}: write KEY=VALUE,VALUE, for example seed=1,2,3; a list is a value "
                "in brackets"
            )
        # true is no 1
        keys = [(value is True or value is False, value) for value in values]
        if twice := [value for place, (_, value) in enumerate(keys) if keys[place] in keys[:place]]:
            raise RecipeError(f"--over {shortened(text)}: {shortened(twice[0])} is there twice; write each value once")
        return [cls(key, value) for value in values]

    @property
    def override(self) -> str:
        """As `load_recipe` takes it: JSON is YAML."""
        return f"{self.key}={json.dumps(self.value)}"

    @property
    def label(self) -> str:
        """The key's last step is enough to tell runs of one recipe apart: "agents 3"."""
        value = self.value if isinstance(self.value, str) else json.dumps(self.value)
        return f"{self.key.rpartition('.')[2]} {value}"


def folder_name(label: str) -> str:
    """A name for a folder made from the label: signs other than letters, digits, . _ - become hyphens, and a digest follows."""
    plain = label.replace(" ", "-")
    safe = UNSAFE.sub("-", plain).strip(".-")
    return safe if safe == plain else f"{safe[:LONGEST]}-{digest(label, 6)}"


def _same(verb: str, texts: Iterable[str]) -> list[str]:
    return [
        f"two runs {verb} {text!r}; give each recipe a file name and an output of its own" for text in repeated(texts)
    ]
