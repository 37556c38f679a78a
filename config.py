"""What a recipe may say: its sections as frozen, checked types.

Nothing here imports a model library, so a typing mistake costs half a second and not a minute. Keys that belong to a
library (`trainer:` to trl.DPOConfig, `engine:` to vllm.LLM) are passed on as they stand.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from .metric_sections import BertScoreJudge, BleurtJudge, MiniCheckJudge, SummacJudge, UniEvalJudge
from .records import Sampling
from .section import JudgeSection, Section
from .text import did_you_mean


def _json_can_hold(values: dict[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{key} is {value!r}, which JSON cannot hold; write a plain number, text or list"
            ) from error
    return values


# options of a library that are passed on as they stand
Keywords = Annotated[dict[str, Any], AfterValidator(_json_can_hold)]


class ModelSection(Section):
    """A language model and how it is loaded."""

    # Hugging Face id, local folder, GGUF file, or "embedded:smollm2-135m-instruct"
    name: str
    # branch, tag or commit of a Hugging Face id
    revision: str | None = None
    dtype: Literal["float32", "bfloat16", "float16"] = "bfloat16"
    # load the frozen weights in 4 bits (NF4, bitsandbytes) for training
    quantise: Literal["nf4"] | None = None
    # attention implementation of transformers
    attn_implementation: str = "sdpa"
    # adapter folder that the first round starts from
    adapter: Path | None = None


class SplitSection(Section):
    """Which document sets of the corpus, and how many of them."""

    # the sets whose own `split` has this name; None takes what the seeded split by topic gives
    split: str | None = None
    # first so many sets in corpus order; None takes all
    limit: int | None = Field(default=None, ge=1)
    # so many requests, drawn with the recipe's seed (for training: anew in each round); None takes all
    sample: int | None = Field(default=None, ge=1)


class CorpusSection(Section):
    """The documents, and which sides there are."""

    # "sample" for the bundled corpus, or a JSON-lines file of document sets
    path: str = "sample"
    # social attribute by which documents are grouped
    attribute: str = "stance"
    # the attribute values that summaries are asked for; None takes every value of a set
    sides: tuple[str, ...] | None = None
    train: SplitSection = SplitSection(split="train")
    test: SplitSection = SplitSection(split="test")
    # share of the topics that a seeded split holds back for the test, when the corpus names no split
    test_share: float = Field(default=0.25, gt=0, lt=1)

    @model_validator(mode="after")
    def _sides_differ(self) -> "CorpusSection":
        twice = sorted({side for side in self.sides or () if (self.sides or ()).count(side) > 1})
        if twice:
            raise ValueError(f"sides names {', '.join(twice)} more than once; name each side once")
        return self


class TaskSection(Section):
    """What is asked of the model."""

    # a shipped template or a file with the fields {documents} {side} {topic} {length} {opening} {begin}
    template: str = "perspective"
    # words a summary opens with; {side} is the capitalised side; None asks for none
    opening: str | None = "The {side}"
    # number of sentences asked for; None asks for none
    sentences: int | None = Field(default=1, ge=1)


class Plan(Sampling):
    """A named way of drawing candidates, and how many of them."""

    candidates: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _repeats_must_differ(self) -> "Plan":
        if self.temperature == 0 and self.candidates > 1:
            raise ValueError(
                f"temperature 0 is greedy and gives {self.candidates} equal candidates; "
                "write candidates: 1 or a temperature above 0"
            )
        return self

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters without the number of candidates."""
        return Sampling(**self.model_dump(exclude={"candidates"}))


# keyword arguments of vllm.LLM that a recipe must not set -> where it says so, or why not
OWNED_ENGINE_KEYS: dict[str, str] = {
    "model": "write it in the 'model' section",
    "tokenizer": "the model's own tokenizer is used, so that training sees the same tokens",
    "revision": "write it in the 'model' section",
    "dtype": "write it in the 'model' section",
    "max_model_len": "write max_model_len beside 'engine'",
    "trust_remote_code": "remote code is never run",
    "hf_token": "secrets do not belong into a recipe; set HF_TOKEN in the environment",
    "logits_processors": "evenhand's own carries the repetition penalty",
    "enable_lora": "the adapter of the phase is served or merged; write adapter: serve beside 'engine'",
    "max_lora_rank": "it is read from the adapter",
}
# backend -> keys of its `engine`; vLLM checks its own
ENGINE_KEYS: dict[str, frozenset[str]] = {
    "transformers": frozenset(),
    "scripted": frozenset({"tokenize", "seconds_per_batch"}),
}


class BackendSection(Section):
    """What runs a model."""

    backend: Literal["vllm", "transformers", "scripted"] = "vllm"
    # longest prompt plus answer in tokens; longer prompts are left out and counted before the engine sees them
    max_model_len: int = Field(default=4096, ge=16)
    # requests whose candidates go to the engine together: the unit that an interruption can lose. The engine runs empty at its
    # end; on an accelerator that matters, so write several hundred there
    requests_per_batch: int = Field(default=64, ge=1)
    # "serve" hands the LoRA adapter to the engine, "merge" folds it into the weights first; None: merge on the CPU, else serve
    adapter: Literal["serve", "merge"] | None = None
    # keyword arguments of vllm.LLM, as they stand; the scripted backend has `tokenize` and `seconds_per_batch`
    engine: Keywords = Field(default_factory=dict)

    @model_validator(mode="after")
    def _engine_keys_are_the_backends(self) -> "BackendSection":
        owned = {key: OWNED_ENGINE_KEYS[key] for key in self.engine if key in OWNED_ENGINE_KEYS}
        if owned:
            raise ValueError("; ".join(f"engine.{key} is not for a recipe: {why}" for key, why in owned.items()))
        known = ENGINE_KEYS.get(self.backend)
        unknown = sorted(self.engine.keys() - known) if known is not None else []
        if unknown:
            raise ValueError(
                f"engine.{unknown[0]} is not known to backend {self.backend}, which has {sorted(known or ())}"
            )
        return self


class SelfRefineSection(Section):
    """A summary, then rounds of feedback and revision."""

    # rounds after the first summary
    rounds: int = Field(default=3, ge=1)
    # most tokens of a feedback; summaries have the plan's max_tokens
    feedback_tokens: int = Field(default=256, ge=1)


class DebateSection(Section):
    """Agents that answer, then revise their answers in sight of the others'."""

    agents: int = Field(default=3, ge=2)
    # revisions after the first answers
    rounds: int = Field(default=3, ge=1)
    # "first": the first agent's last answer; "final_agent": one more call that sees all last answers; "judge": each agent's last
    # answer is a candidate of its own, and reranking takes the best, so a plan has as many candidates as agents, or a multiple
    final: Literal["first", "final_agent", "judge"] = "first"


class AttentionReweightingSection(Section):
    """Position-invariant attention over the passages."""

    # "target": the passages of the side that is asked for, the others stand before them; "all": the passages of all sides
    mode: Literal["target", "all"] = "target"
    # false runs the same prompts on the same backend with ordinary attention: the control
    reweight: bool = True


class ShuffledSection(Section):
    """One summary of each cyclic rotation of the side's documents, then all of them merged."""

    # most rotations of a request, evenly spaced; None takes as many as the side has documents
    rotations: int | None = Field(default=None, ge=1)


class ChainOfThoughtSection(Section):
    """Key points, a summary of them, a critique, a revision."""

    # most tokens of the key points and of the critique; summaries have the plan's max_tokens
    thought_tokens: int = Field(default=256, ge=1)


# method -> key of its options
METHOD_OPTIONS = {
    "self-refine": "self_refine",
    "debate": "debate",
    "attention-reweighting": "attention_reweighting",
    "shuffled": "shuffled",
    "chain-of-thought": "chain_of_thought",
}


class GenerateSection(BackendSection):
    """How candidates are made."""

    method: Literal["zero-shot", "self-refine", "debate", "attention-reweighting", "shuffled", "chain-of-thought"] = (
        "zero-shot"
    )
    # options of the method that is chosen; the others must be absent
    self_refine: SelfRefineSection | None = None
    debate: DebateSection | None = None
    attention_reweighting: AttentionReweightingSection | None = None
    shuffled: ShuffledSection | None = None
    chain_of_thought: ChainOfThoughtSection | None = None
    plans: dict[str, Plan] = Field(min_length=1)
    # interpreter of the generation process, when vLLM lives in another environment
    python: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _method_has_options(cls, values: Any) -> Any:
        """The chosen method's options spelled out, so that a resolved recipe shows them."""
        key = METHOD_OPTIONS.get(str(values.get("method"))) if isinstance(values, dict) else None
        return {**values, key: {}} if key and values.get(key) is None else values

    @model_validator(mode="after")
    def _options_are_the_methods(self) -> "GenerateSection":
        for method, key in METHOD_OPTIONS.items():
            if method != self.method and getattr(self, key) is not None:
                raise ValueError(
                    f"{key} has no effect with method: {self.method}; write method: {method}, or leave it out"
                )
        return self

    @model_validator(mode="after")
    def _method_can(self) -> "GenerateSection":
        if self.attention_reweighting is not None and self.backend != "transformers":
            raise ValueError(
                f"method attention-reweighting changes the model's attention, which backend: {self.backend} does not allow; "
                "write backend: transformers"
            )
        if self.debate is not None:
            self._refuse_plans(self.debate)
        return self

    def _refuse_plans(self, debate: DebateSection) -> None:
        for name, plan in self.plans.items():
            if plan.temperature == 0:
                raise ValueError(
                    f"plans.{name}: temperature 0 is greedy, so all agents of a debate would say the same; "
                    "write a temperature above 0"
                )
            if debate.final == "judge" and plan.candidates % debate.agents:
                raise ValueError(
                    f"plans.{name}: with debate.final: judge each of the {debate.agents} agents gives a candidate, got "
                    f"candidates: {plan.candidates}; write a multiple of {debate.agents}"
                )

    @property
    def n_candidates(self) -> int:
        """Candidates of one request over all plans."""
        return sum(plan.candidates for plan in self.plans.values())


class RubricJudge(JudgeSection):
    """An LLM that grades coverage or faithfulness."""

    kind: Literal["rubric"]
    rubric: Literal["coverage", "faithfulness"]
    # "standard": 1 to 5 with steps; "simple": 1 to 5 without; "binary": 0 or 1; "ternary": 1 to 3; "released_rubric": 1 to 5 as
    # the paper's code graded faithfulness, lower for omissions too, for reproduction
    mode: Literal["standard", "simple", "binary", "ternary", "released_rubric"] = "standard"
    model: ModelSection
    backend: BackendSection = BackendSection()
    # "expected": mean grade under the model's distribution over the grades;
    # "greedy": one whole grade, read from the reply (as published)
    scoring: Literal["expected", "greedy"] = "expected"
    # another template than the shipped one of rubric and mode; its grades are the mode's
    template: str | None = None
    # greedy only: attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # a prompt longer than backend.max_model_len: leave the candidate unscored, cut the source and say so, or stop
    overflow: Literal["skip", "truncate", "error"] = "skip"

    @model_validator(mode="after")
    def _mode_is_the_rubrics(self) -> "RubricJudge":
        if self.mode == "released_rubric" and self.rubric != "faithfulness":
            raise ValueError("mode released_rubric is one of rubric: faithfulness; write another mode")
        return self


class FineSurEJudge(JudgeSection):
    """FineSurE: an LLM that checks each sentence of the summary for errors, or each key fact for its place in the summary."""

    kind: Literal["finesure"]
    # "faithfulness": share of the summary's sentences without error; "completeness": share of the key facts found in the summary;
    # "conciseness": share of the summary's sentences that hold a key fact. The last two need against: key_points
    measure: Literal["faithfulness", "completeness", "conciseness"] = "faithfulness"
    model: ModelSection
    backend: BackendSection = BackendSection()
    # longest reply in tokens; a reply that is cut off cannot be read
    most_reply_tokens: int = Field(default=512, ge=16)
    # attempts with a new seed and temperature 0.7 before the candidate is left unscored
    max_attempts: int = Field(default=3, ge=1)
    # as for rubrics
    overflow: Literal["skip", "truncate", "error"] = "skip"

    @model_validator(mode="after")
    def _measure_has_its_text(self) -> "FineSurEJudge":
        if self.measure != "faithfulness" and self.against != "key_points":
            raise ValueError(f"measure {self.measure} counts key facts; write against: key_points")
        if self.measure != "faithfulness" and self.overflow == "truncate":
            raise ValueError(
                f"measure {self.measure} must not lose a key fact; write overflow: skip or overflow: error"
            )
        return self


class ExtractJudge(JudgeSection):
    """Extract-then-evaluate: an LLM grades the summary against the sentences of a long text that matter for it."""

    kind: Literal["extract"]
    model: ModelSection
    backend: BackendSection = BackendSection()
    # what chooses sentences: by position, by embeddings, by entailment, by common words
    extractors: tuple[Literal["lead", "similarity", "entailment", "rouge"], ...] = Field(
        default=("lead", "similarity", "entailment", "rouge"), min_length=1
    )
    # model of "similarity": a sentence encoder; Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    encoder: str = "embedded:all-minilm-l6-v2"
    # model of "entailment": an NLI classifier
    nli: str = "cross-encoder/nli-deberta-v3-base"
    # words of the extract between white space; a text of no more words is judged whole
    most_words: int = Field(default=2000, ge=1)
    # as for rubrics
    scoring: Literal["expected", "greedy"] = "expected"
    max_attempts: int = Field(default=3, ge=1)
    overflow: Literal["skip", "truncate", "error"] = "skip"
    # texts or pairs that an extractor runs at a time
    batch_size: int = Field(default=32, ge=1)


class AlignmentJudge(JudgeSection):
    """AlignScore-style: best-matching source chunk of each claim, mean over claims."""

    kind: Literal["alignment"]
    # "encoder": cosine of sentence embeddings; "nli": any NLI classifier; "alignscore": an AlignScore checkpoint
    aligner: Literal["encoder", "nli", "alignscore"] = "encoder"
    # Hugging Face id, local folder, or "embedded:all-minilm-l6-v2"
    model: str = "embedded:all-minilm-l6-v2"
    # "precision": summary sentences supported by the source; "recall": source sentences taken up by the summary
    direction: Literal["precision", "recall"] = "precision"
    # source text per chunk: single sentences, or AlignScore's chunks of about 350 words. None: sentences for the encoder, which
    # reads about 200 words at a time, else 350-words. Recall always goes by single sentences
    chunks: Literal["sentence", "350-words"] | None = None
    # AlignScore only: which head of the checkpoint is read (three-way, two-way, regression), and whether source and summary are
    # split (`_sp`) or compared whole
    mode: Literal["nli_sp", "bin_sp", "reg_sp", "nli", "bin", "reg"] = "nli_sp"
    batch_size: int = Field(default=32, ge=1)

    @model_validator(mode="after")
    def _mode_has_an_effect(self) -> "AlignmentJudge":
        if self.mode != "nli_sp" and self.aligner != "alignscore":
            raise ValueError(f"mode {self.mode!r} is one of AlignScore's; write aligner: alignscore, or leave mode out")
        if not self.splits and (self.direction == "recall" or self.chunks):
            raise ValueError(
                f"mode {self.mode!r} compares the whole summary with the whole source, so direction: recall and chunks have no "
                f"effect; write mode: {self.mode}_sp, or leave them out"
            )
        return self

    @property
    def splits(self) -> bool:
        """Whether source and summary are split before they are compared."""
        return self.mode.endswith("_sp")

    @property
    def source_chunks(self) -> str:
        """The chunks that are used: what `chunks` says, or what suits the aligner."""
        return self.chunks or ("sentence" if self.aligner == "encoder" else "350-words")


class RougeJudge(JudgeSection):
    """ROUGE of the summary against the text."""

    kind: Literal["rouge"]
    # "average": the mean over the three types
    type: Literal["rouge1", "rouge2", "rougeL", "average"] = "rouge1"
    # "mean": the mean of precision and recall; with type: average it is the paper's ROUGE proxy
    measure: Literal["recall", "precision", "fmeasure", "mean"] = "recall"


class RuleJudge(JudgeSection):
    """A count that needs no model: words of the summary, or 1 when it keeps the output contract."""

    kind: Literal["length", "contract"]


JudgeOptions = Annotated[
    RubricJudge
    | FineSurEJudge
    | ExtractJudge
    | AlignmentJudge
    | BertScoreJudge
    | SummacJudge
    | UniEvalJudge
    | MiniCheckJudge
    | BleurtJudge
    | RougeJudge
    | RuleJudge,
    Field(discriminator="kind"),
]


class RewardSection(Section):
    """How judges become one reward."""

    # the judges of the reward: their names in `judges`
    judges: tuple[str, ...] = Field(min_length=1)
    # mean of raw scores; weighted mean of raw scores; mean of z-scores within the request
    combine: Literal["mean", "weighted", "z_mean"] = "mean"
    # weight of each judge, for `weighted` and `z_mean`; below 0 for what is not wanted
    weights: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _weights_fit(self) -> "RewardSection":
        if self.combine == "mean" and self.weights:
            raise ValueError(
                "weights have no effect with combine: mean; write combine: weighted or z_mean, or leave them out"
            )
        absent = [name for name in self.judges if name not in self.weights]
        if absent and (self.weights or self.combine == "weighted"):
            raise ValueError(f"weights has no weight for judge {absent[0]!r}")
        if self.weights and not any(self.weights[name] for name in self.judges):
            raise ValueError("weights are all 0")
        return self


class PairsSection(Section):
    """Which candidates are compared in training."""

    # "all": every unordered pair; "best_k": the k widest; "top_bottom": best against worst
    mode: Literal["all", "best_k", "top_bottom"] = "top_bottom"
    # pairs kept of a request, for best_k
    k: int = Field(default=10, ge=1)
    # smallest reward gap
    least_margin: float = Field(default=0.0, ge=0)
    # pairs whose longer summary has more than this many times the words of the shorter are left out; None keeps all
    most_length_ratio: float | None = Field(default=None, ge=1)
    # leave out pairs whose chosen summary breaks the output contract
    chosen_keeps_contract: bool = True


class LoraSection(Section):
    """The adapter; names follow peft.LoraConfig."""

    r: int = Field(default=16, ge=1)
    lora_alpha: int = Field(default=32, ge=1)
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    target_modules: tuple[str, ...] | Literal["all-linear"] = ("q_proj", "k_proj", "v_proj", "o_proj")


# keys of trl.DPOConfig that would do nothing with a shared prefix -> why
PAIRWISE_KEYS = {
    "train_sampling_strategy": "requests are shared out by their tokens",
    "dataloader_drop_last": "no request is left out of an epoch",
    "precompute_ref_batch_size": "the reference runs request by request",
    "auto_find_batch_size": "train.max_tokens_per_pass bounds the memory",
    "include_num_input_tokens_seen": "it would count other tokens than those that run; num_tokens counts those",
}
# attention implementations that can keep the candidates of a prompt from seeing each other
PACKED_ATTENTION = ("sdpa", "flex_attention")


class TrainSection(Section):
    """How the training process is run and what it is held to."""

    # "shared-prefix": each prompt once for all of its candidates and pairs; "pairwise": stock TRL, the prompt twice for each pair
    trainer: Literal["shared-prefix", "pairwise"] = "shared-prefix"
    # shared-prefix: most tokens that run through the model side by side. A micro-batch beyond it runs in several passes, a long
    # request split by candidates, with the same loss; lower it when memory is short
    max_tokens_per_pass: int = Field(default=16384, ge=16)
    # accelerate configuration file: a path, or a name from accelerate_configs/
    accelerate_config: str = "cpu"
    # processes, when the file should not decide
    num_processes: int | None = Field(default=None, ge=1)
    # reference policy of every round: the untrained model, or the policy that the round starts from
    reference: Literal["initial", "previous"] = "initial"
    # rows longer than trainer.max_length: stop, or leave them out and count them by side
    excess_length_strategy: Literal["raise", "drop"] = "raise"
    # pair file to train on instead of the run folder's
    pairs: Path | None = None
    # interpreter of the training process
    python: str | None = None


class EvaluationSection(Section):
    """How a checkpoint is compared with the base model."""

    # the judges of the report: their names in `judges`; keep them apart from the reward's
    judges: tuple[str, ...] = Field(min_length=1)
    # bootstrap draws over document sets
    resamples: int = Field(default=10_000, ge=100)
    # level of the intervals
    level: float = Field(default=0.95, gt=0.5, lt=1)
    # example requests that the report shows side by side
    examples: int = Field(default=6, ge=0)


class LimitsSection(Section):
    """Shares that may be left out before a stage ends with exit code 3."""

    # judgements without a score, of each judge
    unscored: float = Field(default=0.02, ge=0, le=1)
    # requests without any candidate
    failed: float = Field(default=0.0, ge=0, le=1)


class WandbSection(Section):
    """Logging to Weights & Biases; off unless the recipe has this section."""

    project: str = "evenhand"
    entity: str | None = None
    mode: Literal["online", "offline"] = "offline"


class Recipe(Section):
    """A whole study; see recipes/ for runnable ones."""

    # name of the run; part of every seed
    name: str
    seed: int = 42
    # run folder
    output: Path
    model: ModelSection
    corpus: CorpusSection = CorpusSection()
    task: TaskSection = TaskSection()
    generate: GenerateSection
    judges: dict[str, JudgeOptions] = Field(min_length=1)
    reward: RewardSection
    pairs: PairsSection = PairsSection()
    lora: LoraSection = LoraSection()
    train: TrainSection = TrainSection()
    # keyword arguments of trl.DPOConfig, as they stand
    trainer: Keywords = Field(default_factory=dict)
    # rounds of generate, judge, rerank, train; 0 only evaluates the untrained model
    rounds: int = Field(default=1, ge=0, le=99)
    evaluation: EvaluationSection
    limits: LimitsSection = LimitsSection()
    wandb: WandbSection | None = None

    @model_validator(mode="after")
    def _judges_are_known(self) -> "Recipe":
        unknown = [
            f"{place} names {name!r}, which 'judges' does not have{did_you_mean(name, self.judges)}"
            for place, names in (
                ("reward.judges", self.reward.judges),
                ("reward.weights", self.reward.weights),
                ("evaluation.judges", self.evaluation.judges),
            )
            for name in names
            if name not in self.judges
        ]
        if unknown:
            raise ValueError(f"{' '.join(unknown)} The recipe's judges are {', '.join(self.judges)}.")
        return self

    @model_validator(mode="after")
    def _method_can_train(self) -> "Recipe":
        if self.rounds and self.generate.method != "zero-shot":
            raise ValueError(
                f"rounds: {self.rounds} trains on answers to the request's own prompt, and generate.method "
                f"{self.generate.method!r} asks other prompts; write rounds: 0, or generate.method: zero-shot"
            )
        return self

    @model_validator(mode="after")
    def _trainer_can(self) -> "Recipe":
        if self.train.trainer == "pairwise" or self.rounds == 0:
            return self
        mistakes = []
        attention = self.model.attn_implementation
        if attention not in PACKED_ATTENTION:
            mistakes.append(
                f"model.attn_implementation {attention!r} cannot keep the candidates of a prompt from seeing each other: write "
                f"{' or '.join(PACKED_ATTENTION)}, or train.trainer: pairwise."
            )
        mistakes += [
            f"trainer.{key} has no effect, because {why}: leave it out, or write train.trainer: pairwise."
            for key, why in PAIRWISE_KEYS.items()
            if key in self.trainer
        ]
        if mistakes:
            raise ValueError(" ".join(mistakes))
        return self
