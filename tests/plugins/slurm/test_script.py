"""Words of job scripts: real bash and a stub of sbatch read exactly the words that were given, and run nothing else."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from method_runs import make_recipe

from evenhand.config.recipe_file import load_recipe, recipe_of
from evenhand.errors import RecipeError
from evenhand.loop import steps
from evenhand.plugins.slurm.script import command_line, option_line, refuse_words
from evenhand.plugins.slurm.slurm import Nodes, Scripts, jobs
from evenhand.train.launch import srun

# what a shell would take for something else
PIECES = (
    *"\\'\"#*?~!-=&();$ax",
    *(
        "`touch ran`",
        "$(touch ran)",
        "${HOME}",
        ";touch ran;",
        "&& touch ran",
        "| touch ran",
        "> ran",
        "  ",
        "\\n",
        "\\'",
        "[a]",
    ),
    *("{a,b}", "!!", "--", "-rf", "A=b", "%j", "%%", "caf\u00e9", "\u5de6", "EOF", "$'a'", " "),
)
WORDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
LINE_BREAKS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
CONTROLS = ("\x00", "\x07", "\x1b[31m", "\x7f", "\x9b", "\t", "\udcff")


def small(folder, **values):
    return recipe_of(
        make_recipe("zero-shot", str(folder / "run")).model_dump(mode="json", exclude_defaults=True) | values
    )


def scripts(recipe, nodes):
    return Scripts(recipe, nodes, tuple(jobs(recipe, steps(recipe), nodes, 1)))


def words_of_sbatch(line):
    """The words of a line of options, as sbatch 22.05 was seen to read them."""
    words, word, quote, is_escaped = [], None, "", False
    for character in line.removeprefix("#SBATCH"):
        if not quote and character.isspace() and character.isascii():
            words += [] if word is None else [word]
            word, is_escaped = None, False
        elif is_escaped:
            word, is_escaped = (word or "") + character, False
        elif character == "\\":
            is_escaped = True
        elif quote and character == quote:
            quote = ""
        elif not quote and character in "'\"":
            word, quote = word or "", character
        elif not quote and character == "#":
            break
        else:
            word = (word or "") + character
    return words + ([] if word is None else [word])


@settings(max_examples=100, deadline=None)
@given(WORDS)
@example("--comment=it's \\ 'two' \"words\"")
def test_sbatch_reads_an_option_as_one_word(value):
    option = f"--comment={value}"
    assert words_of_sbatch(option_line(option)) == [option]
    assert shlex.split(option_line(option).removeprefix("#SBATCH ")) == [option]


def run(script, folder):
    """What bash says of a script; nothing else may come of it."""
    done = subprocess.run(["/bin/bash", "-c", script], cwd=folder, capture_output=True, check=False)
    assert not (folder / "ran").exists()
    return done


def test_bash_gives_a_command_exactly_its_words(tmp_path):
    program = tmp_path / "print words"
    program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\necho\n")
    program.chmod(0o755)
    found = []

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.lists(WORDS, max_size=3))
    def collect(words):
        found.append(words)

    collect()
    done = run("\n".join(command_line([str(program), *words]) for words in found), tmp_path)
    assert done.stdout.decode() == "".join("\0".join([*words, ""] if words else ["", ""]) + "\n" for words in found)
    assert not done.stderr


@pytest.mark.parametrize(
    "program", ["if", "then", "!", "{", "A=b", "PATH=.", "-x", "~/python", "a b", "$(touch ran)", "[["]
)
def test_a_program_is_never_a_keyword_or_an_assignment(program, tmp_path):
    done = run(command_line([program, "-m", "evenhand"]), tmp_path)
    assert done.returncode in {2, 126, 127}
    assert program.encode() in done.stderr and b"syntax" not in done.stderr


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from([each for each in PIECES if "\\" not in each]), min_size=1, max_size=4).map("".join))
def test_a_whole_script_runs_the_commands_of_its_steps_and_nothing_else(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("names") / (name.replace("/", "_") + "x")
    folder.mkdir()
    program, said = folder / "python", folder / "said"
    program.write_text(
        f"#!/bin/sh\nprintf '%s\\0' \"$@\" >>{shlex.quote(str(said))}\necho >>{shlex.quote(str(said))}\n"
    )
    program.chmod(0o755)
    generate = {"backend": "scripted", "plans": {"nucleus": {}}, "python": str(program)}
    mine = small(folder, generate=generate)
    made = scripts(mine, Nodes(options=(f"--comment={name}",)))
    made.write()
    (path,) = made.paths()
    assert load_recipe(made.copy) == mine
    options = [words_of_sbatch(line) for line in path.read_text().splitlines() if line.startswith("#SBATCH")]
    assert all(len(words) == 1 for words in options)
    assert [f"--comment={name}"] in options and [f"--chdir={Path.cwd()}"] in options
    # all steps by the stub, the interpreter too
    text = path.read_text().replace(shlex.quote(sys.executable), shlex.quote(str(program)))
    assert run(text, folder).returncode == 0
    verbs = ["validate", *(step.verb for job in made.jobs for step in job.steps)]
    lines = [line.split("\0") for line in said.read_text().split("\0\n")[:-1]]
    assert [words[:4] for words in lines] == [["-m", "evenhand", verb, str(made.copy)] for verb in verbs]


@settings(max_examples=20, deadline=None)
@given(WORDS)
def test_what_srun_starts_on_each_machine_has_exactly_its_words(tmp_path_factory, word):
    folder = tmp_path_factory.mktemp("bin")
    for name, text in {
        "scontrol": "#!/bin/sh\necho 'NodeName=a NodeAddr=10.0.0.1 '\n",
        "python": "#!/bin/sh\nprintf '%s\\0' \"$@\"\n",
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    command = srun(str(folder / "python"), 2, ["--config_file", word], {})
    variables = {
        "PATH": f"{folder}:/usr/bin:/bin", "SLURM_STEP_NODELIST": "a", "SLURM_STEP_NUM_NODES": "2", "SLURM_PROCID": "1",
        "SLURM_JOB_ID": "7",
    }  # fmt: skip
    after = command[command.index("bash") :]
    done = subprocess.run(after, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.split("\0")[-3:] == ["--config_file", word, ""]
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("character", [*LINE_BREAKS, *CONTROLS])
def test_what_no_script_can_hold_is_refused_by_its_key(character, tmp_path):
    word = f"a{character}touch ran"
    said = "a line break" if character in {*LINE_BREAKS} - {"\x1c"} else "a control character|bytes that are no UTF-8"
    for values in ({"output": f"/tmp/{word}"}, {"name": word}, {"model": {"name": word}}):
        with pytest.raises(RecipeError, match=rf"(?s){'.'.join(values)}.*({said})"):
            small(tmp_path, **values)
    with pytest.raises(RecipeError, match=rf"(?s)generate.*python is a name and has ({said})"):
        small(tmp_path, generate={"plans": {"nucleus": {}}, "python": word})
    for option in ("--partition", "--account", "--export", "--comment"):
        with pytest.raises(RecipeError, match=rf"(?s)--sbatch '{option}=.*contains ({said})"):
            Nodes(options=(f"{option}={word}",))
    with pytest.raises(RecipeError, match=rf"key 'output': .* has ({said})"):
        refuse_words({"key 'output'": [word], "key 'generate.python'": ["python3"]})


def test_a_folder_that_a_command_is_given_in_is_refused_too(tmp_path, monkeypatch):
    folder = tmp_path / "a\ntouch ran"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(RecipeError, match=r"the folder that the command is given in: .*a line break"):
        scripts(small(tmp_path), Nodes()).write()
    assert not (tmp_path / "run").exists()


def test_a_backslash_in_the_run_folder_is_refused_since_slurm_reads_it(tmp_path):
    with pytest.raises(RecipeError, match=r"key 'output': .*backslash"):
        scripts(small(tmp_path / "a\\b"), Nodes()).write()


@pytest.mark.parametrize(
    "name",
    [
        "it's 100% a folder",
        "caf\u00e9 \u5de6\u53f3",
        "-rf",
        "$(x)",
        "a;b&c|d",
        "e\u0301 \u200d\u2764\ufe0f",
        "a\u00a0b",
    ],
)
def test_usual_and_odd_names_stay(name, tmp_path):
    made = scripts(small(tmp_path / name), Nodes(options=("--comment=" + name,)))
    made.write()
    assert load_recipe(made.copy) == made.recipe
