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
        mine = {judge.name: options[judge.name].model_dump(mode="json") for judge in group}
        with TemporaryDirectory() as name:
            folder = Path(name)
            write_json(folder / JUDGES, {"judges": mine})
            write_jsonl(folder / SETS, sets)
            run_apart((__name__, name), list(mine), folder / FAILURE)
            found += read_jsonl(folder / SAID, Judgement)
    places = {judge.name: place for place, judge in enumerate(judges)}
    return sorted(found, key=lambda each: places[each.judge])


if __name__ == "__main__":
    place = Path(sys.argv[1])

    def work() -> None:
        """Write what the judges say of the sets."""
        said = judge_sets(open_judges(load_judges(place / JUDGES)), read_jsonl(place / SETS, ControlledSet))
        write_jsonl(place / SAID, said)

    sys.exit(as_child(work, place / FAILURE))
