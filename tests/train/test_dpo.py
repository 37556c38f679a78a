import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.runfolder.phases import Phase
from evenhand.train.dpo import main


def test_wrong_recipe_ends_with_its_exit_code_and_all_mistakes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, open_round: Callable[..., Phase]
) -> None:
    recipe = open_round().recipe.output / "recipe.yaml"
    code = main(["--config", str(recipe), "--set", "trainer.warmup_ratio=0.1", "--set", "lora.rank=8"])
    assert code == 2
    assert "'lora.rank' is not known" in caplog.text
    assert "write warmup_steps" in caplog.text


def test_unreadable_recipe_ends_with_one_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert main(["--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: cannot be read" in caplog.text


@pytest.mark.parametrize(("local", "is_told"), [("0", True), ("1", False)])
def test_what_another_machine_does_not_see_is_told_once_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, local: str, is_told: bool
) -> None:
    monkeypatch.setenv("RANK", "8")
    monkeypatch.setenv("LOCAL_RANK", local)
    assert main(["--config", str(tmp_path / "none.yaml"), "--stage-key", "a"]) == 2
    assert (f"{socket.gethostname()}: {tmp_path}/none.yaml: cannot be read" in caplog.text) is is_told


def test_unknown_phase_lists_the_known_ones(open_round: Callable[..., Phase], caplog: pytest.LogCaptureFixture) -> None:
    recipe = open_round().recipe.output / "recipe.yaml"
    assert main(["--config", str(recipe), "--phase", "round-07"]) == 2
    assert "round-00, round-01" in caplog.text


def test_round_without_pairs_ends_with_what_to_do(
    open_round: Callable[..., Phase], caplog: pytest.LogCaptureFixture
) -> None:
    phase = open_round()
    (phase.folder / "pairs.jsonl").unlink()
    assert main(["--config", str(phase.recipe.output / "recipe.yaml")]) == 2
    assert "there are no preference pairs yet" in caplog.text


def test_recipe_is_checked_before_torch_is_imported(open_round: Callable[..., Phase]) -> None:
    recipe = open_round().recipe.output / "recipe.yaml"
    code = (
        "import sys; from evenhand.train.dpo import main; "
        f"code = main(['--config', {str(recipe)!r}, '--set', 'trainer.betta=1']); "
        "heavy = {'torch', 'transformers', 'trl', 'peft'} & sys.modules.keys(); print(code, sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2 []"
    assert "did you mean 'beta'?" in done.stderr


HOLDER = "import sys; from pathlib import Path; from evenhand.runfolder.processes import hold\n"
HOLDER += "with hold(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_training_by_hand_is_refused_while_another_command_works_in_the_run_folder(
    open_round: Callable[..., Phase], caplog: pytest.LogCaptureFixture
) -> None:
    output = open_round().recipe.output
    recipe = output / "recipe.yaml"
    before = sorted(output.rglob("*"))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(output)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert main(["--config", str(recipe)]) == 1
        other.communicate()
    assert "at work there" in caplog.text
    assert sorted(output.rglob("*")) == sorted([*before, output / ".lock"])
