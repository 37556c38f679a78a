"""`trainer.report_to`: transformers' own callback of TensorBoard, with a library of a few lines in the place of tensorboardX."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.config.trainer_keys import TRACKERS
from evenhand.errors import MissingExtra
from evenhand.preflight.named import named_checks
from evenhand.runfolder.phases import Phase
from evenhand.train.stage import training_stage

OpenRound = Callable[..., Phase]
LIBRARY = """
import json, pathlib
class SummaryWriter:
    def __init__(self, log_dir):
        self.path = pathlib.Path(log_dir) / "scalars.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
    def add_text(self, *_): pass
    def add_scalar(self, name, value, step):
        with self.path.open("a") as file:
            file.write(json.dumps([name, value, step]) + "\\n")
    def flush(self): pass
    def close(self): pass
"""


def test_names_are_those_of_the_installed_transformers() -> None:
    integrations = pytest.importorskip("transformers").integrations.integration_utils
    # wandb has a section; neptune's service has ended, and kubeflow starts jobs and is told of them by no key
    assert TRACKERS.keys() | {"wandb", "neptune", "kubeflow"} == integrations.INTEGRATION_TO_CALLBACK.keys()


def test_a_tracker_that_is_not_here_is_refused_by_validate(
    open_round: OpenRound, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.runfolder.tracking.find_spec", lambda name: None)
    checks = {
        check.key: check for check in named_checks(open_round(trainer={"report_to": ["mlflow", "swanlab"]}).recipe)
    }
    with pytest.raises(
        MissingExtra, match=r"'trainer.report_to': mlflow needs mlflow, .* pip install mlflow\n.*swanlab needs swanlab"
    ):
        checks["trainer.report_to"].run()


def test_who_is_told_changes_no_training(open_round: OpenRound) -> None:
    plain, told = (open_round(name, trainer=trainer) for name, trainer in (("a", {}), ("b", {"report_to": "mlflow"})))
    assert training_stage(plain, 1).key == training_stage(told, 1).key


@pytest.mark.slow
def test_losses_lie_in_the_run_folder_a_folder_for_each_round(open_round: OpenRound, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    package = tmp_path / "tensorboardX"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY, "utf-8")
    folders = []
    for number in (0, 1):
        phase = open_round(
            number=number, train={"reference": "initial"}, trainer={"report_to": "tensorboard", "max_steps": 2}
        )
        recipe = phase.recipe.output / "recipe.yaml"
        command = [sys.executable, "-m", "evenhand.train.dpo", "--config", str(recipe), "--phase", phase.name]
        variables = {
            "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
            "ACCELERATE_USE_CPU": "true",
        }
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        folders.append(phase.recipe.output / "tensorboard" / f"{phase.name}-{training_stage(phase, 1).key}")
    for folder in folders:
        rows = [json.loads(line) for line in (folder / "scalars.jsonl").read_text("utf-8").splitlines()]
        assert [step for name, _, step in rows if name == "train/loss"] == [1, 2]
        assert {"train/rewards/margins", "train/learning_rate"} <= {name for name, *_ in rows}
