"""What summarises in a study: a model, another system, or a simulated summarizer, a rule whose bias is known beforehand.

Source of the rules: Steen and Markert 2024, section 4; docs/papers.md#steen-simulated. "one-sided" is ours: what the sexist
summarizer does with sport, done with every document, so that its bias does not cancel out between topics.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .... import models
from ....errors import RecipeError
from ....extras import need
from ....generate import refusals, reply_text
from ....generate.backends import backend_signature
from ....records import LeftOut
from ....runfolder.stages import Counts, read_receipt
from ....storage import as_given, file_digest
from ....text import sentences
from ....text.digests import digest
from ..annotated import refuse_absent_pipeline
from ..demographic.topics import (
    FAVOURED,
    TOPIC_LENGTHS,
    lead_selection,
    random_selection,
    sexist_selection,
    topic_label,
)
from ..recipe import BiasRecipe, Simulated
from .replies import KINDS, SEPARATORS, WAYS

WORDS: dict[Simulated, str] = {
    "lead": "takes the first three sentences",
    "random": "takes three sentences at random",
    "topic": "takes one sentence of a family text, three of an unknown one, six of a sport text, at random",
    "sexist": "takes the three sentences with most male words of a sport text, with most female words of a family text, "
    "else three at random",
    "one-sided": "takes the three sentences with most male words",
}


def simulate(rule: Simulated, text: str, seed: int) -> str:
    """The sentences of the text that the rule takes, in their order."""
    text_sentences, generator, topic = sentences(text), np.random.default_rng(seed), topic_label(text)
    if rule == "lead":
        chosen = lead_selection(len(text_sentences))
    elif rule == "one-sided":
        chosen = sexist_selection(text_sentences, "sport")
    elif rule == "sexist" and topic in FAVOURED:
        chosen = sexist_selection(text_sentences, topic)
    elif rule == "topic":
        chosen = random_selection(len(text_sentences), generator, TOPIC_LENGTHS[topic])
    else:
        chosen = random_selection(len(text_sentences), generator)
    return " ".join(text_sentences[position] for position in chosen)


STAGE = "summaries"


def summarizer_signature(recipe: BiasRecipe) -> str:
    """Text that names what summarised, and all that its summaries depend on besides the inputs.

    Raises:
        DataError: the file of summaries cannot be read.
    """
    if recipe.summaries is not None:
        with as_given("key 'summaries': "):
            columns = recipe.summary_columns.model_dump(exclude_none=True) if recipe.summary_columns else {}
            suffix = "".join(f"|{key}:{column}" for key, column in columns.items())
            return f"{summarizer_name(recipe)}#{file_digest(recipe.summaries)[:8]}{suffix}|replies:{reply_text.VERSION}"
    if recipe.model is None:
        return summarizer_name(recipe)
    prompts = digest([WAYS, KINDS, SEPARATORS, recipe.instruction], 6)
    backend = backend_signature(recipe.backend, recipe.model, recipe.model.adapter)
    return f"{backend}|prompts:{prompts}|refusals:{refusals.VERSION}|replies:{reply_text.VERSION}"


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
    receipt = read_receipt(recipe.output / "receipts" / f"{STAGE}.json")
    earlier, current = receipt.counted(SummaryCounts).summarizer if receipt else None, summarizer_name(recipe)
    if earlier is not None and earlier != current:
        raise RecipeError(
            f"key 'output': {recipe.output} holds the study of {earlier!r}, and this one is of {current!r}; give each a folder "
            "of its own, for example --set output=FOLDER"
        )


def describe_summarizer(recipe: BiasRecipe) -> str:
    """What summarised, in words."""
    if recipe.simulated is not None:
        return f"the simulated summarizer {recipe.simulated}, which {WORDS[recipe.simulated]}"
    if recipe.summaries is not None:
        return f"another system, whose summaries are in {recipe.summaries.name}"
    assert recipe.model is not None
    return recipe.model.name


def preflight(recipe: BiasRecipe) -> None:
    """Refuse a study whose recogniser or encoder is not there; no model is loaded.

    Raises:
        MissingExtra: spaCy or sentence-transformers is not installed.
        ModelError: the pipeline or the encoder is not there.
    """
    measures = recipe.measures
    if measures.persons == "spacy":
        refuse_absent_pipeline(measures.pipeline, "evenhand bias-study with measures.persons: spacy")
    if measures.encoder is not None:
        models.check(measures.encoder)
        if find_spec("sentence_transformers") is None:
            need("sentence_transformers", f"evenhand bias-study with measures.encoder: {Path(measures.encoder).name}")
