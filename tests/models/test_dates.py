"""The day that chat templates are given is the run's, however many days the run takes."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand.config import BackendSection, ModelSection, Recipe
from evenhand.errors import DataError, StorageError, UnfitModelError
from evenhand.generate.backends import backend_signature
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.loop import work_in
from evenhand.models.dates import RunDate, date_options, dated, reads_date, template_date, undated
from evenhand.rerank.stage import rerank
from evenhand.runfolder.dates import DATE, dated_run, run_date
from evenhand.runfolder.phases import PAIRS, hold_run, open_phase
from evenhand.train.examples import read_rows

DAY = date(2025, 3, 9)
TURNS = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
# what families' templates have: the construct, and what a prompt of 9 March 2025 then begins with
READING = {
    "gpt-oss": ('{{ "Current date: " + strftime_now("%Y-%m-%d") }}\n', "Current date: 2025-03-09"),
    "SmolLM3": ('{% set today = strftime_now("%d %B %Y") %}{{ "Today: " + today }}\n', "Today: 09 March 2025"),
    "Granite": ("{{ \"Today's Date: \" + strftime_now('%B %d, %Y') + '.' }}\n", "Today's Date: March 09, 2025."),
    "Llama 3.2": (
        "{% if not date_string is defined %}{% if strftime_now is defined %}"
        '{% set date_string = strftime_now("%d %b %Y") %}{% else %}{% set date_string = "26 Jul 2024" %}{% endif %}{% endif %}'
        "{{ date_string }}\n",
        "09 Mar 2025",
    ),
    "macro": (
        '{% macro head() %}{{ strftime_now("%d/%m/%y") }}{% endmacro %}{{ head() }}\n',
        "09/03/25",
    ),
    "hours": ('{{ strftime_now("%Y-%m-%d %H:%M:%S") }}\n', "2025-03-09 00:00:00"),
    "spaces": ("{{ strftime_now ( '%Y-%j' ) }}\n", "2025-068"),
    "variable alone": ("{{ date_string }}\n", "09 Mar 2025"),
    "clock tested": ("{% if strftime_now is defined %}{{ strftime_now('%j') }}\n{% endif %}", "068"),
}
# Llama 3.1 has a date of its own, which is asked for in no other way
WITHOUT = {
    "no date": "",
    "Llama 3.1": '{% if not date_string is defined %}{% set date_string = "26 Jul 2024" %}{% endif %}{{ date_string }}\n',
    "default": '{{ date_string | default("26 Jul 2024") }}\n',
    "optional": "{% if date_string is defined %}{{ date_string }}{% endif %}\n",
    "comment": "{# strftime_now would write the date_string #}",
}


def with_template(tiny_model: Path, folder: Path, template: Any, *, in_settings: bool = False) -> str:
    """A copy of the tiny model whose chat template is this one, in a file of its own or in the tokenizer's settings."""
    folder.mkdir(parents=True)
    for path in tiny_model.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("chat_template", None)
    if in_settings:
        settings["chat_template"] = template
    else:
        (folder / "chat_template.jinja").write_text(template)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return str(folder)


def prompt(name: str) -> str:
    """What a model is asked, as text."""
    transformers = pytest.importorskip("transformers")
    from evenhand.generate.chat import chat_text

    return chat_text(transformers.AutoTokenizer.from_pretrained(name), [{"role": "user", "content": "Hello."}])


def signature(name: str) -> str:
    section = BackendSection(backend="transformers")
    return backend_signature(section, ModelSection(name=name))


@pytest.mark.parametrize("in_settings", [False, True])
@pytest.mark.parametrize("family", READING)
def test_a_template_that_reads_the_date_is_given_the_runs_day(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, in_settings: bool
) -> None:
    template, beginning = READING[family]
    name = with_template(tiny_model, tmp_path / "model", template + TURNS, in_settings=in_settings)
    with dated(RunDate(DAY)):
        assert prompt(name) == f"{beginning}\n[user] Hello.\n"
        assert signature(name).endswith("|transformers|date:2025-03-09")
        move_clock(monkeypatch)
        assert prompt(name) == f"{beginning}\n[user] Hello.\n"
    with dated(RunDate(DAY + timedelta(1))):
        assert prompt(name) != f"{beginning}\n[user] Hello.\n"
    # outside of a run the clock moves, and a process has one day all the same
    assert template_date() == template_date()
    assert prompt(name) == prompt(name)


@pytest.mark.parametrize(
    "reading",
    [
        '{% set form = "%Y-%j" %}{{ strftime_now(form) }}\n',
        '{% set clock = strftime_now %}{{ clock("%Y-%j") }}\n',
        '{{ strftime_now(format="%Y-%j") }}\n',
    ],
)
def test_called_in_another_way_the_clock_is_the_runs_or_the_template_is_refused(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    name = with_template(tiny_model, tmp_path / "model", reading + TURNS)
    move_clock(monkeypatch)
    with dated(RunDate(DAY)):
        try:
            assert prompt(name).startswith("2025-068\n")
        except UnfitModelError as error:  # transformers 5.24
            assert "'str' object is not callable" in str(error)


@pytest.mark.parametrize("family", WITHOUT)
def test_a_template_that_reads_no_date_has_the_prompt_and_signature_of_every_day(
    tiny_model: Path, tmp_path: Path, family: str
) -> None:
    transformers = pytest.importorskip("transformers")
    name = with_template(tiny_model, tmp_path / "model", WITHOUT[family] + TURNS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    plain = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hello."}], tokenize=False, add_generation_prompt=True
    )
    with dated(RunDate(DAY)):
        assert not date_options(tokenizer.chat_template)
        assert prompt(name) == plain
        assert signature(name).endswith("|transformers")


def test_a_signature_of_another_day_is_that_of_the_same_judge(tiny_model: Path, tmp_path: Path) -> None:
    name = with_template(tiny_model, tmp_path / "model", READING["Granite"][0] + TURNS)
    with dated(RunDate(DAY)):
        first = signature(name)
    with dated(RunDate(DAY + timedelta(1))):
        assert signature(name) != first
        assert undated(signature(name)) == undated(first) == first.removesuffix("|date:2025-03-09")
    # as measures write it among theirs
    assert (
        undated(f"llm(template,{first.replace('|', ',')}),v:2")
        == f"llm(template,{undated(first).replace('|', ',')}),v:2"
    )


def test_a_run_that_is_part_of_a_command_begins_on_its_day(tmp_path: Path) -> None:
    with dated(RunDate(DAY)), dated_run(tmp_path / "run"):
        assert template_date() == RunDate(DAY)
    assert run_date(tmp_path / "run") == RunDate(DAY)


def test_of_several_templates_each_may_read_the_date() -> None:
    assert reads_date({"default": TURNS, "rag": "{{ strftime_now('%Y') }}"})
    assert not reads_date({"default": TURNS})
    assert not reads_date(None)


def test_a_run_begins_once(tmp_path: Path) -> None:
    assert run_date(tmp_path / "run").day == template_date().day
    assert not (tmp_path / "run").exists()
    with dated_run(tmp_path / "run"):
        assert (tmp_path / "run" / DATE).read_text() == f"{template_date().day.isoformat()}\n"
    (tmp_path / "run" / DATE).write_text("2025-03-09\n")
    with dated_run(tmp_path / "run"):
        assert template_date() == RunDate(DAY)
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / DATE).write_text("2025-03-10\n")
        with dated_run(tmp_path / "other"):
            assert template_date() == RunDate(DAY + timedelta(1))
        assert template_date() == RunDate(DAY)


def test_a_folder_of_before_has_the_day_of_its_first_file_and_the_signatures_of_before(
    tiny_model: Path, tmp_path: Path
) -> None:
    import os

    for n, name in enumerate(("receipts/generate.json", "requests.jsonl")):
        path = tmp_path / "round-00" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        noon = datetime(2025, 3, 9 + n, 12).timestamp()
        os.utime(path, (noon, noon))
    name = with_template(tiny_model, tmp_path / "model", READING["gpt-oss"][0] + TURNS)
    with dated_run(tmp_path):
        assert template_date().day == DAY + timedelta(1)
        assert prompt(name).startswith("Current date: 2025-03-10")
        assert signature(name).endswith("|transformers")
    assert not (tmp_path / DATE).exists()


@pytest.mark.parametrize("text", ["", "yesterday", "2025-02-30", "09.03.2025"])
def test_a_file_that_holds_no_date_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / DATE).write_text(text)
    with pytest.raises(StorageError, match=r"date\.txt: .*; write the day on which the run began, such as"):
        run_date(tmp_path)


def move_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let templates that ask transformers for the time see the next day."""
    library = pytest.importorskip("transformers.utils.chat_template_utils")

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Tomorrow":
            return cls.fromtimestamp(datetime.now(tz).timestamp() + 86400, tz)

    monkeypatch.setattr(library, "datetime", Tomorrow)


def test_what_was_drawn_yesterday_is_trained_today(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    recipe = Recipe.model_validate(
        {
            "name": "days",
            "output": tmp_path / "run",
            "model": {"name": with_template(tiny_model, tmp_path / "model", READING["gpt-oss"][0] + TURNS)},
            "corpus": {"train": {"split": "train", "limit": 1}, "test": {"split": "test", "limit": 1}},
            "generate": {
                "backend": "scripted", "engine": {"tokenize": True}, "max_model_len": 8192,
                "plans": {"hot": {"candidates": 4, "max_tokens": 20}},
            },
            "judges": {"words": {"kind": "length"}},
            "reward": {"judges": ["words"], "combine": "mean"},
            "evaluation": {"judges": ["words"]},
            "pairs": {"least_margin": 0.0, "most_length_ratio": None, "mode": "all"},
            "rounds": 1,
        }
    )  # fmt: skip
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / DATE).write_text("2025-03-09\n")
    for verb in ("generate", "judge", "rerank"):
        # each step is a process of its own, on a day of its own
        move_clock(monkeypatch)
        phase = open_phase(recipe, "round-00")
        with work_in(recipe):
            {"generate": generate, "judge": judge, "rerank": rerank}[verb](phase)
    tokenizer = transformers.AutoTokenizer.from_pretrained(recipe.model.name)
    with hold_run(recipe):
        rows = read_rows(phase.folder / PAIRS, tokenizer)
    assert rows
    assert tokenizer.decode(list(rows[0].prompt_ids)).startswith("Current date: 2025-03-09")
    with pytest.raises(DataError, match="training would see other tokens than generation did"):
        read_rows(phase.folder / PAIRS, tokenizer)
