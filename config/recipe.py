"""A whole study."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from ..doors import command
from ..records import is_none
from ..text import did_you_mean, repeated, some_of
from ..text.shown import shortened
from .fairness import FairnessJudgeSection
from .generate import GenerateSection, asks_model
from .judges import JudgeOptions
from .keywords import Keywords
from .methods import Plan
from .model import (
    EXECUTORS,
    LOCAL,
    TORCH_VARLEN,
    BackendSection,
    LanguageModel,
    ModelSection,
    ReplicatedSection,
    refuse_lost_settings,
)
from .remote import RemoteSection, refuse_unpriced
from .reward import PairsSection, RewardSection
from .section import Section, one_of
from .task import CorpusSection, TaskSection
from .train import (
    LOSS_TYPES,
    MOST_SERVED_RANK,
    LoraSection,
    TrainSection,
    as_written,
    contradictory,
    loss_types,
    unfit_evaluation,
    unknown_sizes,
    unknown_trackers,
    unpackable,
    weight_mistakes,
    without_effect,
)
from .trainer_values import wrong_values

# what tables of scores have beside a column for each judge
JUDGE_COLUMNS = ("set", "side", "text", "cut", "unscored", "id", "reward", "n_candidates")


class EvaluationSection(Section):
    """How a checkpoint is compared with the base model."""

    # the judges of the report: their names in `judges`; keep them apart from the reward's
    judges: tuple[str, ...] = Field(min_length=1)
    # sampling plans of the test sets; None draws by generate.plans. The paper trains with 9 candidates and tests with 18
    plans: dict[str, Plan] | None = Field(default=None, min_length=1)
    # rounds whose checkpoints are evaluated: "ends" (the first and the last, so that it is seen whether the reward goes on rising
    # while the report's judges do not), "last", "all", or a list of their numbers from 0; the last is always among them
    rounds: Literal["all", "ends", "last"] | tuple[Annotated[int, Field(ge=0)], ...] = "ends"
    # bootstrap draws over document sets; beyond a million they take hours and show nothing more
    resamples: int = Field(default=10_000, ge=100, le=1_000_000)
    # level of the intervals
    level: float = Field(default=0.95, gt=0.5, lt=1)
    # example requests that the report shows side by side
    examples: int = Field(default=6, ge=0)


class JudgeLimitsSection(Section):
    """What the reward's judges must be known to be worth before a run begins; needs the recipe's key `calibration`."""

    # whether each of them that is to measure coverage or faithfulness must be in a calibration
    calibrated: bool = True
    # what each must clearly agree better with its own purpose than; None leaves that open
    above: Literal["length"] | None = None

    def refuse(self) -> None:
        """Refuse `above` without a calibration to read it from."""
        if self.above and not self.calibrated:
            raise ValueError("above: length is read from a calibration; write calibrated: true, or leave above out")


class LimitsSection(Section):
    """Shares that may be left out before a stage ends with exit code 3, and what judges must be worth."""

    # judgements without a score, of each judge
    unscored: float = Field(default=0.02, ge=0, le=1)
    # requests without any candidate
    failed: float = Field(default=0.0, ge=0, le=1)
    # what servers may be paid in all, in the currency of server.price: the run stops before the request that might pass it
    cost: float | None = Field(default=None, gt=0, exclude_if=is_none)
    # checked before any work
    judge: JudgeLimitsSection | None = None


class WandbSection(Section):
    """Logging to Weights & Biases; off unless the recipe has this section."""

    # where runs are logged: project, and the account or team that it belongs to
    project: str = "evenhand"
    entity: str | None = None
    # "offline" writes to the run folder alone
    mode: Literal["online", "offline"] = "offline"


class Recipe(Section):
    """A whole study; see recipes/ for runnable ones."""

    # name of the run; part of every seed
    name: str
    # every draw follows from it
    seed: int = 42
    # run folder
    output: Path
    # may be left out where the method asks no language model
    model: ModelSection
    corpus: CorpusSection = CorpusSection()
    task: TaskSection = TaskSection()
    generate: GenerateSection
    # where candidates are made and models judge: on this machine ("local"), or at a place that a plug-in brings: "ray" is a
    # cluster that is running; see docs/many-machines.md
    executor: str = LOCAL
    # whether vLLM's engines outlive their stages until `evenhand loop` ends, instead of being loaded for each of them; they take
    # their memory side by side, on a GPU that of the processor; see docs/several-gpus.md
    keep_engines: bool = False
    # whatever scores candidates, by the names that reward and evaluation have for them
    judges: dict[str, JudgeOptions] = Field(min_length=1)
    # files that `evenhand judges audit` wrote: what is known of the judges, for reports and for limits.judge
    calibration: tuple[Path, ...] = ()
    reward: RewardSection
    pairs: PairsSection = PairsSection()
    lora: LoraSection = LoraSection()
    train: TrainSection = TrainSection()
    # keyword arguments of trl.DPOConfig, unchanged. gradient_checkpointing may also be auto, the default: layers
    # are run again in the backward pass only if memory is short otherwise; so may per_device_train_batch_size, with
    # train.global_batch_size: as many requests as fit into train.max_tokens_per_pass
    trainer: Keywords = Field(default_factory=dict)
    # rounds of generate, judge, rerank, train; 0 only evaluates the untrained model
    rounds: int = Field(default=1, ge=0, le=99)
    evaluation: EvaluationSection
    limits: LimitsSection = LimitsSection()
    wandb: WandbSection | None = None

    @model_validator(mode="before")
    @classmethod
    def _extraction_has_no_model(cls, values: Any) -> Any:
        generate = values.get("generate") if isinstance(values, dict) else None
        if isinstance(generate, dict) and not asks_model(generate.get("method")):
            return {"model": {"name": "none"}} | values
        return values

    @field_validator("executor")
    @classmethod
    def _executor_is_there(cls, name: str) -> str:
        one_of("executor", name, EXECUTORS)
        # refuses a package that is broken, or that takes a name
        EXECUTORS[name]
        return name

    @field_validator("trainer")
    @classmethod
    def _values_are_those_of_their_keys(cls, trainer: dict[str, Any]) -> dict[str, Any]:
        trainer = as_written(trainer)
        mistakes = [
            # with the key, so that its place in the file is shown
            InitErrorDetails(
                type=PydanticCustomError("value_error", "{text}", {"text": text}), loc=(key,), input=trainer[key]
            )
            for key, text in wrong_values(trainer)
        ]
        if mistakes:
            raise ValidationError.from_exception_data("trainer", mistakes)
        return trainer

    @field_validator("calibration", mode="before")
    @classmethod
    def _one_file_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str | Path) else value

    def refuse(self) -> None:
        """Sections must fit together."""
        self._judges_are_known()
        self._unfairness_is_not_wanted()
        self._scope_fits()
        self._method_can_train()
        self._evaluation_fits()
        self._losses_are_known()
        self._pairs_have_their_parts()
        self._trainer_can()
        self._servers_fit()
        self._engines_can_be_kept()
        if self.executor != LOCAL and self.generate.python is not None:
            raise ValueError(
                f"generate.python has no effect with executor: {self.executor}, whose machines run {EXECUTORS[self.executor]}; "
                "leave it out"
            )
        if self.limits.judge and self.limits.judge.calibrated and not self.calibration:
            raise ValueError(
                "limits.judge wants judges of which something is known, and no calibration is named; write calibration: "
                "FOLDER/calibration.json, which "
                f"{command('judges audit SETS --judges RECIPE --out FOLDER')} writes"
            )

    def _engines_can_be_kept(self) -> None:
        """Refuse to keep engines that run elsewhere, have other weights in each round, or are none; all mistakes together."""
        if not self.keep_engines:
            return
        mistakes = []
        if self.executor != LOCAL:
            mistakes.append(f"executor: {self.executor} starts engines on other machines; write executor: {LOCAL}")
        if self.generate.python is not None:
            mistakes.append(
                "generate.python is another interpreter than the loop's, which starts the engines; leave it out"
            )
        if all(backend.traits.pooled_keys is None for backend in self.backends.values()):
            backends = some_of(sorted({backend.backend for backend in self.backends.values()}))
            mistakes.append(f"no engine of this recipe can be kept: vLLM's can, and its backends are {backends}")
        if self.rounds and self.generate.backend == "vllm" and self.generate.adapter != "serve":
            mistakes.append(
                "an adapter that is merged gives the engine other weights in each round; write generate.adapter: serve"
            )
        if mistakes:
            raise ValueError(f"keep_engines: {'. '.join(mistakes)}; or leave keep_engines out")

    def _servers_fit(self) -> None:
        """Refuse training what a server keeps for itself, and a limit of cost without prices."""
        if self.rounds and not self.generate.reads_model and self.generate.server is not None:
            raise ValueError(
                f"rounds: {self.rounds} trains the model that writes, and generate.server has it; write rounds: 0, or "
                "server.prompts: tokens with a vLLM server that shares the run folder"
            )
        models = [LanguageModel(self.model, self.generate)]
        models += [
            language_model for judge in self.judges.values() for language_model in judge.language_models.values()
        ]
        for language_model in models:
            refuse_lost_settings(language_model)
        remark = "; or leave limits.cost out: `evenhand serve` takes none, since it is an account of a run"
        refuse_unpriced("limits.cost", self.limits.cost, self.servers, remark)

    @property
    def backends(self) -> dict[str, BackendSection]:
        """What runs language models, by its key."""
        return {"generate": self.generate} | {
            f"judges.{name}{'.' * bool(below)}{below}.backend": language_model.backend
            for name, judge in self.judges.items()
            for below, language_model in judge.language_models.items()
        }

    @property
    def servers(self) -> dict[str, RemoteSection]:
        """The servers that are asked, by the key of their backend."""
        return {key: backend.server for key, backend in self.backends.items() if backend.server is not None}

    @property
    def replicated(self) -> dict[str, ReplicatedSection]:
        """What may run several engines side by side, by its key."""
        return {key: backend for key, backend in self.backends.items() if isinstance(backend, ReplicatedSection)}

    @property
    def evaluated_rounds(self) -> list[int]:
        """Rounds whose checkpoints are evaluated, the last one among them."""
        rounds = self.evaluation.rounds
        every = range(self.rounds)
        named = {"all": every, "ends": every[:1], "last": ()}[rounds] if isinstance(rounds, str) else rounds
        return sorted({*named, *every[-1:]})

    @property
    def idle_judges(self) -> list[str]:
        """Names of judges that nothing asks."""
        return [
            name for name in self.judges if name not in (*self.reward.judges, *self.evaluation.judges, self.pairs.judge)
        ]

    def _judges_are_known(self) -> None:
        unknown = [
            f"{place} names {name!r}, which 'judges' does not have{did_you_mean(name, self.judges)}"
            for place, names in (
                ("reward.judges", self.reward.judges),
                ("reward.weights", self.reward.weights),
                ("evaluation.judges", self.evaluation.judges),
                ("pairs.judge", (self.pairs.judge,) if self.pairs.judge else ()),
            )
            for name in names
            if name not in self.judges
        ]
        if unknown:
            raise ValueError(f"{' '.join(unknown)} The recipe's judges are {', '.join(self.judges)}.")
        for place, names in (("reward.judges", self.reward.judges), ("evaluation.judges", self.evaluation.judges)):
            if twice := repeated(names):
                raise ValueError(f"{place} names {some_of(twice)} twice; leave one out")
        if clashes := [name for name in self.judges if name in JUDGE_COLUMNS]:
            raise ValueError(
                f"judges: tables of scores have columns {', '.join(JUDGE_COLUMNS)} of their own; rename {some_of(clashes)}"
            )
        idle = [
            f"reward.weights names {name!r}, which has no effect because reward.judges does not"
            f"{did_you_mean(name, self.reward.judges)} Leave it out, or add it there."
            for name in self.reward.weights
            if name not in self.reward.judges
        ]
        if idle:
            raise ValueError(" ".join(idle))

    def _unfairness_is_not_wanted(self) -> None:
        unfair = [name for name in self.reward.judges if self._is_fair(name, "lower")]
        if unfair and not self.reward.weights:
            raise ValueError(
                f"reward.judges names {', '.join(map(repr, unfair))}, where lower is fairer, and reward.combine "
                f"{self.reward.combine!r} without weights would ask for the most unfair summary; write combine: weighted or "
                "z_mean, and a weight below 0"
            )
        weights = self.reward.weights
        wanted = [f"{name}: {weights[name]:g}" for name in unfair if weights[name] > 0]
        unwanted = [
            f"{name}: {weights[name]:g}"
            for name in self.reward.judges
            if weights.get(name, 1) < 0 and self._is_fair(name, "higher")
        ]
        # a weight of 0 asks for nothing, which is the baseline that a study compares with
        mistakes = [
            f"reward.weights has {', '.join(named)}, where {better} is fairer, so the most unfair summary would win; write a "
            f"weight {side} 0."
            for named, better, side in ((wanted, "lower", "below"), (unwanted, "higher", "above"))
            if named
        ]
        if mistakes:
            raise ValueError(" ".join(mistakes))

    def _is_fair(self, name: str, better: str) -> bool:
        """Whether a judge is one of fairness, and these scores of it are the better ones."""
        options = self.judges[name]
        return isinstance(options, FairnessJudgeSection) and options.better == better

    def _scope_fits(self) -> None:
        """Refuse what asks for one side where all are summarised, and the other way round; all mistakes together."""
        mistakes = []
        generate = self.generate
        if mistake := generate.options.scope_mistake(self.task.scope):
            mistakes.append(f"generate.{mistake}.")
        judges = {name: self.judges[name] for name in (*self.reward.judges, *self.evaluation.judges)}
        mistakes += scope_mistakes(judges, self.task.scope)
        if mistakes:
            raise ValueError(" ".join(mistakes))

    def _method_can_train(self) -> None:
        if self.rounds and not self.generate.can_train:
            raise ValueError(
                f"rounds: {self.rounds} trains on answers to the request's own prompt, and generate.method "
                f"{self.generate.method!r} asks other prompts; write rounds: 0, or generate.method: zero-shot"
            )
        if (
            self.rounds
            and self.generate.method == "zero-shot"
            and self.generate.n_candidates < 2
            and self.train.pairs is None
        ):
            raise ValueError(
                "generate.plans: one candidate of a request gives no pair to train on; ask for at least 2, or write rounds: 0"
            )
        served = self.generate.backend == "vllm" and self.generate.adapter != "merge"
        if self.rounds and served and self.lora.r > MOST_SERVED_RANK:
            raise ValueError(
                f"lora.r {self.lora.r} is more than the {MOST_SERVED_RANK} that vLLM serves; write less, or "
                "generate.adapter: merge"
            )

    def _evaluation_fits(self) -> None:
        """Refuse rounds that there are not, and plans that the method cannot draw by."""
        rounds, generate = self.evaluation.rounds, self.generate
        if absent := [number for number in rounds if isinstance(number, int) and number >= self.rounds]:
            has = f"the rounds 0 to {self.rounds - 1}" if self.rounds else "no rounds"
            raise ValueError(
                f"evaluation.rounds names {', '.join(map(str, absent))}, and this recipe has {has}; write those, all or last"
            )
        if self.evaluation.plans is None:
            return
        if not generate.options.asks_model:
            raise ValueError(
                f"evaluation.plans has no effect with method: {generate.method}, which draws nothing; leave it out"
            )
        if generate.unseen_method == generate.method:
            try:
                generate.options.refuse_plans(self.evaluation.plans)
            except ValueError as error:
                raise ValueError(f"evaluation.{error}") from error

    def _pairs_have_their_parts(self) -> None:
        options, mistakes = self.generate.options, list(self.pairs.rules.mistakes(self))
        if not self.pairs.rules.judge and self.rounds and options.copies and self.train.pairs is None:
            mode = f"pairs.mode: {options.pairs_mode}, or " if options.pairs_mode else ""
            mistakes.append(
                f"pairs.mode {self.pairs.mode} compares summaries by the reward, which those of {options.copies} do not get: "
                f"write {mode}generate.method: zero-shot."
            )
        mistakes += weight_mistakes(self.pairs, self.train, self.trainer)
        if mistakes:
            raise ValueError(" ".join(mistakes))

    def _losses_are_known(self) -> None:
        unknown = [name for name in loss_types(self.trainer) if name not in LOSS_TYPES]
        if unknown:
            raise ValueError(
                f"trainer.loss_type: TRL has no loss {shortened(unknown[0])}{did_you_mean(str(unknown[0]), LOSS_TYPES)} It has "
                f"{', '.join(LOSS_TYPES)}."
            )

    def _trainer_can(self) -> None:
        if self.rounds == 0:
            return
        mistakes = [
            *without_effect(self.trainer, self.lora),
            *unknown_trackers(self.trainer),
            *unknown_sizes(self.trainer, self.train),
            *unfit_evaluation(self.trainer, self.train),
            *contradictory(self.trainer),
        ]
        if self.train.trainer == "shared-prefix":
            mistakes += unpackable(self.trainer, self.model)
        elif self.model.attn_implementation == TORCH_VARLEN:
            mistakes.append(
                f"model.attn_implementation {TORCH_VARLEN} needs train.trainer: shared-prefix: write sdpa, or flash_attention_2."
            )
        if self.train.global_batch_size and self.trainer.get("gradient_accumulation_steps") is not None:
            mistakes.append(
                "trainer.gradient_accumulation_steps follows from train.global_batch_size: write one of the two, and null for "
                "the other where a recipe that is extended has it."
            )
        if mistakes:
            raise ValueError(" ".join(mistakes))


def scope_mistakes(judges: Mapping[str, JudgeOptions], scope: str, key: str = "task.scope:") -> Iterator[str]:
    """Which judges cannot score what is asked for: one summary of all sides, or one of each.

    Args:
        judges: by name.
        scope: "all" or "side".
        key: how the user said it.
    """
    for name, options in judges.items():
        if scope == "side":
            if options.scope == "all":
                yield (
                    f"judges.{name} of kind {options.kind} compares all sides, and {key} side asks for one, so that nothing "
                    f"would be scored; write {key} all, or leave it out."
                )
        elif options.scope == "side":
            yield f"judges.{name} contrasts a side with the others, which {key} all has not; leave it out."
        elif options.against == "opposing":
            yield (
                f"judges.{name}.against opposing: with {key} all no documents oppose the summary's; write against: source, or "
                "leave the judge out."
            )
