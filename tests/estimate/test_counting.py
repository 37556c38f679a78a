"""Tokens that are counted against those that a real engine reports, and by hand."""

import re

import pytest

pytest.importorskip("transformers")

from evenhand.benchmarks.size import document_sets, recipe_in
from evenhand.config import Recipe
from evenhand.errors import RecipeError
from evenhand.estimate.counting import Counter, TokenCounts, by_rule_of_thumb, reader
from evenhand.estimate.recipe import _all_files
from evenhand.estimate.run_size import USUAL_TOKENS, run_size
from evenhand.estimate.train_work import largest_pass, work_of_run
from evenhand.estimate.work import Assumed, splits
from evenhand.generate.backend import Ask
from evenhand.generate.stage import generate, phase_requests
from evenhand.judges.stage import judge
from evenhand.models.flops import forward_flops
from evenhand.models.sizes import Sizes
from evenhand.records import Message, Sampling
from evenhand.rerank.stage import rerank
from evenhand.runfolder.phases import phases
from evenhand.storage import write_jsonl
from evenhand.train.memory import Pass


def recipe(model, output, **sections):
    values = {
        "name": "counted",
        "output": str(output),
        "model": {"name": str(model), "dtype": "float32"},
        "corpus": {"path": "sample", "sides": ["left", "right"], "test": {"split": "test", "limit": 2}},
        "generate": {
            "backend": "transformers", "max_model_len": 2048, "plans": {"p": {"candidates": 3, "max_tokens": 4}},
        },
        "judges": {"rouge": {"kind": "rouge"}, "words": {"kind": "length"}},
        "reward": {"judges": ["rouge"]},
        "evaluation": {"judges": ["words"]},
        "rounds": 0,
    }  # fmt: skip
    return Recipe.model_validate(values | sections)


def test_prompts_are_those_that_an_engine_runs(tiny_model, tmp_path):
    made = recipe(tiny_model, tmp_path / "run")
    (split,) = splits(made, Assumed({}))
    (work,) = split.work
    (phase,) = phases(made)
    receipt, _ = generate(phase)
    assert work.tokens.prompts == receipt.counts["prompt_tokens"]
    assert work.tokens.prefilled == receipt.counts["prefilled_tokens"]
    assert receipt.counts["tokens"] <= work.tokens.generated == 4 * 3 * 4
    assert split.n_requests == 4


def test_prompts_that_are_left_out_are_not_counted(tiny_model, tmp_path):
    asked = {"backend": "transformers", "plans": {"p": {"candidates": 3, "max_tokens": 4}}}
    lengths = sorted(
        len(reader(recipe(tiny_model, tmp_path).model)[0](each.prompt))
        for each in phase_requests(phases(recipe(tiny_model, tmp_path))[0])
    )
    # room for the answers of all but the longest
    made = recipe(
        tiny_model, tmp_path / "run", generate=asked | {"max_model_len": lengths[-1] + 3}, limits={"failed": 1.0}
    )  # fmt: skip
    (split,) = splits(made, Assumed({}))
    receipt, _ = generate(phases(made)[0])
    assert sum(each.count for each in receipt.left_out) == lengths.count(lengths[-1])
    assert split.work[0].tokens.prompts == receipt.counts["prompt_tokens"]
    assert split.work[0].tokens.prefilled == receipt.counts["prefilled_tokens"]
    assert f"of 4 requests are longer than generate.max_model_len {lengths[-1] + 3:,} lets them be" in split.notes[-1]


@pytest.mark.needs("plugins/self_refine")
def test_a_method_of_several_turns_is_counted_turn_by_turn(tiny_model, tmp_path):
    refined = {
        "backend": "transformers", "max_model_len": 2048, "method": "self-refine",
        "self_refine": {"rounds": 2, "feedback_tokens": 8}, "plans": {"p": {"candidates": 3, "max_tokens": 4}},
    }  # fmt: skip
    (split,) = splits(recipe(tiny_model, tmp_path / "run", generate=refined), Assumed({}))
    # an answer, and twice a feedback and an answer, for three candidates of four requests
    assert split.work[0].tokens.calls == 5 * 3 * 4
    assert split.work[0].tokens.generated == (4 + 2 * (8 + 4)) * 3 * 4


def test_documents_that_are_not_here_are_taken_as_long_as_said(tiny_model, tmp_path):
    absent = {"path": str(tmp_path / "no.jsonl"), "sides": ["left", "right"], "test": {"split": "test"}}
    made = recipe(tiny_model, tmp_path / "run", corpus=absent)
    (split,) = splits(made, Assumed({"test": 50}, prompt_tokens=300))
    tokens = split.work[0].tokens
    assert tokens.calls == 50 * 3
    assert tokens.prompts / tokens.calls == pytest.approx(300, rel=0.05)
    assert "no.jsonl" in split.notes[0] and "300 tokens" in split.notes[0]
    # of the two prompts of each of 25 sets one is run whole, and of the other what stands behind the documents
    (rest,) = re.findall(r"The 2 prompts of a set are taken to share all but (\d+) tokens, and what", split.notes[0])
    assert tokens.prefilled == pytest.approx(25 * (300 + int(rest)), rel=0.05)
    one = made.model_copy(update={"corpus": made.corpus.model_copy(update={"sides": ("left",)})})
    (split,) = splits(one, Assumed({"test": 50}, prompt_tokens=300))
    assert "share" not in split.notes[0]


def test_without_a_number_of_requests_nothing_is_made_up(tiny_model, tmp_path):
    absent = {"path": str(tmp_path / "no.jsonl"), "sides": ["left", "right"]}
    (split,) = splits(recipe(tiny_model, tmp_path / "run", corpus=absent), Assumed({}))
    assert split.work[0].tokens.prompts == 0
    assert any("--requests test=N" in note for note in split.notes)


def sizes_of(phase):
    names = ("requests.jsonl", "candidates.jsonl", "judgements.jsonl", "groups.jsonl", "best.jsonl", "pairs.jsonl")
    return {name: found.stat().st_size for name in names if (found := phase.folder / name).exists()}


@pytest.mark.parametrize("n_candidates", [1, 9])
def test_files_are_as_long_as_those_of_a_run(tmp_path, n_candidates):
    made = recipe_in(tmp_path, n_candidates=n_candidates)
    write_jsonl(tmp_path / "corpus.jsonl", document_sets(10))
    (phase,) = phases(made)
    generate(phase)
    judge(phase)
    rerank(phase)
    # the scripted answers have 16 words, which are longer than a token
    (split,) = splits(made, Assumed({}, answer_tokens=20))
    assert split.files == pytest.approx(sizes_of(phase), rel=0.1)
    (longest,) = splits(made, Assumed({}))
    assert longest.files["candidates.jsonl"] > 1.5 * split.files["candidates.jsonl"]


@pytest.mark.parametrize("plans", [{"p": 9}, {"first": 1, "p": 3}, {"p": 40}])
def test_preflight_tells_the_same_size(tmp_path, plans):
    made = recipe_in(tmp_path, n_candidates=1)
    sampled = {name: made.generate.plans["nucleus"].model_copy(update={"candidates": n}) for name, n in plans.items()}
    made = made.model_copy(update={"rounds": 1, "generate": made.generate.model_copy(update={"plans": sampled})})
    write_jsonl(tmp_path / "corpus.jsonl", document_sets(10))
    walked = list(splits(made, Assumed({}, answer_tokens=USUAL_TOKENS)))
    size = run_size(made, {split.name: phase_requests(split.phases[0]) for split in walked})
    assert size.files == pytest.approx(_all_files(walked), rel=0.02 if plans["p"] < 40 else 0.1)
    assert size.candidates == sum(len(split.phases) * split.n_requests for split in walked) * sum(plans.values())


def test_pairs_repeat_their_prompts(tmp_path):
    made = recipe_in(tmp_path, n_candidates=4)
    made = made.model_copy(
        update={"rounds": 1, "pairs": made.pairs.model_copy(update={"mode": "all", "least_margin": 0.0})}
    )
    write_jsonl(tmp_path / "corpus.jsonl", document_sets(10))
    phase, *_ = phases(made)
    for stage in (generate, judge, rerank):
        stage(phase)
    (split, *_) = splits(made, Assumed({}, answer_tokens=20))
    # six of each request at most; two of equal reward are none
    most, n_pairs = 6 * split.n_requests, len((phase.folder / "pairs.jsonl").read_text().splitlines())
    assert 0 < n_pairs < most
    assert n_pairs / most * split.files["pairs.jsonl"] == pytest.approx(sizes_of(phase)["pairs.jsonl"], rel=0.1)
    assert split.files["pairs.jsonl"] > split.files["candidates.jsonl"]


def test_files_of_an_engine_have_the_ids_of_tokens(tiny_model, tmp_path):
    made = recipe(tiny_model, tmp_path / "run")
    (phase,) = phases(made)
    generate(phase)
    (split,) = splits(made, Assumed({}))
    measured = sizes_of(phase)
    assert {name: split.files[name] for name in measured} == pytest.approx(measured, rel=0.1)


@pytest.mark.needs("plugins/ray")
def test_engines_of_all_machines_share_the_work(tiny_model, tmp_path):
    pytest.importorskip("trl")
    from evenhand.estimate.devices import DEVICES
    from evenhand.estimate.recipe import Cluster, estimate

    made = recipe(tiny_model, tmp_path / "run")
    eight = made.model_copy(update={"generate": made.generate.model_copy(update={"replicas": "auto"})})
    absent = made.corpus.model_copy(update={"path": str(tmp_path / "no.jsonl")})
    assumed = Assumed({"test": 100_000}, prompt_tokens=300)

    def stage(one, *cluster):
        found = estimate(one.model_copy(update={"corpus": absent}), DEVICES["a100"], 0.4, assumed, Cluster(*cluster))
        return found.stages[0], found.gpu_hours

    (alone, hours), (spread, all_hours) = stage(made), stage(eight, 8, 8)
    assert (alone.gpus, spread.gpus, spread.flops) == (1, 64, alone.flops)
    assert spread.hours == pytest.approx(alone.hours / 64)
    assert all_hours == pytest.approx(hours)
    # as many as a machine has is not said
    assert stage(eight, 8)[0].gpus == 8
    # 128 requests are two batches
    assumed = Assumed({"test": 128}, prompt_tokens=300)
    assert stage(eight, 8, 8)[0].gpus == 2
    twelve = made.model_copy(update={"generate": made.generate.model_copy(update={"replicas": 12})})
    with pytest.raises(
        RecipeError, match=r"key 'generate\.replicas': 12 replicas of 1 GPU each need 12, and 8 are on a node"
    ):
        stage(twelve, 1, 8)
    # of a Ray cluster a number is that of all machines
    assumed, on_ray = Assumed({"test": 100_000}, prompt_tokens=300), twelve.model_copy(update={"executor": "ray"})
    assert stage(on_ray, 2, 8)[0].gpus == 12
    # the others wait
    assert stage(on_ray, 1, 8)[0].gpus == 8


def ask(text, *, tokens=5, choices=()):
    return Ask((Message(role="user", content=text),), Sampling(max_tokens=tokens), 0, choices)


def test_what_is_run_by_hand():
    # prompts of 40 and 43 tokens of which 40 are alike; one must be left to run of each
    counter = Counter(by_rule_of_thumb)
    counter.complete([ask("abcd" * 40 + "efgh" * 3), ask("abcd" * 40 + "ijkl" * 3, choices=("1", "2"))])
    assert counter.tokens.prompts == 86
    assert counter.tokens.prefilled == 40 + 3 + 3
    assert counter.tokens.generated == 5 + 1
    # the shared ones see 1 to 40; the others 40 before them, and 1 to 3 of their own
    assert counter.tokens.seen_by_prefilled == 820 + 2 * (3 * 40 + 6)
    # the last of an answer is not run: four tokens behind 43
    assert counter.tokens.seen_by_generated == 4 * 43 + 10
    assert counter.longest == 48


def test_operations_of_prompts_and_answers_are_those_of_one_pass_over_both():
    sizes = Sizes(1000, 800, 100, 200, 4, 16, 16)
    tokens = Counter(by_rule_of_thumb)
    tokens.complete([ask("abcd" * 40)])
    # 40 of the prompt and 4 of the answer run, and five logits are made
    whole = forward_flops(sizes, 44, 44 * 45 / 2, 5)
    assert tokens.tokens.prefill_flops(sizes) + tokens.tokens.decode_flops(sizes) == whole


def test_tokens_add_up():
    assert (TokenCounts(calls=1, prompts=10).times(3) + TokenCounts(calls=1)) == TokenCounts(calls=4, prompts=30)


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        # prompts of 100 tokens at most, nine candidates of four tokens of which three run, two requests at once
        ({}, ((100 + 9 * 3,) * 2, 2 * 9 * 4, True)),
        # no more than a pass may have; the prompt is there once, and beside it five candidates
        ({"max_tokens_per_pass": 115}, ((115,), 5 * 4, True)),
        # four sequences, of two pairs
        ({"trainer": "pairwise"}, ((100 + 4,) * 4, 4 * 4)),
    ],
)
def test_the_largest_pass_by_hand(tiny_model, tmp_path, train, expected):
    made = recipe(tiny_model, tmp_path / "run", train=train, trainer={"per_device_train_batch_size": 2})
    work = work_of_run(made, ([80, 100], 100), 1.0, 9, 36, 4)
    assert largest_pass(made, work) == Pass(*expected)
