"""That what is evaluated while a training runs is not trained on, which the pairs would show after they are made."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from ..config import Recipe
from ..config.section import Check
from ..errors import RecipeError
from ..records import SummaryRequest
from ..runfolder.phases import Phase
from ..text import some_of
from ..train.foreign import read_pairs
from ..train.stage import eval_file

KEY = "train.eval_pairs"


def eval_checks(phase: Phase, requests: Sequence[SummaryRequest]) -> Iterator[Check]:
    """That a file of evaluated pairs is of other document sets than a round, and that a share leaves some."""
    recipe = phase.recipe
    if phase.round is None or recipe.train.pairs is not None or recipe.train.eval_pairs is None:
        return
    sets = {request.document_set.id for request in requests}
    yield Check(KEY, partial(_refuse_trained, recipe, sets), is_here=True)
    if isinstance(recipe.train.eval_pairs, float) and len(sets) == 1:
        yield Check(KEY, _refuse_single)


def _refuse_single() -> None:
    raise RecipeError(
        "a share of one document set leaves none to train on; raise corpus.train.sample or the sets of the corpus, or name a "
        "file of other pairs"
    )


def _refuse_trained(recipe: Recipe, sets: Collection[str]) -> None:
    path = eval_file(recipe)
    if path is None:
        return
    # lines that are no pairs are told by the rehearsal of the training
    pairs, _ = read_pairs(path, recipe.train.form)
    trained = sorted({pair.set_id for _, pair in pairs} & set(sets))
    if trained:
        raise RecipeError(
            f"{path} has pairs of document sets that the round makes pairs of and trains on ({some_of(trained)}); take them out "
            "of the file, or write a share of the document sets (0.1)"
        )
