"""What is sent to Weights & Biases, when, and that its troubles stop nothing."""

import logging
import subprocess
import sys

import pytest

from evenhand.config import Recipe
from evenhand.errors import RecipeError
from evenhand.runfolder.phases import open_phase
from evenhand.runfolder.stages import Receipt
from evenhand.runfolder.tracking import check, flat, left_out, run_id, track, track_report, training_run

wandb = pytest.importorskip("wandb")


def recipe(tmp_path, **section):
    values = {
        "name": "small",
        "output": tmp_path / "run",
        "model": {"name": "none"},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}},
        "judges": {"overlap": {"kind": "rouge"}},
        "reward": {"judges": ["overlap"]},
        "evaluation": {"judges": ["overlap"]},
    }
    return Recipe.model_validate(values | ({"wandb": section} if section else {}))


def receipt(stage="generate", inputs="0" * 16, **counts):
    return Receipt(stage=stage, inputs=inputs, outputs={}, seconds=1.5, counts=counts, versions={})


def offline_runs(tmp_path):
    return list((tmp_path / "run").glob("wandb/offline-run-*/*.wandb"))


@pytest.fixture
def logged_out(tmp_path, monkeypatch):
    """No key in the environment, in .netrc or in the settings."""
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.setenv("HOME", str(tmp_path))
    yield
    wandb.teardown()


def test_nested_counts_get_names_joined_by_slashes_and_texts_are_left_out():
    counts = {
        "candidates": 12,
        "scored": {"overlap": 11, "words": 12},
        "signatures": {"overlap": "rouge1-recall|v:1"},
        "share": 0.5,
        "left_out": [{"stage": "judge", "judge": "overlap", "side": "left", "reason": "empty summary", "count": 1}],
    }
    assert flat(counts) == {"candidates": 12, "scored/overlap": 11, "scored/words": 12, "share": 0.5}
    assert left_out(receipt("judge", **counts)) == {"left_out/left/empty summary": 1}


def test_rows_of_one_side_and_reason_are_summed():
    # a reason that two stages gave: 2 + 3
    rows = [
        {"stage": stage, "side": "left", "reason": "empty", "count": n} for stage, n in (("rerank", 2), ("pairs", 3))
    ]
    assert left_out(receipt("rerank", left_out=rows)) == {"left_out/left/empty": 5}


def test_nothing_counted_gives_nothing():
    assert flat({}) == {}


def test_recipe_without_the_section_needs_no_wandb_and_leaves_no_mark(tmp_path):
    check(recipe(tmp_path))
    phase = open_phase(recipe(tmp_path), "round-00")
    track(phase, receipt())
    assert not phase.folder.exists()


def test_offline_needs_no_login(tmp_path, logged_out):
    check(recipe(tmp_path, mode="offline"))


def test_online_without_login_is_refused_with_the_remedies(tmp_path, logged_out):
    with pytest.raises(RecipeError, match=r"wandb\.mode.*wandb login.*WANDB_API_KEY.*mode: offline"):
        check(recipe(tmp_path, mode="online"))


def test_online_with_a_key_is_accepted_without_asking_the_server(tmp_path, logged_out, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "k" * 40)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    check(recipe(tmp_path, mode="online"))


def test_absent_wandb_is_refused_with_its_extra(tmp_path):
    code = (
        "import sys; sys.modules['wandb'] = None\n"
        "from pathlib import Path; from evenhand.runfolder.tracking import check\n"
        "from evenhand.config.recipe_file import load_recipe\n"
        "check(load_recipe(Path(sys.argv[1])))"
    )
    path = tmp_path / "recipe.yaml"
    values = recipe(tmp_path, mode="offline").model_dump_json()
    path.write_text(values)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "needs wandb, which is not installed: pip install 'evenhand[wandb]'" in done.stderr


def test_finished_stage_is_logged_once(tmp_path):
    phase = open_phase(recipe(tmp_path, mode="offline"), "round-00")
    track(phase, receipt(candidates=12))
    assert len(offline_runs(tmp_path)) == 1
    # the same receipt comes again when the stage is reused
    track(phase, receipt(candidates=12))
    assert len(offline_runs(tmp_path)) == 1
    track(phase, receipt(inputs="1" * 16, candidates=12))
    assert len(offline_runs(tmp_path)) == 2


def test_report_is_logged_as_an_evaluation_with_its_numbers_and_the_recipe(tmp_path):
    made = recipe(tmp_path, mode="offline")
    track_report(made, tmp_path / "run" / "report", receipt("report"), {"scores/rerank/overlap/left": 0.625})
    (file,) = offline_runs(tmp_path)
    content = file.read_bytes()
    for logged in (b"evaluate", b"eval/scores/rerank/overlap/left", b"0.625", b"rouge", b"small-report-report"):
        assert logged in content, logged


def test_run_goes_on_where_the_same_stage_does(tmp_path):
    made = recipe(tmp_path)
    assert run_id(made, "round-00 train", "a") == run_id(made, "round-00 train", "a")
    others = {run_id(made, "round-01 train", "a"), run_id(made, "round-00 train", "b")}
    assert run_id(made, "round-00 train", "a") not in others


def test_stage_without_a_prefix_is_left_to_its_own_logging(tmp_path):
    track(open_phase(recipe(tmp_path, mode="offline"), "round-00"), receipt(stage="train", steps=3))
    assert not offline_runs(tmp_path)


def test_refused_logging_is_one_warning_and_is_made_up_for_later(tmp_path, logged_out, caplog):
    phase = open_phase(recipe(tmp_path, mode="online"), "round-00")
    with caplog.at_level(logging.WARNING, logger="evenhand.runfolder.tracking"):
        track(phase, receipt(candidates=12))
    (warning,) = [record for record in caplog.records if record.name == "evenhand.runfolder.tracking"]
    assert "round-00 generate: not logged" in warning.getMessage()
    assert not list(phase.folder.rglob("*.tracked"))
    track(open_phase(recipe(tmp_path, mode="offline"), "round-00"), receipt(candidates=12))
    assert len(offline_runs(tmp_path)) == 1


def test_mark_that_cannot_be_written_is_a_warning(tmp_path, caplog):
    phase = open_phase(recipe(tmp_path, mode="offline"), "round-00")
    phase.folder.mkdir(parents=True)
    (phase.folder / "receipts").write_text("a file where the folder should be")
    track(phase, receipt(candidates=12))
    assert "not logged" in caplog.text


def test_users_variables_win_over_the_section(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    made = recipe(tmp_path, mode="online", project="theirs")
    check(made)
    with training_run(made, "round-00 train", "0" * 16, is_main=True) as is_logged:
        assert is_logged
        assert (wandb.run.project, wandb.run.group, wandb.run.job_type) == ("mine", "small", "train")
        assert wandb.run.id == run_id(made, "round-00 train", "0" * 16)
    assert wandb.run is None


def test_wandbs_older_words_for_modes_are_known_and_others_refused_before_any_work(tmp_path, monkeypatch):
    made = recipe(tmp_path, mode="online")
    monkeypatch.setenv("WANDB_MODE", "dryrun")
    check(made)
    monkeypatch.setenv("WANDB_MODE", "foo")
    with pytest.raises(RecipeError, match=r"WANDB_MODE is 'foo'.*online, offline"):
        check(made)


def test_a_run_that_the_caller_has_open_stays_open(tmp_path):
    with wandb.init(mode="offline", dir=str(tmp_path)) as mine:
        track_report(recipe(tmp_path, mode="offline"), tmp_path / "run" / "report", receipt("report"), {"a": 1.0})
        assert wandb.run is mine
    assert len(offline_runs(tmp_path)) == 1


def test_failed_training_ends_its_run_and_prints_no_traceback(tmp_path, capsys):
    made = recipe(tmp_path, mode="offline")
    with (
        pytest.raises(RecipeError, match="no such key"),
        training_run(made, "round-00 train", "0" * 16, is_main=True),
    ):
        raise RecipeError("no such key")
    assert wandb.run is None
    assert "Traceback" not in "".join(capsys.readouterr())


def test_a_run_that_cannot_be_ended_fails_no_training(tmp_path, monkeypatch, caplog):
    with training_run(recipe(tmp_path, mode="offline"), "round-00 train", "0" * 16, is_main=True):
        run = wandb.run
        finish = run.finish

        def broken(exit_code):
            finish(exit_code=exit_code)
            raise wandb.errors.CommError("the network is gone")

        monkeypatch.setattr(run, "finish", broken)
    assert "not all of it may be logged" in caplog.text


@pytest.mark.parametrize(("section", "is_main"), [({}, True), ({"mode": "offline"}, False)])
def test_training_without_the_section_or_beside_the_main_process_has_no_run(tmp_path, section, is_main):
    with training_run(recipe(tmp_path, **section), "round-00 train", "0" * 16, is_main=is_main) as is_logged:
        assert not is_logged
        assert wandb.run is None


def test_training_goes_on_where_wandb_refuses(tmp_path, logged_out, caplog):
    made = recipe(tmp_path, mode="online")
    with training_run(made, "round-00 train", "0" * 16, is_main=True) as is_logged:
        assert not is_logged
    assert "round-00 train: not logged with wandb" in caplog.text
