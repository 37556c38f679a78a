"""An option of one value is given once: tried on every option of every verb."""

import pytest
import typer

from evenhand.cli.app import app
from evenhand.cli.verbs import Verbs, refuse_repeated
from evenhand.config.command_line import SingleValues, repeated_keys
from evenhand.errors import DataError
from evenhand.train import dpo


def options_of(command, verb=()):
    """(words of the verb, its option), of all below a command."""
    for each in command.params:
        if each.param_type_name == "option":
            yield verb, each
    for name, below in getattr(command, "commands", {}).items():
        yield from options_of(below, (*verb, name))


ROOT = typer.main.get_command(app)
OPTIONS = list(options_of(ROOT))
SINGLE = [(verb, each) for verb, each in OPTIONS if not each.multiple and not each.is_flag]
REPEATABLE = [(verb, each) for verb, each in OPTIONS if each.multiple]
FLAGS = [(verb, each) for verb, each in OPTIONS if each.is_flag and not each.is_eager]


def ids(found):
    return [" ".join((*verb, each.opts[0])) for verb, each in found]


def said(*arguments):
    """Why a command line is refused."""
    try:
        ROOT.main(list(arguments), standalone_mode=False)
    except DataError as error:
        return str(error)
    except Exception as error:  # what Click says where the rest of the line is missing
        return f"{type(error).__name__}: {error}"
    return ""


def test_there_is_something_to_try():
    assert len(SINGLE) > 60
    assert {("audit",), ("import", "coverage"), ("import", "table")} <= {verb for verb, _ in SINGLE}


@pytest.mark.parametrize(("verb", "option"), SINGLE, ids=ids(SINGLE))
def test_an_option_of_one_value_is_refused_the_second_time(verb, option):
    for name in option.opts:
        for line in ((name, "tone", name, "origin"), (f"{name}=tone", name, "origin"), (name, "1", name, "1")):
            if name.startswith("--") or "=" not in line[0]:
                assert f"{max(option.opts, key=len)} is given twice (" in said(*verb, *line)


@pytest.mark.parametrize(("verb", "option"), REPEATABLE + FLAGS, ids=ids(REPEATABLE + FLAGS))
def test_what_may_be_repeated_is_not_refused(verb, option):
    command = ROOT
    for name in verb:
        command = command.commands[name]
    value = () if option.is_flag else ("a=1",)
    # nothing is run: of `cache --clear` there would be something to lose
    refuse_repeated(command, typer.Context(command), [option.opts[0], *value, option.opts[0], *value])


def test_all_repeated_options_are_told_together():
    message = said(
        "audit", "--matcher", "words", "--matcher", "encoder", "--tau", "1", "--out", "a", "--tau", "0", "--tau=1"
    )
    assert message.splitlines() == [
        "--matcher is given twice ('words', 'encoder'), and it has one value; give it once, or run the command once for each",
        "--tau is given 3 times ('1', '0', '1'), and it has one value; give it once, or run the command once for each",
    ]


def test_help_is_shown_whatever_else_is_there(capsys):
    assert said("audit", "--out", "a", "--out", "b", "--help") == ""
    assert "Usage" in capsys.readouterr().out


def test_a_value_may_look_like_an_option():
    assert "is given" not in said("audit", "--out", "--documents", "--documents", "a")
    assert "is given" not in said("audit", "--out", "a", "--", "--out", "b")


def test_defaults_and_variables_do_not_count(monkeypatch):
    verbs = Verbs()

    @verbs.command()
    def run(tone: str = typer.Option("even", "--tone", "-t", envvar="TONE")) -> None:
        print(tone)

    monkeypatch.setenv("TONE", "harsh")
    command = typer.main.get_command(verbs)
    command.main(["-t", "mild"], standalone_mode=False)
    for line in (["-t", "mild", "--tone=even"], ["-tmild", "-teven"]):
        with pytest.raises(DataError, match=r"--tone is given twice \('mild', 'even'\)"):
            command.main(line, standalone_mode=False)


def test_a_flag_and_its_opposite_exclude_each_other():
    verbs = Verbs()

    @verbs.command()
    def run(bars: bool = typer.Option(True, "--bars/--no-bars")) -> None:
        print(bars)

    command = typer.main.get_command(verbs)
    command.main(["--no-bars", "--no-bars"], standalone_mode=False)
    with pytest.raises(DataError, match=r"--bars/--no-bars is given twice \('--no-bars', '--bars'\)"):
        command.main(["--no-bars", "--bars"], standalone_mode=False)


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        (["rounds=1", "rounds=2"], "rounds"),
        (["a.b=1", "c=1", "a.b=2"], "a.b"),
        (["trainer.beta=0.1", "trainer={}"], "trainer"),
    ],
)
def test_a_key_has_one_value(entries, key):
    assert f"--set {key} is given twice" in repeated_keys("--set", entries)


@pytest.mark.parametrize(
    "entries", [[], ["a=1"], ["a=1", "b=1"], ["a=1", "a=1"], ["a.b=1", "a.bc=2"], ["a={}", "a.b=2"], ["ab=1", "a=2"]]
)
def test_keys_that_replace_nothing_are_fine(entries):
    assert repeated_keys("--set", entries) == ""


def test_a_secret_key_is_not_shown():
    assert "hunter" not in repeated_keys(
        "--set", ["generate.server.api_key=hunter1", "generate.server.api_key=hunter2"]
    )


def test_verbs_look_at_their_keys():
    line = ("quickstart", "--set", "rounds=1", "--set", "rounds=2")
    verbs = [verb for verb, each in REPEATABLE if "--set" in each.opts]
    assert all("--set rounds is given twice" in said(*verb, *line) for verb in verbs if verb != ("import", "table"))
    assert "--requests test is given twice" in said(
        "run", "estimate", "quickstart", *["--requests", "test=1", "--requests", "test=2"]
    )


def test_other_entry_points_have_the_same_rule(capsys):
    for line in (["--config", "a", "--config=b"], ["--config", "a", "--set", "a=1", "--set", "a=2"]):
        with pytest.raises(SystemExit, match="2"):
            dpo.main(line)
        assert "is given twice" in capsys.readouterr().err
    parser = SingleValues()
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("name", nargs="?")
    assert vars(parser.parse_args(["--sets", "1", "2"])) == {"sets": ["1", "2"], "name": None}
    assert vars(parser.parse_args(["a"])) == {"sets": None, "name": "a"}
