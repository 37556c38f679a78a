"""The judges a recipe can name: here those that ask a language model or count words, in `metrics` and `fairness` the others."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter

from ..errors import DataError
from ..storage import explained
from .combined import Combination, read_combination
from .fairness import FairnessJudge
from .metrics import Metric
from .model import refuse_no_room
from .needs import PURPOSES, SPLITTER_LIBRARIES, AskingSection, JudgeSection, Purpose, SplitterName, TextJudgeSection
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
    # "greedy": one whole grade, read from the reply (as published)
    scoring: Literal["expected", "greedy"] = "expected"
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
        """What is graded."""
        return self.rubric

    @property
    def scale(self) -> tuple[float, float]:
        """The grades of its mode."""
        return SCALES[self.mode]

    @property
    def low_grade(self) -> int | None:
        """Of five grades the lower two, of three the lowest."""
        lowest, highest = self.scale
        return int(highest - lowest) // 2 if highest - lowest > 1 else None

    def refuse(self) -> None:
        """The mode must be one of the rubric's, and attempts are greedy scoring's alone."""
        super().refuse()
        if self.mode == "released_rubric" and self.rubric != "faithfulness":
            raise ValueError("mode released_rubric is one of rubric: faithfulness; write another mode")
        refuse_without_effect(self, ("max_attempts", "on_fail"), self.scoring == "greedy", "with scoring: greedy")


class FineSurEJudge(AskingSection):
    """FineSurE: an LLM that checks each sentence of the summary for errors, or each key fact for its place in the summary."""

    kind: Literal["finesure"]
    meaning: ClassVar[str] = (
        "A language model checks sentences for errors, or key facts for their place in the summary: a share from 0 to 1."
    )
    # "faithfulness": share of the summary's sentences without error; "completeness": share of the key facts found in the summary;
    # "conciseness": share of the summary's sentences that hold a key fact. The last two need against: key_points
    measure: Literal["faithfulness", "completeness", "conciseness"] = "faithfulness"
    # longest reply in tokens; a reply that is cut off cannot be read
    most_reply_tokens: int = Field(default=512, ge=16)
    # attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"

    @property
    def says(self) -> Purpose | None:
        """That of its measure; how concise a summary is says neither."""
        found: dict[str, Purpose] = {"faithfulness": "faithfulness", "completeness": "coverage"}
        return found.get(self.measure)

    def refuse(self) -> None:
        """A measure must have its text, and a prompt its room."""
        super().refuse()
        if self.measure != "faithfulness" and self.against != "key_points":
            raise ValueError(f"measure {self.measure} counts key facts; write against: key_points")
        if self.measure != "faithfulness" and self.overflow == "truncate":
            raise ValueError(
                f"measure {self.measure} must not lose a key fact; write overflow: skip or overflow: error"
            )
        refuse_no_room(self.most_reply_tokens, self.backend)


class ExtractJudge(AskingSection):
    """Extract-then-evaluate: an LLM grades the summary against the sentences of a long text that matter for it."""

    kind: Literal["extract"]
    meaning: ClassVar[str] = (
        "A language model grades the summary against those sentences of a long text that matter for it."
    )
    # what chooses sentences: by position, by embeddings, by entailment, by common words
    extractors: tuple[Literal["lead", "similarity", "entailment", "rouge"], ...] = Field(
        default=("lead", "similarity", "entailment", "rouge"), min_length=1
    )
    # model of "similarity": a sentence encoder; Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    encoder: str = "embedded:all-minilm-l6-v2"
    # branch, tag or commit of a Hugging Face id
    encoder_revision: str | None = None
    # model of "entailment": an NLI classifier
    nli: str = "cross-encoder/nli-deberta-v3-base"
    # branch, tag or commit of a Hugging Face id
    nli_revision: str | None = None
    # words of the extract between white space; a text of no more words is judged whole
    most_words: int = Field(default=2000, ge=1)
    # "expected": mean grade under the model's distribution over the grades; "greedy": one whole grade, read from the reply
    scoring: Literal["expected", "greedy"] = "expected"
    # greedy only: attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"
    # texts or pairs that an extractor runs at a time
    batch_size: int = Field(default=32, ge=1)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Those of its extractors."""
        needed = {
            "lead": (),
            "similarity": ("sentence_transformers",),
            "entailment": ("torch", "transformers"),
            "rouge": ("rouge_score",),
        }
        return tuple(dict.fromkeys(library for extractor in self.extractors for library in needed[extractor]))

    @property
    def models(self) -> dict[str, str]:
        """Those of its extractors."""
        found = {"encoder": self.encoder} if "similarity" in self.extractors else {}
        return found | ({"nli": self.nli} if "entailment" in self.extractors else {})

    @property
    def says(self) -> Purpose:
        """Two of its three grades are of consistency and faithfulness."""
        return "faithfulness"

    @property
    def bases(self) -> list[str]:
        """The language model that grades; extractors only choose what it is shown."""
        return [f"the model {self.model.name}"]

    def refuse(self) -> None:
        """Extractors must be named once, and options be those of the named ones."""
        super().refuse()
        if len(set(self.extractors)) < len(self.extractors):
            raise ValueError(f"extractors {list(self.extractors)} name one twice; write each once")
        for keys, extractor in (
            (("encoder", "encoder_revision"), "similarity"),
            (("nli", "nli_revision"), "entailment"),
        ):
            refuse_without_effect(self, keys, extractor in self.extractors, f"with extractor {extractor}")
        refuse_without_effect(self, ("max_attempts",), self.scoring == "greedy", "with scoring: greedy")


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
        """Those of the aligner and of the splitter."""
        aligner = ("sentence_transformers",) if self.aligner == "encoder" else ("torch", "transformers")
        return aligner + SPLITTER_LIBRARIES[self.splitter]

    @property
    def models(self) -> dict[str, str]:
        """The aligner's."""
        return {"model": self.model}

    @property
    def says(self) -> Purpose:
        """That of its direction."""
        return PURPOSES[self.direction]

    @property
    def means(self) -> str:
        """By its direction."""
        if self.direction == "precision":
            return self.meaning
        return (
            "How well the best matching sentence of the summary supports each sentence of the text, their mean from 0 to 1; "
            "says nothing of what is invented."
        )

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
        """That of its measure; a mean of both says neither."""
        return PURPOSES.get(self.measure)

    @property
    def means(self) -> str:
        """By its measure."""
        found = {
            "recall": "Share of the text's words or word pairs that the summary has, from 0 to 1; says nothing of what is "
            "invented; blind to paraphrase and negation.",
            "precision": "Share of the summary's words or word pairs that the text has, from 0 to 1; says nothing of what is "
            "left out; blind to paraphrase and negation.",
        }
        return found.get(self.measure, self.meaning)

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
        """By its kind."""
        if self.kind == "length":
            return "Words of the summary."
        return "1 when the summary keeps the form that was asked for, else 0; blind to contents."

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


# judges that compare the summary with one text alone, so that what they say of it can be combined
MemberJudge = RubricJudge | FineSurEJudge | ExtractJudge | AlignmentJudge | Metric | RougeJudge | RuleJudge
MemberOptions = Annotated[MemberJudge, Field(discriminator="kind")]
_MEMBER: TypeAdapter[MemberOptions] = TypeAdapter(MemberOptions)


class CombinedJudge(JudgeSection):
    """A line through the scores of other judges, fitted to summaries whose coverage or faithfulness is known."""

    kind: Literal["combined"]
    meaning: ClassVar[str] = (
        "What other judges say, weighted as fits known coverage or faithfulness best, from 0 to 1; blind to what all of "
        "them are blind to."
    )
    # judge.json, which `evenhand train-judge` wrote
    file: Path
    # the text that all judges in it read; nothing else can be written here
    against: Literal["source"] = "source"

    def read(self) -> "tuple[Combination, dict[str, MemberOptions]]":
        """The file, and the sections of the judges in it by name.

        Raises:
            DataError: it cannot be read, or a section in it is wrong.
        """
        saved = read_combination(self.file)
        return saved, {each.name: _member(self.file, each.name, each.options) for each in saved.members}

    @property
    def _found(self) -> "tuple[Combination | None, dict[str, MemberOptions]]":
        """The same; nothing where it cannot be read, which the check of `file` says."""
        try:
            return self.read()
        except DataError:
            return None, {}

    @property
    def members(self) -> "dict[str, MemberOptions]":
        """The sections of the judges in the file; none where it cannot be read."""
        return self._found[1]

    @property
    def sections(self) -> "dict[str, MemberOptions]":
        """The same, by key below this section."""
        return {inside(name): each for name, each in self.members.items()}

    @property
    def purpose(self) -> Purpose | None:
        """What it was trained to measure; None where the file cannot be read."""
        saved, _ = self._found
        return saved.purpose if saved else None

    @property
    def seen(self) -> frozenset[str]:
        """Those of the file; none where it cannot be read."""
        saved, _ = self._found
        return frozenset(saved.trained_on.seen) if saved else frozenset()


def inside(name: str) -> str:
    """What stands for a judge in the file, below the section that names the file."""
    return f"file.{name}"


def _member(file: Path, name: str, options: dict[str, Any]) -> MemberOptions:
    with explained(f"{file}: its judge {name!r} is wrong"):
        return _MEMBER.validate_python(options)


JudgeOptions = Annotated[
    MemberJudge | ConsensusJudge | CombinedJudge | FairnessJudge,
    Field(discriminator="kind"),
]
