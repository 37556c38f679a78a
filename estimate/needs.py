"""What an estimate of a recipe holds: its models, stages, memory and hours."""

from dataclasses import dataclass
from typing import Literal

from ..text.amounts import GIB
from ..train.memory import USABLE, TrainMemory
from .devices import Device


@dataclass(frozen=True)
class Model:
    """A model that the recipe names."""

    name: str
    used_by: tuple[str, ...]
    parameters: int | None = None
    # bytes
    weights: float | None = None
    # weights of the adapter, where it is trained
    trained: int | None = None
    # why its sizes are not known
    problem: str | None = None
    # whether it is a language model, as tokens and memory are counted of
    is_language_model: bool = True


@dataclass(frozen=True)
class StageEstimate:
    """A stage over all phases of its kind; numbers that rest on a model that is not here are None."""

    name: str
    # "train" or "test", and how many phases
    split: str
    phases: int
    model: str
    judges: tuple[str, ...]
    requests: int
    # prompt tokens that run, and generated ones at most; of training, tokens that run, and 0
    prompt_tokens: float
    generated_tokens: float
    flops: float | None
    gpus: int
    hours: float | None
    # address of the server that does it, and what it is paid at most; None for an engine, and where prices are not known
    server: str | None = None
    cost: float | None = None
    # times that the model is loaded for it, one after another; 0 where a server has it
    starts: int = 0


@dataclass(frozen=True)
class EngineMemory:
    """Bytes on each GPU of an engine."""

    model: str
    gpus: int
    weights: float
    # of a token's keys and values, over all GPUs
    kv_of_token: float
    max_model_len: int
    # tokens that the device has room for, on all GPUs together
    room: float

    @property
    def least(self) -> float:
        """Bytes on each GPU with a single request of the greatest length."""
        return self.weights + self.kv_of_token * self.max_model_len / self.gpus


@dataclass(frozen=True)
class RecipeEstimate:
    """What a recipe needs."""

    recipe: str
    device: Device
    utilisation: float
    models: list[Model]
    stages: list[StageEstimate]
    # tokens of the largest pass of training
    pass_tokens: int | None
    # whether training checkpoints; auto: where it does not fit without
    checkpointing: bool | Literal["auto"]
    training: list[TrainMemory]
    # tokens of the longest prompt with a candidate that trains on the device; None where it is not known
    longest: int | None
    engines: list[EngineMemory]
    # file of a phase's folder -> its bytes in all phases
    files: dict[str, float]
    notes: list[str]

    @property
    def gpus(self) -> int:
        """GPUs that the recipe asks for; 0 where no language model runs here."""
        return max([stage.gpus for stage in self.stages], default=0)

    @property
    def memory(self) -> float | None:
        """GiB that each of them must have for the language models; None where one of these is not known."""
        if any(model.problem and model.is_language_model for model in self.models):
            return None
        kind = "checkpointing" if self.checkpointing else "plain"
        needs = [memory.total(kind) for memory in self.training if memory.is_recipes] + [
            engine.least for engine in self.engines
        ]
        return max(needs) / USABLE / GIB if needs else 0.0

    @property
    def hours(self) -> float | None:
        """Of all stages that run here, one after another."""
        stage_hours = [stage.hours for stage in self.stages if stage.server is None]
        return None if None in stage_hours else sum(hours or 0 for hours in stage_hours)

    @property
    def gpu_hours(self) -> float | None:
        """Hours of all GPUs together, each stage's while it runs."""
        stage_hours = [
            None if stage.hours is None else stage.hours * stage.gpus for stage in self.stages if stage.server is None
        ]
        return None if None in stage_hours else sum(hours or 0 for hours in stage_hours)

    @property
    def starts(self) -> int:
        """Engines and trainings that are started one after another; those that start side by side count once."""
        return sum(stage.starts for stage in self.stages)

    def gpu_hours_of_starts(self, hours_of_one: float) -> float:
        """Hours of all GPUs together while their engine or training starts."""
        return sum(stage.starts * stage.gpus for stage in self.stages) * hours_of_one

    @property
    def cost(self) -> float | None:
        """What servers are paid at most, in the currency of their prices; None where one of them is not known."""
        costs = [stage.cost for stage in self.stages if stage.server is not None]
        return None if None in costs else sum(cost or 0 for cost in costs)

    @property
    def problems(self) -> list[str]:
        """Why models are not known."""
        return [model.problem for model in self.models if model.problem]
