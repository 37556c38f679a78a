"""`evenhand init`: a first recipe by four questions in a terminal, or by options without one."""

import os
import pty
import subprocess
import sys

import pytest
from commands import started as evenhand

from evenhand.config.recipe_file import load_recipe
from evenhand.preflight import preflight

pytestmark = pytest.mark.usefixtures("quick_commands")
MODEL = "embedded:smollm2-135m-instruct"
TABLE = "thread,body,party,day\n" + "".join(
    f"{topic},{topic} is {word}.,{party},{day}\n"
    for day, (topic, party, word) in enumerate(
        (topic, party, word)
        for topic in ("Ferry", "Trams", "Parks", "Bikes")
        for party, word in (("red", "cheap"), ("blue", "dear"))
    )
)


def in_terminal(answers, *arguments, cwd):
    """Exit code and all that a terminal shows, of a command that is answered these lines."""
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    with subprocess.Popen(
        [sys.executable, "-m", "evenhand.cli", *map(str, arguments)],
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
    ) as process:  # fmt: skip
        os.close(theirs)
        said = process.stdout.read()
    os.close(ours)
    return process.returncode, said


@pytest.mark.parametrize("goal", ["rerank", "train"])
@pytest.mark.parametrize(
    ("documents", "model"),
    [
        (["sample"], MODEL),
        (["reviews", "--attribute", "sentiment"], "meta-llama/Llama-3.1-8B-Instruct"),
        (["docs.csv", "--columns", "set=thread,text=body", "--sides", "red,blue"], "some/model"),
    ],
    ids=["sample", "reviews", "table"],
)
def test_a_recipe_by_options_holds_and_names_what_follows(documents, model, goal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.csv").write_text(TABLE)
    done = evenhand("init", "mine.yaml", "--documents", *documents, "--model", model, "--goal", goal, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("next: evenhand validate mine.yaml\nthen: evenhand loop mine.yaml\n")
    lines = (tmp_path / "mine.yaml").read_text().splitlines()
    assert len(lines) <= 25 and all(len(line) <= 120 for line in lines)
    recipe = load_recipe(tmp_path / "mine.yaml")
    preflight(recipe, elsewhere=True)
    assert (recipe.model.name, recipe.rounds) == (model, int(goal == "train"))


def test_what_documents_offer_is_said_and_written(tmp_path):
    (tmp_path / "docs.csv").write_text(TABLE)
    columns = ("--documents", "docs.csv", "--columns", "set=thread,text=body")
    done = evenhand("init", *columns, "--model", MODEL, "--goal", "rerank", cwd=tmp_path)
    # days are all different, and group nothing
    assert "docs.csv: its documents can be grouped by party (red 4 and blue 4)\n" in done.stdout, done.stderr
    assert "  attribute: party  # red 4, blue 4 documents\n" in (tmp_path / "recipe.yaml").read_text()


def test_a_model_of_a_server_is_named_with_its_address(tmp_path):
    options = ("--documents", "sample", "--model", "qwen2.5:1.5b@http://localhost:9/v1")
    assert evenhand("init", *options, "--goal", "rerank", cwd=tmp_path).returncode == 0
    recipe = load_recipe(tmp_path / "recipe.yaml")
    assert (recipe.model.name, recipe.generate.server.base_url) == ("qwen2.5:1.5b", "http://localhost:9/v1")
    done = evenhand("init", "b.yaml", *options, "--goal", "train", cwd=tmp_path)
    assert done.returncode == 2 and "its server's; write rerank" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "options: --documents FILE, --attribute NAME, --model NAME, --goal rerank|train"),
        (["--documents", "sample"], "options: --model NAME, --goal rerank|train"),
        (["--documents", "two.jsonl"], "--attribute NAME (stance (left 1 and right 1); tone (mild 1 and harsh 1)), --model"),
        (["--documents", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["--documents", "broken.jsonl"], "broken.jsonl:1:"),
        (["--documents", "bare.jsonl"], "have no attribute to be grouped by"),
        (["--documents", "table.csv"], "table.csv: has no column 'set'"),
        (["--documents", "sample", "--model", "embedded:smollm", "--goal", "rerank"], "model 'smollm' is not known"),
        (["--documents", "sample", "--model", "s3://bucket/model", "--goal", "rerank"], "NAME@http://HOST/v1"),
        (["--documents", "sample", "--attribute", "stanse", "--model", MODEL, "--goal", "rerank"], "did you mean 'stance'?"),
        (["--documents", "sample", "--sides", "left,rihgt", "--model", MODEL, "--goal", "rerank"], "did you mean 'right'?"),
        (["notes.txt"], "notes.txt: name a file that ends in .yaml"),
        (["there.yaml"], "there.yaml: is there already; name another file, or add --force"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_nothing_is_written(options, said, tmp_path):
    documents = [f'{{"id": "{i}", "text": "It is.", "attributes": {{%s}}}}' for i in "ab"]
    two = ", ".join(documents) % ('"stance": "left", "tone": "mild"', '"stance": "right", "tone": "harsh"')
    (tmp_path / "two.jsonl").write_text(f'{{"id": "ferry", "documents": [{two}]}}\n')
    (tmp_path / "bare.jsonl").write_text('{"id": "ferry", "documents": [{"id": "a", "text": "It is."}]}\n')
    (tmp_path / "broken.jsonl").write_text('{"id": "ferry", "documents": [\n')
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "there.yaml").write_text("mine\n")
    done = evenhand("init", *options, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["there.yaml"]
    assert (tmp_path / "there.yaml").read_text() == "mine\n"


def test_four_questions_in_a_terminal_are_asked_until_they_are_answered(tmp_path):
    # the documents, the one attribute there is, a model at the second try, and what is usual
    code, said = in_terminal("sample\n\nembedded:nobody\n" + MODEL + "\ntrian\ntrain\n", "init", cwd=tmp_path)
    assert code == 0, said
    assert [said.count(f"{n} of 4. ") for n in (1, 2, 3, 4)] == [1, 1, 2, 2]
    assert "embedded model 'embedded:nobody'" in said or "embedded model 'nobody' is not known" in said
    assert "'trian': write rerank or train; did you mean 'train'?" in said
    assert load_recipe(tmp_path / "recipe.yaml").rounds == 1


def test_what_options_say_is_not_asked(tmp_path):
    options = ("--documents", "sample", "--attribute", "stance", "--goal", "rerank")
    code, said = in_terminal("\n", "init", *options, cwd=tmp_path)
    assert code == 0 and said.count(" of 4. ") == said.count("3 of 4. ") == 1, said
