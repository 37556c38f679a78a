"""The process of judges that hold one model: `python -m evenhand.evaluation.meta.apart FOLDER`; see `judges/apart.py`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ...config import JudgeOptions
from ...config.recipe_file import load_judges
from ...corpora.controlled import ControlledSet
from ...judges import open_judges
from ...judges.apart import run_apart
from ...judges.asking import by_model
from ...judges.child import as_child
from ...records import Judgement
from ...storage import read_jsonl, write_json, write_jsonl
from .scoring import judge_sets

# files in the folder that parent and child share
JUDGES, SETS, SAID, FAILURE = "judges.json", "sets.jsonl", "judgements.jsonl", "failure.json"


def judge_by_model(options: Mapping[str, JudgeOptions], sets: Sequence[ControlledSet]) -> list[Judgement]:
    """What `judge_sets` says, judges on different models in different processes, one after another.

    Raises:
        EvenhandError: a judge or its process refused.
    """
    judges = open_judges(options)
    apart = [group for group in by_model(judges) if group[0].loads]
    if len(apart) < 2:
        return judge_sets(judges, sets)
    found = judge_sets([judge for judge in judges if not judge.loads], sets)
    for group in apart:
        found += _judge_apart({judge.name: options[judge.name] for judge in group}, sets)
    places = {judge.name: place for place, judge in enumerate(judges)}
    return sorted(found, key=lambda each: places[each.judge])


def _judge_apart(options: Mapping[str, JudgeOptions], sets: Sequence[ControlledSet]) -> list[Judgement]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_json(
            folder / JUDGES, {"judges": {each: section.model_dump(mode="json") for each, section in options.items()}}
        )
        write_jsonl(folder / SETS, sets)
        run_apart((__name__, name), list(options), folder / FAILURE)
        return read_jsonl(folder / SAID, Judgement)


def _judge(folder: Path) -> None:
    judges = open_judges(load_judges(folder / JUDGES))
    write_jsonl(folder / SAID, judge_sets(judges, read_jsonl(folder / SETS, ControlledSet)))


if __name__ == "__main__":
    place = Path(sys.argv[1])
    sys.exit(as_child(lambda: _judge(place), place / FAILURE))
