"""From the command line to runs: recipes, values to sweep over, and where each run lies."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from ...config import JudgeOptions, Recipe
from ...errors import RecipeError
from ...generate.stage import phase_requests
from ...recipe_file import has_section, load_recipe
from ...run import open_phase
from ...storage import listed
from .entries import Named

RUNS = "runs"


def name_runs(paths: Sequence[Path], overrides: Sequence[str], sweeps: Sequence[str], out: Path | None) -> list[Named]:
    """The runs of some recipes, each once for every combination of swept values.

    Args:
        paths: recipes; a run is called as its file.
        overrides: "key=value" texts, applied to all recipes.
        sweeps: "key=value,value" texts. A recipe that does not have the key's section is not swept over it.
        out: folder that the runs lie in, each under its name; None leaves each where its recipe says, beside which a swept run
            gets a folder of its own.

    Raises:
        RecipeError: a recipe is wrong, a sweep fits no recipe, or two runs have the same name or folder; all are listed.
    """
    swept = [_sweep(text) for text in sweeps]
    unused = [key for key, _ in swept if not any(has_section(path, key) for path in paths)]
    mistakes = [f"--over {key}: no recipe has the section {key.rpartition('.')[0]!r}" for key in unused]
    found: list[Named] = []
    for path in paths:
        mine = [(key, values) for key, values in swept if has_section(path, key)]
        for chosen in product(*(values for _, values in mine)):
            settings = [f"{key}={value}" for (key, _), value in zip(mine, chosen, strict=True)]
            try:
                found.append(_named(path, overrides, settings, out))
            except RecipeError as error:
                mistakes.append(str(error))
    mistakes += _same("are called", (each.label for each in found))
    mistakes += _same("lie in", (str(each.recipe.output) for each in found))
    if mistakes:
        raise RecipeError(listed(mistakes))
    return found


def refuse_unlike(runs: Sequence[Named], budgets: Sequence[int]) -> None:
    """Refuse, before any work, runs that could not be compared after it.

    Args:
        runs: at least one, the reference first.
        budgets: numbers of candidates.

    Raises:
        RecipeError: other test requests or other report judges than the first run's, or no run has so many candidates; all such
            are listed.
        DataError: a corpus is wrong.
    """
    first, mistakes = runs[0], []
    most = max(run.recipe.generate.n_candidates for run in runs)
    if min(budgets) > most:
        mistakes.append(f"--budgets: no recipe asks for more than {most} candidates of a request")
    expected = _test_requests(first.recipe)
    for run in runs[1:]:
        other = expected ^ _test_requests(run.recipe)
        if other:
            mistakes.append(
                f"{run.label}: {len(other)} test requests are in this recipe or in {first.label!r} only, for example "
                f"{min(other)!r}; give both the same corpus"
            )
        if _report_judges(run.recipe) != _report_judges(first.recipe):
            mistakes.append(f"{run.label}: the report judges are others than in {first.label!r}; give both the same")
    if mistakes:
        raise RecipeError(listed(mistakes))


def _test_requests(recipe: Recipe) -> set[str]:
    return {request.id for request in phase_requests(open_phase(recipe, "evaluation/base"))}


def _report_judges(recipe: Recipe) -> dict[str, JudgeOptions]:
    return {name: recipe.judges[name] for name in recipe.evaluation.judges}


def _sweep(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    if not equals or not all(key.split(".")) or not all(values.split(",")):
        raise RecipeError(f"--over {text!r}: write KEY=VALUE,VALUE, for example generate.debate.agents=2,3,5")
    return key, values.split(",")


def _named(path: Path, overrides: Sequence[str], settings: Sequence[str], out: Path | None) -> Named:
    recipe = load_recipe(path, [*overrides, *settings])
    short = [setting.rpartition(".")[2].replace("=", " ") for setting in settings]
    # "debate agents 3": the key's last step is enough to tell runs of one recipe apart
    label = " ".join([path.stem, *short])
    folder = out / RUNS / label.replace(" ", "-") if out else None
    if folder is None and short:
        folder = recipe.output.with_name("-".join([recipe.output.name, *short]).replace(" ", "-"))
    return Named(label, recipe.model_copy(update={"output": folder}) if folder else recipe)


def _same(what: str, texts: Iterable[str]) -> list[str]:
    seen = list(texts)
    return [
        f"two runs {what} {text!r}; give each recipe a file name and an output of its own"
        for text in sorted({t for t in seen if seen.count(t) > 1})
    ]
