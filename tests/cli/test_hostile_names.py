"""No verb lets a control sequence of a text, a label or a file's name through to the terminal."""

import json
import logging
import signal
import sys

import pytest
import typer

from evenhand.cli import app as command_line
from evenhand.cli import main
from evenhand.cli.terminal import relay
from evenhand.extras import _ToStderr
from evenhand.text.controls import CONTROL

# sets the title of a window, clears the screen, goes back, turns the order round; begins a sequence in eight bits
HOSTILE = "\x1b]0;owned\x07\x1b[2Ja\x08b\x9b31m\u202eevil\u2066"


@pytest.fixture
def run(monkeypatch, capfd):
    """Runs a command line in this process; what it has written."""
    interrupt = signal.getsignal(signal.SIGINT)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["evenhand", *map(str, arguments)])
        code = None
        try:
            main()
        except SystemExit as error:
            code = error.code
        out, err = capfd.readouterr()
        return code, out + err

    yield run
    signal.signal(signal.SIGINT, interrupt)


def verbs(command, words=()):
    """Each verb, by its words, with its parameters."""
    for name, below in getattr(command, "commands", {}).items():
        yield from verbs(below, (*words, name))
    if not hasattr(command, "commands"):
        yield words, command.params


VERBS = dict(verbs(typer.main.get_command(command_line.app)))


def given(parameters, value):
    """A command line with a value for each option and argument that takes one."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            yield str(value)
        elif parameter.required:
            yield from (parameter.opts[0], f"{HOSTILE}={value}" if "[LABEL=]" in str(parameter.metavar) else str(value))


@pytest.mark.parametrize("there", ["absent", "folder", "nonsense"])
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_names_in_refusals_are_visible(words, there, tmp_path, run):
    if words in {("env",), ("cache",), ("recipes", "accelerate")}:
        pytest.skip("reads no file of that name")
    path = tmp_path / f"{HOSTILE}.yaml"
    if there == "folder":
        path.mkdir()
    elif there == "nonsense":
        path.write_text(f'"{HOSTILE.encode("unicode_escape").decode()}": [1\n'.replace("\\u202e", "\u202e"))
    code, output = run(*words, *given(VERBS[words], path))
    assert code, output
    assert "Traceback" not in output
    assert not CONTROL.search(output), repr(CONTROL.search(output))


@pytest.mark.parametrize(
    "arguments", [(HOSTILE,), (f"--{HOSTILE}",), ("validate", "quickstart", HOSTILE), ("audit", f"-{HOSTILE}")]
)
def test_names_in_refusals_of_the_command_line_are_visible(arguments, run):
    code, output = run(*arguments)
    assert code == 2
    assert not CONTROL.search(output)


@pytest.fixture
def files(tmp_path):
    """Documents and summaries whose ids, values, texts and names are hostile."""
    folder = tmp_path / f"x{HOSTILE}"
    folder.mkdir()
    sets = [
        {
            "id": f"{number}{HOSTILE}",
            "topic": HOSTILE,
            "documents": [
                {
                    "id": f"{side}{n}",
                    "text": f"The {side} room {HOSTILE} was number {n}.",
                    "attributes": {"side": f"{side}{HOSTILE}"},
                }
                for side in ("left", "right")
                for n in range(3)
            ],
        }
        for number in range(4)
    ]
    documents, summaries = folder / "docs.jsonl", folder / "summaries.jsonl"
    documents.write_text("".join(json.dumps(each) + "\n" for each in sets))
    summaries.write_text(
        "".join(
            json.dumps({"id": each["id"], "summary": f"The left room {HOSTILE} was number 1."}) + "\n" for each in sets
        )
    )
    (folder / "judges.yaml").write_text("judges: {words: {kind: length}}\n")
    return folder, documents, summaries


@pytest.mark.needs("plugins/bias")
def test_an_audit_of_hostile_texts_shows_them_visibly(files, run, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    folder, documents, summaries = files
    two = ("--summaries", f"one{HOSTILE}={summaries}", "--summaries", f"other{HOSTILE}={summaries}")
    for verbosity in ((), ("-v",)):
        code, output = run(
            "audit",
            "--documents",
            documents,
            "--attribute",
            "side",
            *two,
            "--measures",
            "word-lists",
            "--out",
            folder / "out",
            *verbosity,
        )
        assert "\\x1b]0;owned\\x07" in output, (code, output)
        assert not CONTROL.search(output)
    texts = [path.read_text() for path in (folder / "out").rglob("*") if path.suffix in {".csv", ".md"}]
    assert texts
    assert not any(CONTROL.search(text) for text in texts)


def test_scores_of_hostile_texts_show_them_visibly(files, run, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    folder, documents, summaries = files
    judges = ("--judges", folder / "judges.yaml", "--documents", documents, "--out", folder / "out")
    code, output = run(
        "score", *judges, "--summaries", f"a{HOSTILE}={summaries}", "--summaries", f"b{HOSTILE}={summaries}"
    )
    assert code in {None, 0}, output
    assert "\\x1b]0;owned\\x07" in output
    assert not CONTROL.search(output)


def test_log_lines_and_relayed_output_are_visible(capsys):
    record = logging.LogRecord("evenhand.x", logging.WARNING, "f", 1, "%s: left out", (HOSTILE,), None)
    assert not CONTROL.search(_ToStderr().format(record))
    relay(f"10%\r20%\n{HOSTILE}\n")
    shown = capsys.readouterr().err
    assert shown.startswith("10%\r20%\n\\x1b]0;")
    assert not CONTROL.search(shown.replace("\r", ""))


def test_a_lock_of_a_hostile_host_is_named_visibly(tmp_path, run):
    import fcntl
    import os

    out = tmp_path / "run"
    out.mkdir()
    holder = {"host": HOSTILE, "pid": os.getpid(), "command": f"evenhand {HOSTILE}", "token": "t", "recipe": ""}
    with (out / ".lock").open("w") as lock:
        lock.write(json.dumps(holder))
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_SH)
        from evenhand.runfolder import processes

        patience, processes.PATIENCE_SECONDS = processes.PATIENCE_SECONDS, 0.0
        try:
            code, output = run("loop", "quickstart", "--set", f"output={out}")
        finally:
            processes.PATIENCE_SECONDS = patience
    assert code == 1
    assert "\\x1b]0;owned" in output
    assert not CONTROL.search(output)
