"""What the stages after the summaries will need, asked for before a model spends minutes on them."""

from importlib.util import find_spec
from pathlib import Path

from ... import models
from ...config import BiasRecipe
from ...corpora.annotated import refuse_absent_pipeline
from ...extras import need


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
