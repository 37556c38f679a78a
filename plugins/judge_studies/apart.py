"""The process of judges that hold one model: `python -m evenhand.plugins.judge_studies.apart FOLDER [CACHE]`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...config import JudgeOptions
from ...config.recipe_file import load_judges
from ...corpora.controlled import ControlledSet
from ...errors import JudgeError
from ...judges import open_judges
from ...judges.asking import by_model
from ...judges.batch import Spent
from ...records import Judgement
from ...runfolder.workers import Command, LocalWorker, as_child
from ...storage import read_jsonl, write_json, write_jsonl
from .scoring import judge_sets

# files in the folder that parent and child share
JUDGES, SETS, SAID, FAILURE = "judges.json", "sets.jsonl", "judgements.jsonl", "failure.json"
SPENT = "spent.jsonl"


def judge_by_model(
    options: Mapping[str, JudgeOptions],
    sets: Sequence[ControlledSet],
    *,
    cache_file: Path | None = None,
    spent: list[Spent] | None = None,
) -> list[Judgement]:
    """The judgements of `judge_sets`, judges on different models in different processes, one after another.

    Raises:
        EvenhandError: a judge or its process refused.
    """
    judges = open_judges(options)
    model_groups = [group for group in by_model(judges) if group[0].loads]
    if len(model_groups) < 2:
        return judge_sets(judges, sets, cache_file=cache_file, spent=spent)
    judgements = judge_sets([judge for judge in judges if not judge.loads], sets, cache_file=cache_file, spent=spent)
    for group in model_groups:
        sections = {judge.name: options[judge.name].model_dump(mode="json") for judge in group}
        with TemporaryDirectory() as name:
            folder = Path(name)
            write_json(folder / JUDGES, {"judges": sections})
            write_jsonl(folder / SETS, sets)
            cached = [str(cache_file)] if cache_file else []
            _run(Command(("-m", __name__, name, *cached), folder / FAILURE), list(sections))
            judgements += read_jsonl(folder / SAID, Judgement)
            if spent is not None:
                spent += read_jsonl(folder / SPENT, Spent)
    places = {judge.name: place for place, judge in enumerate(judges)}
    return sorted(judgements, key=lambda judgement: places[judgement.judge])


def _run(command: Command, names: Sequence[str]) -> None:
    """Run the process of some judges to its end."""
    with closing(LocalWorker()) as process:
        process.begin(command)
        if process.is_ready():
            process.end()
            return
        raise JudgeError(
            f"the process of judges {', '.join(names)} {process.death().how}; its output is above. The same command "
            "continues with what it had not judged. When memory was short: lower backend.max_model_len or, with vLLM on a GPU, "
            "backend.engine.gpu_memory_utilization"
        )


def work(place: Path, cache_file: Path | None, answer: Callable[[Any], object]) -> None:
    """Write what the judges say of the sets, and say so."""
    spent: list[Spent] = []
    judges, sets = open_judges(load_judges(place / JUDGES)), read_jsonl(place / SETS, ControlledSet)
    write_jsonl(place / SAID, judge_sets(judges, sets, cache_file=cache_file, spent=spent))
    write_jsonl(place / SPENT, spent)
    answer({})


if __name__ == "__main__":
    place, *cached = map(Path, sys.argv[1:])
    sys.exit(as_child(lambda _, answer: work(place, next(iter(cached), None), answer), place / FAILURE))
