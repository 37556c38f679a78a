"""What summarises in a study: its name, its words, and all that its summaries depend on."""

from ...config import BiasRecipe
from ...errors import RecipeError
from ...generate.backends import backend_signature
from ...generate.refusals import VERSION
from ...records import LeftOut
from ...runfolder.stages import Counts, read_receipt
from ...storage import as_given, digest, file_digest
from .prompting import KINDS, SEPARATORS, WAYS
from .simulated import WORDS

STAGE = "summaries"


def summarizer_signature(recipe: BiasRecipe) -> str:
    """Text that names what summarised, and all that its summaries depend on besides the inputs.

    Raises:
        DataError: the file of summaries cannot be read.
    """
    if recipe.summaries is not None:
        with as_given("key 'summaries': "):
            return f"{summarizer_name(recipe)}#{file_digest(recipe.summaries)[:8]}"
    if recipe.model is None:
        return summarizer_name(recipe)
    prompts = digest([WAYS, KINDS, SEPARATORS, recipe.instruction], 6)
    backend = backend_signature(recipe.backend, recipe.model, recipe.model.adapter)
    return f"{backend}|prompts:{prompts}|refusals:{VERSION}"


def summarizer_name(recipe: BiasRecipe) -> str:
    """What summarised, without what may be mended in it between two runs of a study."""
    if recipe.simulated is not None:
        return f"simulated:{recipe.simulated}"
    if recipe.summaries is not None:
        return f"file:{recipe.summaries.name}"
    assert recipe.model is not None
    return f"model:{recipe.model.name}" + (f"+{recipe.model.adapter}" if recipe.model.adapter else "")


class SummaryCounts(Counts):
    """What was summarised, and by whom."""

    summarizer: str
    summaries: int
    prompt_tokens: int
    left_out: tuple[LeftOut, ...]


def refuse_taken(recipe: BiasRecipe) -> None:
    """Refuse a folder that holds the summaries of another summarizer, which would be put aside.

    Raises:
        RecipeError: it does.
    """
    found = read_receipt(recipe.output / "receipts" / f"{STAGE}.json")
    other, this = found.counted(SummaryCounts).summarizer if found else None, summarizer_name(recipe)
    if other is not None and other != this:
        raise RecipeError(
            f"key 'output': {recipe.output} holds the study of {other!r}, and this one is of {this!r}; give each a folder of its "
            "own, for example --set output=FOLDER"
        )


def describe_summarizer(recipe: BiasRecipe) -> str:
    """What summarised, in words."""
    if recipe.simulated is not None:
        return f"the simulated summarizer {recipe.simulated}, which {WORDS[recipe.simulated]}"
    if recipe.summaries is not None:
        return f"another system, whose summaries are in {recipe.summaries.name}"
    assert recipe.model is not None
    return recipe.model.name
