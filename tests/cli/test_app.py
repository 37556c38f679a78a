"""The command line as a user meets it: help, refusals and exit codes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from commands import started as evenhand
from quick_recipe import RECIPE
from typer.testing import CliRunner

import evenhand as package
from evenhand.cli.app import VERBS as ALL_VERBS
from evenhand.cli.app import after_interrupt, app
from evenhand.cli.terminal import summary
from evenhand.runfolder.stages import Receipt

pytestmark = pytest.mark.usefixtures("quick_commands")
# for tests of what a start imports: here nothing is imported yet
FRESH = sys.executable
REPOSITORY = Path(__file__).parents[2]
QUICKSTART = REPOSITORY / "recipes" / "quickstart.yaml"
VERBS = sorted(name.replace(".", " ") for name in ALL_VERBS if name.rpartition(".")[0] != "import")
# what has nothing to be an example of
NO_EXAMPLE = {"judges", "run"}
FERRY = (
    '{"id": "ferry", "topic": "The ferry", "documents": ['
    '{"id": "ferry/1", "text": "The ferry is cheap.", "attributes": {"stance": "left"}}, '
    '{"id": "ferry/2", "text": "The ferry is dear.", "attributes": {"stance": "right"}}]}\n'
)


def edited(folder, **replacements):
    """The quickstart recipe with lines replaced, as a file."""
    text = QUICKSTART.read_text()
    for old, new in replacements.values():
        assert old in text
        text = text.replace(old, new)
    path = folder / "recipe.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_help_teaches_with_an_example(verb):
    done = evenhand(*verb.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"evenhand {verb} " in done.stdout if verb in NO_EXAMPLE else f"Example: evenhand {verb}" in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_help_begins_with_the_audit():
    said = evenhand("--help").stdout
    assert -1 < said.index("evenhand audit") < said.index("evenhand loop")
    assert said.index("│ audit") < said.index("│ validate")


def test_help_is_one_screen_and_names_the_exit_codes():
    said = evenhand("--help").stdout
    assert "Exit codes" in said
    # a line for each verb and family, in a terminal of 100 columns
    assert len(said.strip().splitlines()) <= 46
    assert len(re.findall(r"^│ [a-z]", said, re.MULTILINE)) == sum("." not in name for name in ALL_VERBS)


@pytest.mark.parametrize("name", [name for name, verb in ALL_VERBS.items() if verb.former])
def test_a_former_spelling_still_works_and_says_the_new_one(name):
    former, words = ALL_VERBS[name].former, name.split(".")
    old, new = evenhand(former, "--help"), evenhand(*words, "--help")
    assert (old.returncode, old.stdout) == (new.returncode, new.stdout)
    assert old.stderr == f"`evenhand {former}` is now `evenhand {' '.join(words)}`\n" and not new.stderr
    assert f"│ {former} " not in evenhand("--help").stdout


def test_a_former_spelling_ends_as_the_new_one(tmp_path):
    for arguments, code in ((["zero2"], 0), (["zero9"], 2)):
        old = evenhand("accelerate", *arguments, cwd=tmp_path)
        new = evenhand("recipes", "accelerate", *arguments, cwd=tmp_path)
        assert (old.returncode, old.stdout) == (new.returncode, new.stdout) == (code, new.stdout)
        assert old.stderr == "`evenhand accelerate` is now `evenhand recipes accelerate`\n" + new.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("audt", "Did you mean 'audit'?"),
        ("merg", "Did you mean 'evenhand run merge'?"),
        ("fetch", "Did you mean 'evenhand models fetch'?"),
        ("run loop", "here. Did you mean 'evenhand loop'?"),
        ("run rerank", "here. Did you mean 'evenhand rerank'?"),
        # was a verb of its own once, and is one of a family
        ("pair", "No such command 'pair'. Did you mean 'evenhand run pairs'? ╰"),
        ("run estimat", "Did you mean 'estimate'?"),
        ("quickstart", "It is a recipe: 'evenhand loop quickstart' runs it"),
        ("run methods/debate", "It is a recipe: 'evenhand loop methods/debate' runs it"),
        ("xyzzy", "No such command 'xyzzy'."),
    ],
)
def test_a_verb_that_is_not_there_is_looked_for_elsewhere(arguments, said):
    done = evenhand(*arguments.split())
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", "").split())


def test_help_and_validate_load_no_torch(tmp_path):
    code = (
        "import sys; from evenhand.cli.app import app\n"
        f"try: app(['validate', {str(QUICKSTART)!r}])\n"
        "except SystemExit as end: assert end.code in (0, None), end.code\n"
        "heavy = {'torch', 'transformers', 'vllm', 'trl', 'matplotlib', 'datasets'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_validate_answers_when_torch_cannot_be_imported(tmp_path):
    # a torch.py that refuses stands in front of the real one
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('No module named torch', name='torch')")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    validate = [FRESH, "-m", "evenhand.cli", "validate", str(QUICKSTART)]
    options = {"capture_output": True, "text": True, "env": environment, "cwd": tmp_path}
    done = subprocess.run([*validate, "--elsewhere"], check=False, **options)
    assert done.returncode == 0, done.stderr
    # a recipe that trains cannot be trained here, and says so
    done = subprocess.run([*validate, "--set", "trainer.beta=0.3"], check=False, **options)
    assert done.returncode == 2, done.stderr
    assert "torch" in done.stderr
    assert "Traceback" not in done.stderr


def test_mistakes_of_a_recipe_are_reported_together_with_exit_code_2(tmp_path):
    path = edited(
        tmp_path,
        key=("  least_margin: 0.25", "  least_magrin: 0.25"),
        legacy=("  beta: 0.1", "  beta: 0.1\n  warmup_ratio: 0.1"),
        judge=("judges: [rouge1_recall, rouge1_key_points", "judges: [rogue1_recall, rouge1_key_points"),
    )
    done = evenhand("validate", path)
    assert done.returncode == 2
    assert "did you mean 'least_margin'?" in done.stderr
    assert "write warmup_steps" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_judge_of_the_report_is_named(tmp_path):
    path = edited(
        tmp_path, judge=("judges: [rouge1_recall, rouge1_key_points", "judges: [rogue1_recall, rouge1_key_points")
    )
    done = evenhand("validate", path)
    assert done.returncode == 2
    assert "evaluation.judges names 'rogue1_recall'" in done.stderr


def test_model_folder_that_is_none_is_refused_in_one_message(tmp_path):
    (tmp_path / "empty").mkdir()
    done = evenhand(
        "generate", QUICKSTART, "--set", f"model.name={tmp_path / 'empty'}", "--set", f"output={tmp_path / 'run'}"
    )
    assert done.returncode == 2
    assert "key 'model.name'" in done.stderr
    assert "has no config.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written_is_refused_in_one_message(tmp_path):
    (tmp_path / "file").write_text("")
    done = evenhand("generate", QUICKSTART, "--set", f"output={tmp_path / 'file' / 'run'}")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "--set output=" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_in_the_place_of_a_path_is_refused_and_no_folder_of_that_name_made(tmp_path):
    said = "begins with s3://, and files are read and written on disks alone: mount what it names"
    for options in (
        ("validate", QUICKSTART, "--set", "output=s3://bucket/run"),
        ("import", "coverage", QUICKSTART, "--labels", "semeval", "--out", "s3://bucket/a.jsonl"),
    ):
        done = evenhand(*options, cwd=tmp_path)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not list(tmp_path.iterdir())


def test_unknown_phase_names_those_there_are(tmp_path):
    done = evenhand("judge", QUICKSTART, "--phase", "round-07", "--set", f"output={tmp_path / 'run'}")
    assert done.returncode == 2
    assert "round-00, evaluation/base, evaluation/round-00" in done.stderr


def test_dry_run_shows_the_plan_and_writes_nothing(tmp_path):
    done = evenhand("loop", QUICKSTART, "--dry-run", "--set", f"output={tmp_path / 'run'}")
    assert done.returncode == 0
    # a sample of those of 20 topics; both sides of 12 topics
    assert "20 requests x 6 candidates = 120" in done.stdout
    assert "24 requests x 3 candidates = 72" in done.stdout
    assert not (tmp_path / "run").exists()
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_what_is_put_aside_is_said_before_it_is(tmp_path):
    changes = ["--set", "generate.backend=scripted", "--set", f"output={tmp_path / 'run'}"]
    assert evenhand("generate", "rerank", *changes).returncode == 0
    done = evenhand("loop", "rerank", *changes, "--set", "corpus.test.limit=2", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "changed: corpus.test.limit" in done.stdout
    assert f"{tmp_path / 'run' / 'evaluation' / 'base' / 'superseded'}: generate" in done.stdout
    assert not (tmp_path / "run" / "evaluation" / "base" / "superseded").exists()


def test_broken_corpus_is_reported_with_file_and_line(tmp_path):
    docs = tmp_path / "docs.jsonl"
    docs.write_text('{"id": "a", "documents": [{"id": "1", "text": "x"}]\n')
    done = evenhand("validate", QUICKSTART, "--set", f"corpus.path={docs}")
    assert done.returncode == 2
    assert f"{docs}:1:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.needs("plugins/polisum")
def test_import_turns_polisum_files_into_document_sets(polisum, tmp_path):
    done = evenhand("import", "polisum", polisum / "dev.json", "--out", tmp_path / "docs.jsonl")
    assert done.returncode == 0, done.stderr
    # 118 items are 59 pairs; labels are exchanged in every right-stance item
    assert "59 document sets" in done.stdout
    assert len((tmp_path / "docs.jsonl").read_text().splitlines()) == 59


def test_unknown_import_format_is_refused(tmp_path):
    done = evenhand("import", "coverag", tmp_path / "x.json", "--out", tmp_path / "y.jsonl")
    assert done.returncode == 2
    assert "coverage" in done.stderr


def test_documents_of_the_guide_can_be_reranked_without_splits(tmp_path):
    # on one line, so that a copy of it can be used
    assert f"\n{FERRY}" in (REPOSITORY / "docs/documents.md").read_text()
    (tmp_path / "docs.jsonl").write_text(FERRY)
    changes = ["--set", "corpus.path=docs.jsonl", "--set", "corpus.test.split=null"]
    done = evenhand("loop", "recipes/rerank.yaml", "--dry-run", *changes, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 requests x 9 candidates = 18" in done.stdout


def test_what_is_bound_to_fail_later_is_refused_by_validate_all_together(tmp_path):
    path = edited(
        tmp_path,
        model=("  name: embedded:smollm2-135m-instruct", "  name: ./nowhere"),
        launch=("  accelerate_config: cpu", "  accelerate_config: zeroo"),
        judge=("coverage: &coverage {kind: alignment,", "coverage: &coverage {kind: alignment, model: ./nobody,"),
    )
    done = evenhand("validate", path, "--set", "generate.python=/no/python")
    assert done.returncode == 2
    for wrong in ("key 'model.name'", "'zeroo' is neither shipped", "key 'judges.coverage.model'", "'/no/python'"):
        assert wrong in done.stderr


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("hf_token=hf_SECRET", "give the secret in the environment"),
        ("trust_remote_code=true", "is not for a recipe"),
        ("logits_processors=[]", "is not for a recipe"),
    ],
)
def test_engine_keys_that_a_recipe_must_not_set_are_refused(key, said):
    done = evenhand("validate", QUICKSTART, "--set", f"generate.engine.{key}")
    assert done.returncode == 2
    assert said in done.stderr
    assert "hf_SECRET" not in done.stderr


def test_names_are_data_and_not_markup(tmp_path):
    done = evenhand("validate", QUICKSTART, "--set", "output='runs/[red]x[/]'")
    assert done.returncode == 0, done.stderr
    assert "runs/[red]x[/]" in done.stdout


def test_interrupt_says_that_the_same_command_continues(tmp_path):
    changes = ["generate.backend=scripted", "generate.engine={seconds_per_batch: 20}", f"output={tmp_path / 'run'}"]
    command = [FRESH, "-m", "evenhand.cli", "generate", str(QUICKSTART)]
    for change in changes:
        command += ["--set", change]
    # a shell that starts the tests in the background has its children ignore interrupts
    child = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not (tmp_path / "run" / "round-00" / "requests.jsonl").exists():
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "the same command continues" in said


@pytest.mark.parametrize(
    ("module", "said"),
    [
        # before the command line is there, and when a verb has begun
        ("typer", "interrupted; nothing had begun"),
        ("evenhand/loop", "interrupted; the same command continues"),
    ],
)
def test_interrupt_during_an_import_ends_in_one_line(tmp_path, module, said):
    # a finder that interrupts the process when it is asked for the module, and turns what comes of it into another error
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module.replace('/', '.')!r}:\n"
        "            try:\n"
        "                os.kill(os.getpid(), signal.SIGINT)\n"
        "            except KeyboardInterrupt as error:\n"
        "                raise ImportError('not initialised') from error\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [FRESH, "-m", "evenhand", "validate", str(QUICKSTART)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stderr) == (130, f"{said}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "--documents", "loop"], "nothing was kept"),
        (["audit", "--model", "m@http://here/v1"], "the same command continues"),
        (["init", "--model", "m"], "nothing was kept"),
        (["import", "table"], "nothing was kept"),
        (["run", "export", "audit"], "nothing was kept"),
        (["export", "audit"], "nothing was kept"),
        (["run", "merge", "audit"], "the same command continues"),
        (["compare", "audit"], "the same command continues"),
        ([], "the same command continues"),
    ],
)
def test_verbs_that_write_at_their_end_do_not_promise_to_continue(arguments, said):
    assert after_interrupt(arguments) == said


def test_piped_steps_have_a_line_at_their_start_and_their_end_and_quiet_ones_none(tmp_path):
    changes = ["generate.backend=scripted", "generate.engine={}", "corpus.test.limit=1", f"output={tmp_path / 'run'}"]
    options = ["--phase", "evaluation/base", *(part for change in changes for part in ("--set", change))]
    done = evenhand("generate", QUICKSTART, *options)
    assert done.returncode == 0, done.stderr
    started, ended = done.stdout.splitlines()
    assert started.startswith("evaluation/base generate  started at ")
    assert ended.startswith("evaluation/base generate ")
    assert "2 requests" in ended
    assert "\r" not in done.stdout
    again = evenhand("generate", QUICKSTART, *options, "-q")
    assert "started" not in again.stdout
    assert "reused" in again.stdout
    assert again.stderr == ""


def test_verbose_says_what_libraries_log():
    code = (
        "import logging, sys; from evenhand.cli.app import app; from evenhand.extras import start_logging\n"
        "start_logging()\n"
        "try: app(['env', *sys.argv[1:]])\n"
        "except SystemExit: pass\n"
        "logging.getLogger('anything').info('from a library')\n"
        "logging.getLogger('evenhand.loop').warning('from ourselves')\n"
    )
    said = {}
    for options in ([], ["-q"], ["-v"]):
        done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=True)
        said["".join(options)] = [line.rpartition(": ")[2] for line in done.stderr.splitlines()]
    assert said == {"": ["from ourselves"], "-q": [], "-v": ["from a library", "from ourselves"]}


def test_extras_that_are_missing_and_untried_versions_are_named_each_with_what_installs_it(monkeypatch):
    for library in ("nltk", "networkx", "spacy"):
        monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["pydantic<2; extra == 'train'", "numpy<1000"])
    monkeypatch.setattr("evenhand.runfolder.stages.RECORDED", ("pydantic", "numpy"))
    said = CliRunner().invoke(app, ["env"]).output.splitlines()
    (untried,) = (line for line in said if "was not tried" in line)
    assert untried.startswith("pydantic 2") and untried.endswith("pip install 'pydantic<2'")
    assert "extra bias is missing (spacy): pip install 'evenhand[bias]'" in said
    assert "extra fairness is missing (nltk, networkx): pip install 'evenhand[fairness]'" in said


@pytest.mark.needs("plugins/server")
def test_cache_shows_and_forgets(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    assert str(tmp_path) in evenhand("cache").stdout
    assert "0 judgements, 0 embeddings, 0 pairs' reference" in evenhand("cache", "--clear").stdout


@pytest.mark.needs("plugins/judge_studies")
def test_benchmark_judges_ends_with_tables_and_a_page(tmp_path):
    (tmp_path / "sets.jsonl").write_text(
        '{"id": "a", "passages": ["The ferry is cheap."], "n_key_points": 1, "summaries": '
        '[{"text": "It is cheap.", "relevant": 1}, {"text": "It is dear, they say.", "relevant": 0, "opposite": 1}]}\n'
    )
    done = evenhand("judges", "benchmark", "sets.jsonl", "--out", "bench", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rougeL-precision" in done.stdout
    assert "length" in done.stdout
    assert (tmp_path / "bench" / "index.html").is_file()
    absent = evenhand("judges", "benchmark", "none.jsonl", cwd=tmp_path)
    assert absent.returncode == 2
    assert "none.jsonl" in absent.stderr


def test_a_report_says_what_it_found_and_where_it_lies(tmp_path):
    recipe = RECIPE | {"output": str(tmp_path / "run"), "evaluation": {"judges": ["words"], "resamples": 200}}
    found = package.run(recipe).found
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(recipe))
    said = " ".join(evenhand("report", tmp_path / "quick.yaml").stdout.split())
    assert found.warnings and all(" ".join(f"warning: {each}".split()) in said for each in found.warnings)
    assert found.title in said and f"report: {tmp_path / 'run' / 'report' / 'index.html'}" in said


def test_a_step_counts_one_of_a_kind_as_one():
    counts = {"differences": 6, "warnings": 1}
    receipt = Receipt(stage="report", inputs="inputs", outputs={}, seconds=1.5, counts=counts, versions={})
    assert summary("report", receipt, reused=False).endswith("6 differences, 1 warning")
    made = receipt.model_copy(update={"counts": {"summaries": 1, "stopped_by_max_tokens": 1}})
    assert summary("summarise", made, reused=False).endswith("1 summary, 1 stopped by max tokens")


def test_a_refused_training_leaves_the_finished_adapter_where_it_is(tmp_path, tiny_model):
    pytest.importorskip("trl")
    values = RECIPE | {
        "output": str(tmp_path / "run"),
        "model": {"name": str(tiny_model), "dtype": "float32"},
        "train": {"accelerate_config": "cpu", "pairs": str(tmp_path / "pairs.jsonl")},
        "rounds": 1,
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(values))
    (tmp_path / "pairs.jsonl").write_text('{"prompt": "Ferries?", "chosen": "They float.", "rejected": "No."}\n')
    folder = tmp_path / "run" / "round-00"
    (folder / "adapter").mkdir(parents=True)
    (folder / "training.json").write_text("{}")
    (folder / "receipts").mkdir()
    finished = Receipt(
        stage="train", inputs="another", outputs={"adapter": "", "training.json": ""}, seconds=1, counts={}, versions={}
    )
    (folder / "receipts" / "train.json").write_text(finished.model_dump_json())
    found = evenhand("train", tmp_path / "tiny.yaml", "--set", "trainer.optim=galore_adamw")
    assert found.returncode == 2, found.stderr
    assert "error: key 'trainer.optim': galore_adamw cannot be had here" in found.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["adapter", "receipts", "training.json"]
    assert not (tmp_path / "run" / "recipe.yaml").exists()
    # before a library of training is loaded
    found = evenhand("train", tmp_path / "tiny.yaml", "--max_length", "2")
    assert found.returncode == 2, found.stderr
    assert "trainer.max_length 2 leaves 2" in found.stderr and "accelerate" not in found.stderr
