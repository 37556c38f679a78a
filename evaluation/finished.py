"""The run held to its recipe: every stage is finished, and it ran with what the recipe says now.

A report prints the recipe beside the numbers. When the recipe was changed after the run, or only for the report, the two
would not belong together, and nobody could see it.
"""

from collections.abc import Callable, Iterator
from functools import partial

from ..config import Recipe
from ..errors import DataError
from ..generate.stage import generate_stage, phase_requests
from ..judges import open_judges
from ..judges.stage import judge_stage
from ..rerank.stage import rerank_stage
from ..run import Phase, phases
from ..stages import Stage, read_receipt
from ..storage import listed
from ..train.launch import accelerate_config, n_processes
from ..train.stage import training_stage


def check_finished(recipe: Recipe) -> None:
    """Refuse to report on anything but a finished run of this very recipe.

    Raises:
        DataError: a stage has not finished, ran with another recipe or seed, or its files were changed since. The first such
            stage of every phase is named.
    """
    found = (next(_mistakes(phase), None) for phase in phases(recipe))
    mistakes = [mistake for mistake in found if mistake]
    if mistakes:
        raise DataError(
            f"{recipe.output}: the report would state a recipe that did not make its numbers\n{listed(mistakes)}\n"
            "run: evenhand loop RECIPE, with the same --set; or report on the recipe and the --set that the run was made with"
        )


def _mistakes(phase: Phase) -> Iterator[str]:
    """What is wrong with the stages of a phase, in their order; later ones are looked at only when asked for."""
    for name, make in _stages(phase):
        receipt = read_receipt(phase.folder / "receipts" / f"{name}.json")
        if receipt is None:
            yield f"{phase.name}: stage {name!r} has not finished"
            continue
        stage = make()
        if receipt.inputs != stage.key:
            yield f"{phase.name}: stage {name!r} ran with another recipe, another seed or other files"
        elif stage.receipt() is None:
            yield f"{phase.name}: files of stage {name!r} were changed or taken away since it finished"


def _stages(phase: Phase) -> Iterator[tuple[str, Callable[[], Stage]]]:
    """The stages that the report's numbers or its account of the run rest on."""
    recipe = phase.recipe
    # a round on a pair file of its own needs no candidates
    if phase.round is None or recipe.train.pairs is None:
        yield "generate", lambda: generate_stage(phase, phase_requests(phase))
        yield "judge", lambda: judge_stage(phase, open_judges({name: recipe.judges[name] for name in phase.judges}))
        yield "rerank", partial(rerank_stage, phase)
    if phase.round is not None:
        yield "train", partial(_training_stage, phase)


def _training_stage(phase: Phase) -> Stage:
    section = phase.recipe.train
    return training_stage(phase, n_processes(section, accelerate_config(section.accelerate_config)))
