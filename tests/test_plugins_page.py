"""docs/plugins.md: what it shows is a package that works."""

import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from made_packages import install
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.cli.door import Verb
from evenhand.config.recipe_file import load_recipe
from evenhand.corpora.importers import Importer, head_of
from evenhand.doors import Door
from evenhand.generate.methods import METHODS
from evenhand.judges import JUDGES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^<!-- file: (\w+)\.py -->\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
POINTS = "".join(re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package for each file of the page, with the entry points that the page gives it."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    groups = tomllib.loads(POINTS)["project"]["entry-points"]
    for name, text in FILES.items():
        own = {group: {n: v for n, v in points.items() if v.startswith(f"{name}:")} for group, points in groups.items()}
        lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in points.items()) for group, points in own.items()]
        info = f"{name}-1.0.dist-info/entry_points.txt"
        install(tmp_path / "site", name, "1.0", {f"{name}/__init__.py": text.encode(), info: "\n".join(lines).encode()})
        monkeypatch.delitem(sys.modules, name, raising=False)
    return groups


def forget(*doors):
    for door in doors:
        vars(door).pop("_points", None)


@pytest.fixture
def fresh():
    """What has been listed is listed anew, here and in the tests after."""
    from evenhand.config.generate import METHOD_SECTIONS
    from evenhand.config.judges import JUDGE_SECTIONS
    from evenhand.config.pair_modes import PAIR_RULES
    from evenhand.rerank.pair_modes import PAIR_MODES

    doors = (JUDGES, JUDGE_SECTIONS, METHODS, METHOD_SECTIONS, PAIR_MODES, PAIR_RULES)
    forget(*doors)
    yield
    forget(*doors)


def test_the_page_has_every_folder_with_its_first_sentence():
    rows = PAGE.split("| folder | what it is | read |\n| --- | --- | --- |\n")[1].splitlines()
    # the last column names pages
    rows = [row[: row.rindex("|", 0, -1) + 1] for row in rows if row.endswith(") |")]
    for path in sorted(ROOT.glob("plugins/*/__init__.py")):
        first = str(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))).split("\n\n")[0]
        assert f"| `{path.parent.name}` | {first.replace(chr(10), ' ')} |" in rows


def test_examples_are_short():
    assert set(FILES) == {"brevity", "twice", "runners", "petitions"}
    assert max(sum(bool(line.strip()) for line in text.splitlines()) for text in FILES.values()) < 25


def test_a_judge_and_a_method_of_the_page_make_a_run(installed, fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    values = {
        "name": "own",
        "output": str(tmp_path / "run"),
        "model": {"name": "none"},
        "corpus": {"test": {"split": "test", "limit": 2}},
        "generate": {"backend": "scripted", "method": "fair", "plans": {"hot": {"candidates": 2}}},
        "judges": {"short": {"kind": "brevity", "words": 1}, "words": {"kind": "length"}},
        "reward": {"judges": ["short"]},
        "evaluation": {"judges": ["words"], "resamples": 100},
        "rounds": 0,
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(values))
    assert load_recipe(tmp_path / "recipe.yaml").judges["short"].words == 1
    for verb in ("validate", "generate", "judge", "rerank"):
        done = CliRunner().invoke(app, [verb, str(tmp_path / "recipe.yaml")])
        assert done.exit_code == 0, done.output
    requests = (tmp_path / "run" / "evaluation" / "base" / "requests.jsonl").read_text()
    judgements = (tmp_path / "run" / "evaluation" / "base" / "judgements.jsonl").read_text()
    # the method's words are no part of the request
    assert "Be fair." not in requests
    assert "brevity|judge:brevity|words:1|v:1" in judgements and '"score":0' in judgements.replace(" ", "")


def test_pairs_of_the_page_are_those_of_the_best_two(installed, fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    values = {
        "name": "own",
        "output": str(tmp_path / "run"),
        "model": {"name": "none"},
        "corpus": {"train": {"split": "train", "limit": 2}},
        "generate": {"backend": "scripted", "plans": {"hot": {"candidates": 4}}},
        "judges": {"words": {"kind": "length"}},
        "reward": {"judges": ["words"]},
        "pairs": {"mode": "runners-up"},
        "evaluation": {"judges": ["words"], "resamples": 100},
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(values))
    for verb in ("generate", "judge", "rerank"):
        done = CliRunner().invoke(app, [verb, str(tmp_path / "recipe.yaml"), "--phase", "round-00"])
        assert done.exit_code == 0, done.output
    phase = next((tmp_path / "run").rglob("ledger.json")).parent
    ledger = json.loads((phase / "ledger.json").read_text())
    pairs = [json.loads(line) for line in (phase / "pairs.jsonl").read_text().splitlines()]
    groups = [json.loads(line) for line in (phase / "groups.jsonl").read_text().splitlines()]
    assert ledger["totals"]["pairs"] == len(pairs) > 0
    rewards = {
        group["request_id"]: sorted((c["reward"] for c in group["candidates"]), reverse=True) for group in groups
    }
    assert all([p["chosen_reward"], p["rejected_reward"]] == rewards[p["request_id"]][:2] for p in pairs)
    left_out = sum(row["count"] for row in ledger["rows"] if row["stage"] == "pairs")
    assert left_out + len(pairs) == len(groups)


def test_a_format_and_a_command_of_the_page(installed, tmp_path):
    importer = Door("importers", "importer", lambda thing: isinstance(thing, Importer))["petitions"]
    path = tmp_path / "one.txt"
    path.write_text("petition\nfor: The ferry is cheap.\nagainst: It is loud.\n")
    assert importer.recognises(head_of(path, path.read_text()))
    (documents,) = importer.read(path, None).sets
    assert [each.attributes["side"] for each in documents.documents] == ["for", "against"]
    verb = Door("verbs", "verb", lambda thing: isinstance(thing, Verb))["greet"]
    assert verb.run.__doc__ == "Say hello."
