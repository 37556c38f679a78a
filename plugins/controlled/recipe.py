"""How a controlled test set is built."""

from collections.abc import Sequence
from pathlib import Path

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
from ...records import Sampling, is_none


class ControlledRecipe(Section):
    """A controlled test set; see recipes/controlled/ for a runnable one."""

    # name of the set; part of every seed
    name: str
    # every draw follows from it
    seed: int = 42
    # folder of the set
    output: Path
    # annotated articles: JSON lines, the evidence file that PoliSum's authors released, or "sample" for the bundled ones
    input: str = "sample"
    # what writes key points, adversarial points and summaries
    model: ModelSection
    # requests_per_batch counts texts
    backend: BackendSection = BackendSection()
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=128)
    # times that a text is asked for until it keeps its form, each with a new seed
    attempts: int = Field(default=4, ge=1)
    # share of the articles, and of the planned summaries, that may be left out before the command ends with exit code 3
    most_left_out: float = Field(default=0.1, ge=0, le=1)
    # what the server may be paid in all, in the currency of its price: the command stops before the request that might pass it
    most_cost: float | None = Field(default=None, gt=0, exclude_if=is_none)

    def refuse(self) -> None:
        """The model must be one that is only asked, and its attempts must be able to differ."""
        refuse_for_training(self.model)
        if self.backend.server is not None:
            refuse_lost_settings(LanguageModel(self.model, self.backend))
            refuse_unpriced("most_cost", self.most_cost, {"backend": self.backend.server})
            self.backend.server.refuse_drawing(self.sampling)
        if self.attempts > 1 and self.sampling.temperature == 0:
            raise ValueError(
                f"sampling.temperature 0 is greedy, so all of {self.attempts} attempts would fail alike; "
                "write a temperature above 0, or attempts: 1"
            )


def load_controlled(path: Path, overrides: Sequence[str] = ()) -> ControlledRecipe:
    """The checked recipe of a controlled test set; arguments and errors as of `load_recipe`."""
    return load_as(ControlledRecipe, path, overrides)
