"""The stages of a phase, in the order in which they build on each other."""

from collections.abc import Callable, Sequence

from .generate.stage import generate_stage, phase_requests
from .judges import open_judges
from .judges.stage import judge_stage
from .records import SummaryRequest
from .rerank.stage import rerank_stage
from .runfolder.phases import Phase
from .runfolder.stages import Stage
from .train.launch import accelerate_config, n_processes
from .train.stage import training_stage


def phase_stages(phase: Phase, requests: Sequence[SummaryRequest] | None = None) -> dict[str, Callable[[], Stage]]:
    """What makes each stage of a phase, by verb, in order.

    A stage is made when it is called for, because that reads what the stages before it left: it raises what the stage's own
    maker raises, a DataError where files of an earlier stage are not there.

    Args:
        requests: the phase's requests, where they are known already; else the corpus is read for them.
    """

    def judge() -> Stage:
        return judge_stage(phase, open_judges({name: phase.recipe.judges[name] for name in phase.judges}))

    def train() -> Stage:
        section = phase.recipe.train
        return training_stage(phase, n_processes(section, accelerate_config(section.accelerate_config)))

    makers: dict[str, Callable[[], Stage]] = {
        "generate": lambda: generate_stage(phase, phase_requests(phase) if requests is None else requests),
        "judge": judge,
        "rerank": lambda: rerank_stage(phase),
    }
    return makers if phase.round is None else {**makers, "train": train}
