"""The judges a recipe can name: here the core's that ask a language model or count words, in `fairness` its others.

Sections of all other kinds come in by the door of judges, with their kinds.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, PlainValidator, SerializeAsAny, TypeAdapter

from ..doors import Door
from .fairness import EqualCoverageJudge, ValueSharesJudge
from .model import refuse_no_room
from .needs import PURPOSES, SPLITTER_LIBRARIES, AskingSection, JudgeSection, Purpose, SplitterName, TextJudgeSection
from .python_code import PythonJudge
from .section import refuse_without_effect

# mode of a rubric -> its lowest and highest grade
SCALES = {"standard": (1, 5), "simple": (1, 5), "binary": (0, 1), "ternary": (1, 3), "released_rubric": (1, 5)}


class RubricJudge(AskingSection):
    """An LLM that grades coverage or faithfulness."""

    kind: Literal["rubric"]
    meaning: ClassVar[str] = (
        "A language model grades the summary on a scale; it may favour its own style, and long summaries."
    )
    # what is graded: how much of the text is in the summary, or how much of the summary the text supports
    rubric: Literal["coverage", "faithfulness"]
    # "standard": 1 to 5 with steps; "simple": 1 to 5 without; "binary": 0 or 1; "ternary": 1 to 3; "released_rubric": 1 to 5 as
    # the paper's code graded faithfulness, lower for omissions too, for reproduction
    mode: Literal["standard", "simple", "binary", "ternary", "released_rubric"] = "standard"
    # "expected": mean grade under the model's distribution over the grades;
    # "greedy": one whole grade, read from the reply (as published);
    # "thought": the mean of the whole grades of several replies, each of which may think first
    scoring: Literal["expected", "greedy", "thought"] = "expected"
    # thought only, and needed there: most tokens of a thought; a reply that thinks longer is cut off and gives no grade
    thought_tokens: int | None = Field(default=None, ge=16)
    # thought only: replies to each prompt, drawn at temperature 0.6 with seeds of their own
    draws: int = Field(default=3, ge=1, le=64)
    # another template than the shipped one of rubric and mode; its grades are the mode's
    template: str | None = None
    # greedy only: attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # greedy only: what a candidate gets when no attempt could be read. "min": the lowest grade, as the paper's code gave it; the
    # judgement says so
    on_fail: Literal["unscored", "min"] = "unscored"
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"

    @property
    def says(self) -> Purpose:
        """Purpose of the rubric, which is what the judge grades."""
        return self.rubric

    @property
    def scale(self) -> tuple[float, float]:
        """The grades of its mode."""
        return SCALES[self.mode]

    @property
    def low_grade(self) -> int | None:
        """Highest of the low grades: the second of five, the first of three; None where there are two."""
        lowest, highest = self.scale
        return int(highest - lowest) // 2 if highest - lowest > 1 else None

    def refuse(self) -> None:
        """The mode must be one of the rubric's, attempts are greedy scoring's alone, and a thought has a budget."""
        super().refuse()
        if self.mode == "released_rubric" and self.rubric != "faithfulness":
            raise ValueError("mode released_rubric is one of rubric: faithfulness; write another mode")
        refuse_without_effect(self, ("max_attempts", "on_fail"), self.scoring == "greedy", "with scoring: greedy")
        thinks = self.scoring == "thought"
        refuse_without_effect(self, ("thought_tokens", "draws"), thinks, "with scoring: thought")
        if thinks and self.thought_tokens is None:
            raise ValueError(
                "scoring: thought needs thought_tokens, the most tokens that the model may think before it grades; write "
                "thought_tokens: 1024, say, or more for a model that thinks at length"
            )
        if self.thought_tokens is not None:
            refuse_no_room(self.thought_tokens, self.backend, "thought_tokens")


class AlignmentJudge(TextJudgeSection):
    """AlignScore-style: best-matching source chunk of each claim, mean over claims."""

    kind: Literal["alignment"]
    meaning: ClassVar[str] = (
        "How well the best matching part of the text supports each claim, their mean from 0 to 1; says nothing of "
        "what is left out."
    )
    # "encoder": cosine of sentence embeddings; "nli": any NLI classifier; "alignscore": an AlignScore checkpoint
    aligner: Literal["encoder", "nli", "alignscore"] = "encoder"
    # Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    model: str = "embedded:all-minilm-l6-v2"
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    # "precision": summary sentences supported by the source; "recall": source sentences taken up by the summary
    direction: Literal["precision", "recall"] = "precision"
    # source text per chunk: single sentences, or AlignScore's chunks of about 350 words. None: sentences for the encoder, which
    # reads about 200 words at a time, else 350-words. Recall always goes by single sentences
    chunks: Literal["sentence", "350-words"] | None = None
    # what the summary is taken apart into: its sentences, or what stands in them between commas and joining words (English),
    # since a sentence of several claims that is compared whole is near to whatever it mostly speaks of
    parts: Literal["sentence", "claim"] = "sentence"
    # AlignScore only: which head of the checkpoint is read (three-way, two-way, regression), and whether source and summary are
    # split (`_sp`) or compared whole
    mode: Literal["nli_sp", "bin_sp", "reg_sp", "nli", "bin", "reg"] = "nli_sp"
    # "nltk" for scores that are compared with published ones; needs the extra `fairness` and NLTK's data, which
    # `evenhand models fetch nltk` gets
    splitter: SplitterName = "sentencex"
    # texts or pairs run at a time
    batch_size: int = Field(default=32, ge=1)

    def refuse(self) -> None:
        """Options must be those of the aligner, the mode and the direction."""
        if self.mode != "nli_sp" and self.aligner != "alignscore":
            raise ValueError(f"mode {self.mode!r} is one of AlignScore's; write aligner: alignscore, or leave mode out")
        if not self.splits and (
            self.direction == "recall" or self.chunks or self.splitter != "sentencex" or self.parts != "sentence"
        ):
            raise ValueError(
                f"mode {self.mode!r} compares the whole summary with the whole source, so direction: recall, chunks, parts and "
                f"splitter have no effect; write mode: {self.mode}_sp, or leave them out"
            )
        if self.direction == "recall" and self.chunks == "350-words":
            raise ValueError("no effect of chunks: 350-words except with direction: precision; leave it out")
        # an AlignScore checkpoint is a local folder
        refuse_without_effect(self, ("revision",), self.aligner != "alignscore", "with aligner: encoder or nli")

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries of the aligner and of the splitter."""
        aligner = ("sentence_transformers",) if self.aligner == "encoder" else ("torch", "transformers")
        return aligner + SPLITTER_LIBRARIES[self.splitter]

    @property
    def models(self) -> dict[str, str]:
        """Model of the aligner."""
        return {"model": self.model}

    @property
    def says(self) -> Purpose:
        """Purpose of its direction."""
        return PURPOSES[self.direction]

    @property
    def means(self) -> str:
        """Meaning of the scores of its direction."""
        if self.direction == "precision":
            return self.meaning
        return (
            "How well the best matching sentence of the summary supports each sentence of the text, their mean from 0 to 1; "
            "says nothing of what is invented."
        )

    @property
    def plain(self) -> str:
        """Wording of its direction for a reader."""
        wordings = {"precision": "claims borne out by {whose}", "recall": "sentences of {whose} covered"}
        return wordings.get(self.direction, "")

    @property
    def scale(self) -> tuple[float, float] | None:
        """A regression may say anything."""
        return None if self.mode.startswith("reg") else (0.0, 1.0)

    @property
    def splits(self) -> bool:
        """Whether source and summary are split before they are compared."""
        return self.mode.endswith("_sp")

    @property
    def source_chunks(self) -> str:
        """The chunks that are used: what `chunks` says, or what suits the aligner."""
        return self.chunks or ("sentence" if self.aligner == "encoder" else "350-words")


class RougeJudge(TextJudgeSection):
    """ROUGE of the summary against the text."""

    kind: Literal["rouge"]
    meaning: ClassVar[str] = (
        "Share of words or word pairs in common with the text, from 0 to 1; blind to paraphrase, negation and untruth."
    )
    # "average": the mean over the three types
    type: Literal["rouge1", "rouge2", "rougeL", "average"] = "rouge1"
    # "mean": the mean of precision and recall; with type: average it is the paper's ROUGE proxy
    measure: Literal["recall", "precision", "fmeasure", "mean"] = "recall"

    @property
    def says(self) -> Purpose | None:
        """Purpose of its measure; None for a mean of both."""
        return PURPOSES.get(self.measure)

    @property
    def means(self) -> str:
        """Meaning of the scores of its measure."""
        meanings = {
            "recall": "Share of the text's words or word pairs that the summary has, from 0 to 1; says nothing of what is "
            "invented; blind to paraphrase and negation.",
            "precision": "Share of the summary's words or word pairs that the text has, from 0 to 1; says nothing of what is "
            "left out; blind to paraphrase and negation.",
        }
        return meanings.get(self.measure, self.meaning)

    @property
    def plain(self) -> str:
        """Wording of its measure for a reader, in the units that its type counts."""
        wordings = {"precision": "{units} taken from {whose}", "recall": "{units} of {whose} kept"}
        units = {"rouge2": "word pairs", "rougeL": "word sequences"}.get(self.type, "words")
        return wordings.get(self.measure, "{units} shared with {whose}").replace("{units}", units)

    @property
    def libraries(self) -> tuple[str, ...]:
        """ROUGE's own."""
        return ("rouge_score",)

    @property
    def bases(self) -> list[str]:
        """No model."""
        return ["word overlap (ROUGE)"]


class RuleJudge(TextJudgeSection):
    """A count that needs no model: words of the summary, or 1 when it keeps the output contract."""

    kind: Literal["length", "contract"]
    reads_text: ClassVar[bool] = False

    @property
    def means(self) -> str:
        """Meaning of the scores of its kind."""
        if self.kind == "length":
            return "Words of the summary."
        return "1 when the summary keeps the form that was asked for, else 0; blind to contents."

    @property
    def plain(self) -> str:
        """Wording of its kind for a reader."""
        return "words of the summary" if self.kind == "length" else "the asked form kept"

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """A kept contract; of lengths neither."""
        return "higher" if self.kind == "contract" else None

    @property
    def scale(self) -> tuple[float, float] | None:
        """A summary may be as long as it will."""
        return (0.0, 1.0) if self.kind == "contract" else None

    @property
    def is_rate(self) -> bool:
        """A contract is kept or not."""
        return self.kind == "contract"

    def refuse(self) -> None:
        """No text is read beside the summary."""
        refuse_without_effect(self, ("against",), False, "with a judge that reads the text")


class ConsensusJudge(JudgeSection):
    """Minimum Bayes risk: how near the summary is to the other candidates of its request."""

    kind: Literal["consensus"]
    meaning: ClassVar[str] = (
        "How near the summary is to the other candidates of its request, from 0 to 1; blind to the documents."
    )
    # whose F1 says how near two candidates are
    type: Literal["rouge1", "rouge2", "rougeL"] = "rouge1"
    # the other candidates; nothing else can be written here
    against: Literal["candidates"] = "candidates"
    reads_text: ClassVar[bool] = False

    @property
    def libraries(self) -> tuple[str, ...]:
        """ROUGE's own."""
        return ("rouge_score",)

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Neither: nearness to candidates of one's own chooses among them and compares no systems."""
        return None


_Core = (
    RubricJudge
    | AlignmentJudge
    | RougeJudge
    | RuleJudge
    | ConsensusJudge
    | ValueSharesJudge
    | EqualCoverageJudge
    | PythonJudge
)
# kind of a judge -> its section
JUDGE_SECTIONS: Door[type[JudgeSection] | type[PythonJudge]] = Door(
    "judges",
    "judge",
    lambda thing: is_judge_section(getattr(thing, "section", None)),
    {kind: section for section in get_args(_Core) for kind in get_args(section.model_fields["kind"].annotation)},
    lambda thing: thing.section,
)


def is_judge_section(section: object) -> bool:
    """Whether this is a section of judges, with the keys that all have."""
    if not (isinstance(section, type) and issubclass(section, JudgeSection | PythonJudge)):
        return False
    return {"kind", "against"} <= section.model_fields.keys()


@cache
def _adapter(kind: str) -> TypeAdapter[JudgeSection | PythonJudge]:
    """What reads sections of the core's kinds and of this one."""
    sections: Any = _Core | JUDGE_SECTIONS[kind] if kind else _Core
    return TypeAdapter(Annotated[sections, Field(discriminator="kind")])


def read_judge(written: Any) -> JudgeSection | PythonJudge:
    """The section of a judge, of whatever kind there is.

    Raises:
        ValidationError: it is wrong, or of no kind.
        PluginError: its kind cannot be imported.
    """
    if isinstance(written, JudgeSection | PythonJudge):
        return written
    kind = written.get("kind") if isinstance(written, dict) else None
    return _adapter(kind if isinstance(kind, str) and kind in JUDGE_SECTIONS else "").validate_python(written)


JudgeOptions = Annotated[JudgeSection | PythonJudge, SerializeAsAny(), PlainValidator(read_judge)]
