"""Rounds kept in the journal: a kill loses only the round in flight, and the same bytes come out."""

import subprocess
import sys
import time

import pytest
from method_runs import Noting, make_recipe

from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import StorageError
from evenhand.generate.backend import Ask
from evenhand.generate.rounds import KeptRounds, Round
from evenhand.generate.scripted import ScriptedBackend
from evenhand.generate.stage import JournalLine, generate, generate_stage, phase_requests
from evenhand.records import Message, Sampling
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.phases import CANDIDATES, FAILURES, TURNS, open_phase


def ask(text, seed=0):
    return Ask(prompt=(Message(role="user", content=text),), sampling=Sampling(), seed=seed)


def echo(ask):
    return f"{ask.prompt[-1].content}!"


def test_rounds_are_kept_when_the_next_begins_and_the_last_is_not():
    kept = []
    backend = KeptRounds(ScriptedBackend(echo), "b3", [], kept.append)
    backend.complete([ask("one"), ask("two", 1)])
    assert kept == []
    backend.complete([ask("three")])
    (found,) = kept
    assert (found.batch, found.call, [reply.text for reply in found.replies]) == ("b3", 0, ["one!", "two!"])


def test_kept_rounds_are_answered_without_the_backend_and_counted(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", Round)
    first = KeptRounds(ScriptedBackend(echo), "b0", [], lambda each: journal.append([each]))
    said = [first.complete([ask("one"), ask("two", 1)]), first.complete([ask("three four")])]
    real = Noting(echo)
    second = KeptRounds(real, "b0", list(Journal(tmp_path / "journal.jsonl", Round)), journal.append)
    assert [second.complete([ask("one"), ask("two", 1)]), second.complete([ask("three four")])] == said
    assert real.calls == [[ask("three four")]]
    # one and two words, as the scripted backend counts tokens
    assert (first.usage.prompt_tokens, second.usage.prompt_tokens) == (4, 4)


def test_replies_to_other_questions_are_refused():
    kept = []
    backend = KeptRounds(ScriptedBackend(echo), "b0", [], kept.append)
    backend.complete([ask("one")])
    backend.complete([ask("two")])
    with pytest.raises(StorageError, match=r"replies to other questions than those of call 0; delete it"):
        KeptRounds(ScriptedBackend(echo), "b0", kept, kept.append).complete([ask("one", seed=1)])


def phase(tmp_path, output, requests_per_batch=16, seconds_per_batch=0.3):
    options = {
        "requests_per_batch": requests_per_batch,
        "engine": {"seconds_per_batch": seconds_per_batch},
        "self_refine": {"rounds": 2},
    }
    recipe = make_recipe("self-refine", tmp_path / output, **options)
    return open_phase(recipe, "evaluation/base")


def journalled_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed_after(made, n_lines):
    """Start the stage in a process of its own and kill it when its journal has so many lines; those that it has."""
    recipe = made.recipe.output / "recipe.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(dump_recipe(made.recipe))
    journal = generate_stage(made, phase_requests(made)).journal_path()
    command = [sys.executable, "-m", "evenhand.cli", "generate", str(recipe), "--phase", made.name]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 50
        while journalled_lines(journal) < n_lines and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.poll() is None, "the stage ended before it could be killed"
    finally:
        process.kill()
        process.wait()
    return [line.root for line in Journal(journal, JournalLine)]


@pytest.mark.needs("plugins/self_refine")
def test_rounds_of_a_batch_that_is_cut_otherwise_are_asked_again(tmp_path):
    whole = phase(tmp_path, "undisturbed", seconds_per_batch=0)
    generate(whole)
    made = phase(tmp_path, "continued", requests_per_batch=5, seconds_per_batch=0)
    requests = phase_requests(made)
    journal = Journal(generate_stage(made, requests).journal_path(), JournalLine)
    of_other_cut = Round(batch="other", call=0, asked="", replies=(), prompt_tokens=9, prefilled_tokens=9)
    journal.append([JournalLine(of_other_cut)])
    generate(made)
    for name in (CANDIDATES, FAILURES, TURNS):
        assert (made.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name


@pytest.mark.needs("plugins/self_refine")
@pytest.mark.slow
def test_killed_between_rounds_the_stage_continues_with_the_round_in_flight(tmp_path, monkeypatch):
    whole = phase(tmp_path, "undisturbed")
    receipt, _ = generate(whole)
    made = phase(tmp_path, "killed")
    # five calls a batch: four rounds and the batch itself; the kill falls into the second of two batches
    lines = killed_after(made, 7)
    assert [type(line).__name__ for line in lines[:7]] == ["Round"] * 4 + ["FinishedBatch"] + ["Round"] * 2
    asked = []
    with monkeypatch.context() as patch:
        complete = ScriptedBackend.complete
        patch.setattr(
            ScriptedBackend, "complete", lambda backend, asks: asked.append(len(asks)) or complete(backend, asks)
        )
        continued, _ = generate(made)
    # five calls a batch: those of the second that the journal held when the kill fell are not asked again
    assert len(asked) == 5 - sum(isinstance(line, Round) and line.batch == lines[5].batch for line in lines)
    for name in (CANDIDATES, FAILURES, TURNS):
        assert (made.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name
    assert continued.counts == receipt.counts
    assert receipt.counts["turns"] == 5 * receipt.counts["candidates"]
