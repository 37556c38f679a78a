"""The run held to its recipe: every stage is finished, and it ran with what the recipe says now.

A report prints the recipe beside the numbers. When the recipe was changed after the run, or only for the report, the two
would not belong together, and nobody could see it.
"""

from collections.abc import Callable, Iterator

from ...config import Recipe
from ...errors import DataError
from ...phase_stages import phase_stages
from ...runfolder.phases import Phase, phases
from ...runfolder.stages import Stage, read_receipt
from ...storage import listed


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
    for name, make in _stages(phase).items():
        receipt = read_receipt(phase.folder / "receipts" / f"{name}.json")
        if receipt is None:
            yield f"{phase.name}: stage {name!r} has not finished"
            continue
        stage = make()
        if receipt.inputs != stage.key:
            yield f"{phase.name}: stage {name!r} ran with another recipe, another seed or other files"
        elif stage.receipt() is None:
            yield f"{phase.name}: files of stage {name!r} were changed or taken away since it finished"


def _stages(phase: Phase) -> dict[str, Callable[[], Stage]]:
    """The stages that the report's numbers or its account of the run rest on."""
    makers = phase_stages(phase)
    # a round on a pair file of its own needs no candidates
    own_pairs = phase.round is not None and phase.recipe.train.pairs is not None
    return {"train": makers["train"]} if own_pairs else makers
