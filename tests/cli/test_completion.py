"""What a shell is told when it completes a command line, as the shells ask it."""

import os
import resource
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("quick_commands")


def completed(*words, cwd, asks="bash", started=("-m", "evenhand")):
    """What a shell is answered that asks about the last word."""
    environment = {**os.environ, "_EVENHAND_COMPLETE": f"complete_{asks}"}
    if asks == "bash":
        environment |= {"COMP_WORDS": "\n".join(["evenhand", *words]), "COMP_CWORD": str(len(words))}
    else:
        environment |= {
            "_TYPER_COMPLETE_ARGS": " ".join(["evenhand", *words]),
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
    done = subprocess.run(
        [sys.executable, *started], capture_output=True, text=True, check=False, env=environment, cwd=cwd
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("loop qui", ["quickstart"]),
        ("recipes show methods/dpo", ["methods/dpo", "methods/dpo-rouge-proxy"]),
        (
            "prompts show generate/persp",
            [f"generate/perspective{x}" for x in ("-labels", "-short-labels", "-short", "")],
        ),
        ("compare quickstart reran", ["rerank"]),
        ("run estimate quick", ["quickstart"]),
        ("judges benchm", ["benchmark"]),
        ("judges audit sample --judges quick", ["quickstart"]),
        ("judges audit sam", ["sample"]),
        ("import cov", ["coverage"]),
        ("import coverage --labels a", ["amazon", "article-bias"]),
        ("import perspec", ["perspectivesumm"]),
        ("audit --documents revi", ["reviews"]),
        ("audit --summaries even", ["even-handed"]),
        ("audit --measures order,val", ["order,value-shares"]),
        ("audit --matcher b", ["bertscore", "bartscore"]),
        ("audit --entailer e", ["encoder"]),
        ("recipes accelerate zero2", ["zero2", "zero2_cpu"]),
        ("generate quickstart --phase eval", ["evaluation/base", "evaluation/round-00"]),
        ("models fetch smol", ["smollm2-135m-instruct"]),
        ("init --goal t", ["train"]),
        ("run export runs/a --to r", ["ranked", "rewards"]),
        ("loop quickstart --set evaluation.rou", ["evaluation.rounds="]),
        # bash breaks words at "=" and ":", and keeps what stands before
        ("loop quickstart --set generate.method = deb", ["debate"]),
        ("loop quickstart --set judges.nli.kind = minich", ["minicheck"]),
        ("loop quickstart --set pairs.mode = best", ["best_k"]),
        ("loop quickstart --set train.shuffle = s", ["sets"]),
        ("init --model embedded : smol", ["smollm2-135m-instruct"]),
        # where no name fits, nothing is answered, and the shell completes files
        ("loop nothing-of-that-name", []),
    ],
)
def test_names_complete(words, answer, tmp_path):
    assert completed(*words.split(), cwd=tmp_path) == answer


def test_files_of_recipes_complete_beside_names(tmp_path):
    (tmp_path / "quick.yaml").write_text("")
    (tmp_path / "quiet.txt").write_text("")
    assert completed("loop", "qui", cwd=tmp_path) == ["quickstart", "quick.yaml"]


def test_all_kinds_of_values_are_told_without_a_beginning(tmp_path):
    words = ("loop", "quickstart", "--set", "generate.method", "=")
    assert {"zero-shot", "debate", "self-refine"} <= {*completed(*words, cwd=tmp_path)}
    assert {"validate", "loop", "judges", "run", "init"} <= {*completed("", cwd=tmp_path)}
    # a former spelling is no longer taught
    assert not {"merge", "audit-judge"} & {*completed("", cwd=tmp_path)}


def test_other_shells_have_whole_words(tmp_path):
    words = ("loop", "quickstart", "--set", "generate.method=deb")
    assert "generate.method=debate" in " ".join(completed(*words, cwd=tmp_path, asks="fish"))


def test_completion_is_quick_and_loads_no_torch(tmp_path):
    code = (
        "import atexit, sys\n"
        "heavy = {'torch', 'transformers', 'vllm', 'datasets', 'scipy'}\n"
        "atexit.register(lambda: print(*heavy & set(sys.modules), file=sys.stderr, end=''))\n"
        "sys.argv = ['evenhand']; from evenhand.cli import main; main()"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert completed("loop", "qui", cwd=tmp_path, started=("-c", code)) == ["quickstart"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # processor seconds, which other processes of the machine lengthen: half of what a person would call slow
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2
