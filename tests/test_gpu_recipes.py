"""Every recipe for GPUs in miniature: the command of its head, all stages, on random models under the real ones' names.

The longer ones run with `-m campaign`.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hub_models
import pytest
import yaml
from forked import TRAINING, Server

from evenhand.config import CorpusSection, Recipe
from evenhand.config.fairness import EqualCoverageJudge
from evenhand.config.judges import RubricJudge
from evenhand.config.lacking import usable_names
from evenhand.config.recipe_file import differing_keys, load_recipe
from evenhand.config.shipped import PACKAGE, RECIPES, read_head
from evenhand.corpora import load_corpus
from evenhand.records import DocumentSet, Judgement
from evenhand.storage import read_jsonl, write_jsonl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("trl")
pytest.importorskip("mistral_common")

GPU_RECIPES = [name for name in usable_names() if "GPU" in read_head(RECIPES / f"{name}.yaml").needs]
# the loops that train, but for two, the ablations that ask hundreds of times, and all sweeps but one
LONG = frozenset(
    name
    for name in GPU_RECIPES
    if any(part in name for part in ("dpo", "ablation", "fairpo", "multi", "prompts", "temperature"))
    and name not in ("polisum/llama-3.1-8b/dpo", "polisum/llama-3.1-8b/dpo-as-published")
)
# of a command, on a busy machine too
SECONDS = 1800
# of a training: the second one has what an optimiser keeps of the first
STEPS = 2
# tokens of an answer, at most
ANSWER = 32
# of a plan, at most: of training requests, of which pairs are made, and of those that are evaluated, of which one is chosen
CANDIDATES, EVALUATED = 9, 2
# of a rubric judge that reads one whole grade
GREEDY_ALONE = ("max_attempts", "on_fail")


def changes(recipe: Recipe) -> dict[str, Any]:
    """All that is not as the recipe has it: what a CPU has not, and what random models cannot do."""
    # vLLM's engine takes half a minute to start, and a run has six of them
    found: dict[str, Any] = {"generate.backend": "transformers"}
    # an answer takes a pass for each of its tokens, and the last of 512 shows no more than the last of 32
    most = CANDIDATES if recipe.rounds else EVALUATED
    for key, plans, n in (
        ("generate", recipe.generate.plans, most), ("evaluation", recipe.evaluation.plans or {}, EVALUATED),
    ):  # fmt: skip
        if plans:
            found[f"{key}.plans"] = {
                name: plan.model_dump() | {"max_tokens": ANSWER, "candidates": min(plan.candidates, n)}
                for name, plan in plans.items()
            }
    if recipe.generate.method == "self-refine":
        found["generate.self_refine.feedback_tokens"] = ANSWER
    # what random models say need not have two sentences, or a word of a document
    found["limits.unscored"] = 1.0
    for name, options in recipe.judges.items():
        for below, asked in options.language_models.items():
            key = ".".join(filter(None, ("judges", name, below, "backend")))
            found[f"{key}.backend"] = "transformers"
            if asked.backend.engine:
                found[f"{key}.engine"] = None
        if recipe.rounds and name in recipe.reward.judges and isinstance(options, RubricJudge):
            # a random model's answer is no grade, and pairs need two grades; which it would rather give differs by a little
            found |= {f"judges.{name}.{key}": RubricJudge.model_fields[key].default for key in GREEDY_ALONE}
            found[f"judges.{name}.scoring"] = "expected"
        if "most_reply_tokens" in type(options).model_fields:
            found[f"judges.{name}.most_reply_tokens"] = ANSWER
    if recipe.rounds:
        found |= fairness_of_random_words(recipe)
        found |= {"train.accelerate_config": "cpu", "train.num_processes": 1}
        # the second round starts from the adapter of the first, and further ones do the same
        found["rounds"] = min(recipe.rounds, 2)
        # further ones show no more; as published there are dozens
        found["trainer.max_steps"] = STEPS
        # random summaries open with nothing that they should
        found |= {"pairs.chosen_keeps_contract": False, "pairs.least_margin": 0.0}
    return found


def fairness_of_random_words(recipe: Recipe) -> dict[str, Any]:
    """What has fairness judges tell random summaries apart, so that there are pairs; as the recipe has it, the report asks them.

    Entailment is hardly ever a random classifier's likeliest class, and a random model's reply is no list of facts.
    """
    found: dict[str, Any] = {}
    for name in filter(None, dict.fromkeys((*recipe.reward.judges, recipe.pairs.judge))):
        options = recipe.judges[name]
        if not isinstance(options, EqualCoverageJudge):
            continue
        found[f"judges.{name}.mode"], found[f"judges.{name}.fewest_units"] = "paper", 1
        if options.entailer.units == "llm":
            found[f"judges.{name}.entailer"] = {"units": "sentences", "splitter": None}
        shipped = options.model_dump(mode="json", exclude_unset=True)
        if options.entailer.splitter:
            shipped["entailer"]["splitter"] |= {"backend": {"backend": "transformers"}, "most_reply_tokens": ANSWER}
        found[f"judges.{name}_as_shipped"] = shipped
        found.setdefault("evaluation.judges", list(recipe.evaluation.judges)).append(f"{name}_as_shipped")
    return found


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as the mappings that they stand for."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        *above, last = key.split(".")
        place = found
        for name in above:
            place = place.setdefault(name, {})
        place[last] = value
    return found


@dataclass(frozen=True)
class Workshop:
    """A server of commands, and a folder with the documents and checkpoints that the recipes ask for."""

    server: Server
    folder: Path
    environment: dict[str, str]

    def run(self, line: str, folder: Path) -> None:
        """Run an evenhand command there."""
        words = shlex.split(line)
        assert words[0] == "evenhand"
        code = self.server.start(words[1:], folder, **self.environment).wait(SECONDS)
        assert code == 0, f"{line}: {code}\n{(folder / 'output.txt').read_text()[-6000:]}"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The models, the documents in the form in which their authors released them, and the commands that import them."""
    folder = tmp_path_factory.mktemp("workshop")
    hub_models.write_hub(folder / "hub")
    environment = {
        "HF_HUB_CACHE": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "EVENHAND_CACHE": str(folder / "cache"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
    }  # fmt: skip
    place = tmp_path_factory.mktemp("s")
    server = Server(place, (*TRAINING, "sentence_transformers", "nltk"), **environment)
    made = Workshop(server, folder / "data", environment)
    made.folder.mkdir()
    _write_documents(made)
    _write_checkpoints(made, folder / "hub")
    yield made
    server.close()


def _write_documents(made: Workshop) -> None:
    folder = made.folder
    disputes = [each for each in load_corpus(CorpusSection(path="sample")) if each.split]
    for split in ("train", "test"):
        topics = [each for each in disputes if each.split == split][:2]
        items = [_item(topic, side) for topic in topics for side in ("left", "right")]
        (folder / f"{split}.json").write_text(json.dumps(items))
        line = f"evenhand import polisum {split}.json --out polisum-{split}.jsonl --split {split} --faithful-to-release"
        made.run(line, folder)
    lines = [(folder / f"polisum-{split}.jsonl").read_text() for split in ("train", "test")]
    (folder / "polisum.jsonl").write_text("".join(lines))
    # both sides of one topic: each of two dozen judges is asked of every summary
    _write_controlled(folder, disputes[:1])
    reviews = load_corpus(CorpusSection(path="reviews", attribute="sentiment"))
    some = {split: [each for each in reviews if each.split == split] for split in ("train", "test")}
    write_jsonl(folder / "reviews.jsonl", [*some["train"][:3], *some["test"][:2]])
    # of which recipes hold back a quarter
    (folder / "yelp.json").write_text(json.dumps([_yelp(each) for each in some["train"][:4]]))
    made.run("evenhand import perspectivesumm yelp.json --out yelp.jsonl --attribute sentiment", folder)


def _item(topic: DocumentSet, side: str) -> dict[str, str]:
    """As PoliSum has it: what is asked for stands under "Left:", whatever its side."""
    mine, others = (
        [d.text for d in topic.documents if (d.attributes["stance"] == side) is own] for own in (True, False)
    )
    name = side.capitalize()
    asked = f"Summarize only the {name}-leaning perspective in one sentence, starting with 'The {name} '."
    laid_out = "\n".join([asked, "", "Left:", *mine, "", "Right:", *others])
    return {"topic": topic.topic, "stance": side, "input": laid_out, "document": "\n".join(mine)}


def _write_controlled(folder: Path, topics: list[DocumentSet]) -> None:
    """Controlled summaries, which are their points one after another, and their evidence, as PoliSum's authors released them."""
    sets, evidence = [], []
    for topic in topics:
        for side, other in (("left", "right"), ("right", "left")):
            source = [d.text for d in topic.documents if d.attributes["stance"] == side]
            mine, theirs = topic.key_points[side], topic.key_points[other]
            sets.append({
                "source": source,
                "summaries": [_controlled(mine, theirs, *counts) for counts in ((len(mine), 0), (1, 0), (1, 2), (0, 1))],
            })  # fmt: skip
            evidence.append({
                "topic": topic.topic, "source": source,
                "excerpts": [{"article": source[0], "excerpt": source[0]} for _ in mine],
                "evidence": {"relevant": mine, "opposite": theirs, "adversarial": [f"It is not so: {each}" for each in mine]},
            })  # fmt: skip
    (folder / "controlled.json").write_text(json.dumps(sets))
    (folder / "evidence.json").write_text(json.dumps(evidence))


def _controlled(mine: tuple[str, ...], theirs: tuple[str, ...], relevant: int, opposite: int) -> dict[str, Any]:
    return {
        "summary": " ".join(("The article argues so.", *mine[:relevant], *theirs[:opposite])),
        "coverage": relevant / len(mine), "faithfulness": relevant / (relevant + opposite),
        "evidence_counts": {"relevant": relevant, "opposite": opposite, "adversarial": 0},
    }  # fmt: skip


def _yelp(reviews: DocumentSet) -> dict[str, Any]:
    """As PerspectiveSumm has its sets."""
    values = ("negative", "neutral", "positive")
    texts = [(d.text, d.attributes["sentiment"]) for d in reviews.documents]
    return {
        "units": [{"text": text, "value": {"sentiment": value}} for text, value in texts],
        "model_input": " || ".join(text for text, _ in texts),
        "meta": {"type": "reviews", "separator": " || "},
        "value_input": {"sentiment": [" || ".join(t for t, v in texts if v == value) for value in values]},
        "value_mapping": {"sentiment": values},
    }


def _write_checkpoints(made: Workshop, hub: Path) -> None:
    """Pickles as released, small, and the commands that convert them."""
    folder, config = made.folder, hub_models.roberta_config(transformers)
    torch.manual_seed(0)
    modules = torch.nn.ModuleDict({
        "base_model": transformers.RobertaModel(config),
        "tri_layer": torch.nn.Linear(config.hidden_size, 3),
        "bin_layer": torch.nn.Linear(config.hidden_size, 2),
        "reg_layer": torch.nn.Linear(config.hidden_size, 1),
    })  # fmt: skip
    released = {"state_dict": modules.state_dict(), "hyper_parameters": {"model": "roberta-large"}}
    torch.save(released, folder / "AlignScore-large.ckpt")
    made.run("evenhand judges convert alignscore AlignScore-large.ckpt --out AlignScore-large", folder)
    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    torch.save(
        {name: torch.randn(shape) for name, shape in shapes.items()}, folder / "summac_conv_vitc_sent_perc_e.bin"
    )
    made.run("evenhand judges convert summac summac_conv_vitc_sent_perc_e.bin --out summac", folder)
    hub_models.write_bleurt(transformers, folder / "bleurt-20-d6")


def parts_of(name: str) -> list[Any]:
    needed = [pytest.mark.needs("nltk")] if "NLTK's data" in read_head(RECIPES / f"{name}.yaml").needs else []
    return [pytest.mark.campaign if name in LONG else pytest.mark.slow, *needed]


@pytest.mark.parametrize("name", [pytest.param(name, marks=parts_of(name)) for name in GPU_RECIPES])
def test_every_recipe_for_gpus_runs_in_miniature(workshop, tmp_path, name):
    path = RECIPES / f"{name}.yaml"
    recipe, changed = load_recipe(path), changes(load_recipe(path))
    small = tmp_path / "small.yaml"
    small.write_text(yaml.safe_dump({"extends": str(path)} | nested(changed)))
    left_alone = [key for key in differing_keys(recipe, load_recipe(small)) if not key.startswith(tuple(changed))]
    assert not left_alone
    for each in workshop.folder.iterdir():
        (tmp_path / each.name).symlink_to(each)
    (tmp_path / "output.txt").unlink(missing_ok=True)
    workshop.run(read_head(path).command.replace(path.relative_to(PACKAGE).as_posix(), "small.yaml"), tmp_path)
    judgements = [each for file in tmp_path.rglob("judgements.jsonl") for each in read_jsonl(file, Judgement)]
    asked = set(changed.get("evaluation.judges", recipe.evaluation.judges))
    assert not asked - {each.judge for each in judgements}, "every judge was asked"
    assert len(list(tmp_path.rglob("training.json"))) == changed.get("rounds", 0), "every round was trained"


@pytest.mark.campaign
def test_the_flagship_runs_on_vllm_and_deepspeed(workshop, tmp_path):
    pytest.importorskip("vllm")
    pytest.importorskip("deepspeed")
    path = RECIPES / "polisum/llama-3.1-8b/dpo.yaml"
    # as shipped, but for what a processor has not
    changed = changes(load_recipe(path)) | {
        "train.accelerate_config": "zero2_cpu",
        "rounds": 1,
        "train.global_batch_size": 2,
    }
    for key in [key for key in changed if key.endswith("backend")]:
        del changed[key]
    engines = {"generate.replicas": 1, "generate.max_model_len": 2048}
    engines |= {
        f"judges.{name}.backend.{key}": value
        for name in ("coverage", "faithfulness", "report_coverage")
        for key, value in (("max_model_len", 2048), ("replicas", 1))
    }
    small = tmp_path / "small.yaml"
    small.write_text(yaml.safe_dump({"extends": str(path)} | nested(changed | engines)))
    for each in workshop.folder.iterdir():
        (tmp_path / each.name).symlink_to(each)
    (tmp_path / "output.txt").unlink(missing_ok=True)
    # as a user starts it, with nothing imported beforehand
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "loop", "small.yaml"], cwd=tmp_path, env=os.environ | workshop.environment,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    (training,) = (json.loads(found.read_text()) for found in tmp_path.rglob("training.json"))
    assert training["sharding"] == "zero2"
    (kept,) = tmp_path.rglob("report/report.json")
    assert "vllm" in json.dumps(json.loads(kept.read_text()))


def test_there_are_recipes_for_gpus():
    assert {name.partition("/")[0] for name in GPU_RECIPES} == {"polisum", "fairness"}
