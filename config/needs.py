"""The bases of the sections that describe judges: each section says what must be there, and what its scores rest on."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .model import (
    BackendSection,
    LanguageModel,
    ModelSection,
    ReplicatedSection,
    refuse_for_training,
    without_speed,
)
from .section import Section
from .trained_encoder import read_trained

# what splits texts into sentences: our own rules, or NLTK's Punkt, which the metrics' authors used, for published numbers
SplitterName = Literal["sentencex", "nltk"]
# the text that a summary is compared with; "documents" are those of all sides, each with its attribute value, "sources" those
# that the summary is to represent, one by one; "candidates" are all summaries of the same request, "source_and_candidates" these
# with the source, in JSON; "request" is all of it in JSON
Against = Literal[
    "source", "opposing", "key_points", "documents", "sources", "candidates", "source_and_candidates", "request"
]
# what the scores of a judge are to say of a summary
Purpose = Literal["coverage", "faithfulness"]
# of judges that compare in a direction: how much of the text is in the summary, how much of the summary is in the text
PURPOSES: dict[str, Purpose] = {"recall": "coverage", "precision": "faithfulness"}
# import names of the optional libraries that each needs
SPLITTER_LIBRARIES: dict[str, tuple[str, ...]] = {"sentencex": (), "nltk": ("nltk",)}


class NeedySection(Section):
    """Base of the sections of judges and of their parts; a section needs what its parts need."""

    @property
    def sections(self) -> "Mapping[str, NeedySection]":
        """Key below the section -> a part of it."""
        return {key: value for key, value in self if isinstance(value, NeedySection)}

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries that it needs besides those of its language models."""
        return tuple(dict.fromkeys(library for section in self.sections.values() for library in section.libraries))

    @property
    def models(self) -> dict[str, str]:
        """Key below the section -> model that it loads, other than language models."""
        return {
            _key(part, key): name for part, section in self.sections.items() for key, name in section.models.items()
        }

    @property
    def language_models(self) -> dict[str, LanguageModel]:
        """Key below the section, "" for the section itself -> language model that it asks."""
        return {
            _key(part, key): language_model
            for part, section in self.sections.items()
            for key, language_model in section.language_models.items()
        }

    @property
    def bases(self) -> list[str]:
        """What its scores rest on, in words: two judges with a basis in common share its blind spots."""
        if parts := self.sections.values():
            return list(dict.fromkeys(basis for section in parts for basis in section.bases))
        model_names = [language_model.model.name for language_model in self.language_models.values()]
        return [f"the model {name}" for name in (*self.models.values(), *model_names)]

    def scoring_options(self) -> dict[str, Any]:
        """The options that scores depend on, as JSON: those that change speed and memory alone are left out."""
        values = self.model_dump(mode="json", exclude={"batch_size"})
        for key, value in self:
            if isinstance(value, NeedySection):
                values[key] = value.scoring_options()
            elif isinstance(value, BackendSection):
                values[key] = without_speed(values[key])
        return values


def _key(*parts: str) -> str:
    return ".".join(filter(None, parts))


class AnyJudgeSection(NeedySection):
    """What the sections of all judges have, those included in which the user says which scores are better and what they mean."""

    if TYPE_CHECKING:
        # each kind's own literals: what it is called, and the text that it reads beside the summary
        kind: str
        against: Against
    # requests that it can score: those of any scope, of one side alone, or of all sides
    scope: ClassVar[Literal["any", "side", "all"]] = "any"
    # whether it compares the summary with a text
    reads_text: ClassVar[bool] = True
    # attribute values that documents of a set need to have, of a judge against "documents"
    least_values: ClassVar[int] = 2

    @property
    def is_rate(self) -> bool:
        """Whether a score can only be 0 or 1, so that means of scores are rates."""
        return False

    @property
    def scale(self) -> tuple[float, float] | None:
        """Lowest and highest score that there can be; None where scores may be anything."""
        return 0.0, 1.0

    @property
    def low_grade(self) -> int | None:
        """The highest grade that is a bad one; None of what gives no grades, or two of them alone."""
        return None

    @property
    def plain(self) -> str:
        """What it measures, in a reader's words, with {whose} for the text; "" where its name has to do."""
        wordings: dict[Purpose, str] = {"coverage": "coverage of {whose}", "faithfulness": "faithfulness to {whose}"}
        return wordings[self.purpose] if self.purpose else ""

    @property
    def purpose(self) -> Purpose | None:
        """What its scores are to say of a summary and its own text; None where that is neither, or both."""
        return None

    @property
    def seen(self) -> frozenset[str]:
        """Marks of the articles that it was trained on, as controlled sets have them (`ControlledSet.marks`).

        Those of its models that `evenhand judges train-encoder` wrote.
        """
        return frozenset(
            mark for model in self.models.values() if (trained := read_trained(model)) for mark in trained.seen
        )

    def unknown_values(self, values: Collection[str]) -> list[str]:
        """Attribute values of a set that the section would have to name and does not; the set is then unscored."""
        return []


class JudgeSection(AnyJudgeSection):
    """Base of the sections of judges that know themselves which scores are better, and what they mean."""

    # what scores of this kind mean, and what they do not see, as readers of a report are told; each kind says it
    meaning: ClassVar[str] = ""

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Which scores are better; None for a count that says nothing of quality."""
        return "higher"

    @property
    def means(self) -> str:
        """What its scores mean: the meaning of its kind, unless keys of the section make it another."""
        return self.meaning


class TextJudgeSection(JudgeSection):
    """A judge that compares the summary with one text."""

    # text the summary is compared with: the side's documents, the other sides' documents, or the side's listed key points
    against: Literal["source", "opposing", "key_points"] = "source"

    @property
    def says(self) -> Purpose | None:
        """What its scores say of a summary and the text that it is compared with."""
        return None

    @property
    def purpose(self) -> Purpose | None:
        """Purpose of its scores; None where the text is that of the other sides."""
        return None if self.against == "opposing" else self.says

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Lower where the text is that of the other sides."""
        return "lower" if self.against == "opposing" else "higher"


class ModelJudgeSection(JudgeSection):
    """A judge that asks a language model, whatever it compares the summary with."""

    model: ModelSection
    backend: ReplicatedSection = ReplicatedSection()

    @property
    def language_models(self) -> dict[str, LanguageModel]:
        """The one that it asks."""
        return {"": LanguageModel(self.model, self.backend)}

    def refuse(self) -> None:
        """The model must be one that is only asked, and a source can be cut to fit only where its length is known."""
        refuse_for_training(self.model)
        if getattr(self, "overflow", None) == "truncate" and not self.backend.reads_model and self.backend.server:
            raise ValueError(
                "overflow: truncate cuts a source to fit, and how long a chat is the server alone knows; write overflow: "
                "skip, or server.prompts: tokens"
            )


class AskingSection(TextJudgeSection, ModelJudgeSection):
    """A judge that asks a language model, and compares the summary with one text."""
