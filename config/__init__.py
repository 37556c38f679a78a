"""What a recipe may say: its sections as frozen, checked types.

Nothing here imports a model library, so a typing mistake costs half a second and not a minute. Keys that belong to a
library (`trainer:` to trl.DPOConfig, `engine:` to vllm.LLM) are passed on unchanged. The sections of single judges are in
`judges`, `metrics` and `fairness`, and answer what is asked of all of them (`needs`).
"""

from .generate import GenerateSection
from .judges import JudgeOptions
from .methods import Plan
from .model import AUTO_ATTENTION, TORCH_VARLEN, BackendSection, ModelSection, ReplicatedSection, without_speed
from .needs import JudgeSection
from .recipe import Recipe
from .reward import PairsSection, RewardSection
from .section import Section
from .task import ColumnsSection, CorpusSection, SplitSection, SummaryColumnsSection, TaskSection
from .train import PACKED_ATTENTION, UNWEIGHTED, VARLEN_ATTENTION, FairPOSection, LoraSection, TrainSection

__all__ = [
    "AUTO_ATTENTION",
    "PACKED_ATTENTION",
    "TORCH_VARLEN",
    "UNWEIGHTED",
    "VARLEN_ATTENTION",
    "BackendSection",
    "ColumnsSection",
    "CorpusSection",
    "FairPOSection",
    "GenerateSection",
    "JudgeOptions",
    "JudgeSection",
    "LoraSection",
    "ModelSection",
    "PairsSection",
    "Plan",
    "Recipe",
    "ReplicatedSection",
    "RewardSection",
    "Section",
    "SplitSection",
    "SummaryColumnsSection",
    "TaskSection",
    "TrainSection",
    "without_speed",
]
