"""Replicas on machines with disks of their own: found out, and never taken for work that was done."""

import pytest
from method_runs import make_recipe

from evenhand.errors import StorageError
from evenhand.records import Record
from evenhand.runfolder.assignments import Assignment, commands, refuse_unseen
from evenhand.runfolder.phases import hold_run, open_phase
from evenhand.runfolder.shards import WHOLE, Shard
from evenhand.runfolder.stages import Stage
from evenhand.storage import write_text


def started(folder, executor="local", key="a"):
    """The phase of a run that is under way, its stage, and what its replicas are told."""
    recipe = make_recipe("zero-shot", folder / "run").model_copy(update={"executor": executor})
    write_text(recipe.output / "recipe.yaml", "")
    phase = open_phase(recipe, "evaluation/base")
    stage = Stage("generate", phase.folder, {"key": key}, ())
    return phase, stage, commands(phase, stage, WHOLE, "a.module", "grade")


def test_the_process_reads_what_it_was_told(tmp_path):
    phase, stage, command = started(tmp_path)
    argv, failure = command("replica-2")
    assert argv[:2] == ("-m", "a.module")
    mine, others = Assignment.read(argv[2:])
    assert others == ["grade"]
    assert mine == (phase.recipe.output / "recipe.yaml", phase.name, "generate", stage.key, Shard(0, 1), "replica-2")
    assert mine.failure == failure == phase.folder / "receipts" / "generate.replica-2.failure.json"
    assert mine.journal(stage, Record).path == stage.journal_path("replica-2")
    with pytest.raises(StorageError, match="a model changed while the stage was running"):
        mine.journal(started(tmp_path, key="b")[1], Record)


@pytest.mark.needs("plugins/ray")
def test_on_a_cluster_no_two_commands_have_journals_of_one_name(tmp_path):
    names = {Assignment.read(started(tmp_path, "ray")[2]("replica-1").argv[2:])[0].part for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("replica-1.") for name in names)


def test_a_folder_in_which_no_command_is_at_work_is_another_one_of_that_name(tmp_path, monkeypatch):
    phase, _, command = started(tmp_path)
    mine, _ = Assignment.read(command("replica-1").argv[2:])
    with hold_run(phase.recipe):
        # as a child of it would
        monkeypatch.setattr("os.getpid", lambda: 1)
        with mine.held(phase.recipe):
            pass
    monkeypatch.undo()
    monkeypatch.setenv("EVENHAND_COMMAND", "1-of-another-machine")
    with pytest.raises(
        StorageError, match=r"run: on the machine .* is not the folder that the command works in.*all machines share"
    ):
        mine.held(phase.recipe).__enter__()


def test_what_is_done_and_not_seen_is_waited_for_and_refused(tmp_path):
    seen = iter([5, 2, 0])
    refuse_unseen(lambda: next(seen), tmp_path)
    assert next(seen, None) is None
    with pytest.raises(
        StorageError, match=r"receipts: of 3 requests that processes on other machines have done.*does them again"
    ):
        refuse_unseen(lambda: 3, tmp_path, patience=0)
