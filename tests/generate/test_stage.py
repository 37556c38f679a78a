"""The stage that makes candidates: its journal, its failures, and that batches change nothing."""

import pytest
from method_runs import Filtering, make_recipe, order

from evenhand.config import Recipe
from evenhand.config.generate import METHOD_SECTIONS
from evenhand.errors import DataError, LeftOutError, RecipeError
from evenhand.generate.method import draw_seed
from evenhand.generate.scripted import copy_a_sentence
from evenhand.generate.stage import FinishedBatch, generate, generate_stage, make_batch, phase_requests
from evenhand.records import Candidate, Failure, SummaryRequest
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.phases import CANDIDATES, FAILURES, REQUESTS, open_phase
from evenhand.storage import read_jsonl, write_jsonl


@pytest.fixture
def corpus(tmp_path, ferry):
    """Three training sets and a test set; the second set has one side only, and over 500 words."""
    sets = []
    for number in range(4):
        documents = [
            each.model_copy(update={"text": f"{each.text} It is so {number} times a day."}) for each in ferry.documents
        ]
        if number == 1:
            documents = [documents[2].model_copy(update={"text": "The ferry is dear. A bridge pays for itself. " * 60})]
        changes = {
            "id": f"ferry-{number}",
            "topic": f"The ferry {number}",
            "documents": tuple(documents),
            "key_points": {},
            "split": "test" if number == 3 else "train",
        }
        sets.append(ferry.model_copy(update=changes))
    path = tmp_path / "docs.jsonl"
    write_jsonl(path, sets)
    return path


def phase(tmp_path, corpus, output="run", name="round-00", **changes):
    generation = {
        "backend": "scripted",
        "plans": {"nucleus": {"candidates": 2, "max_tokens": 20}, "greedy": {"candidates": 1, "temperature": 0}},
        "requests_per_batch": 3,
    }
    values = {
        "name": "small",
        "output": tmp_path / output,
        "model": {"name": "none"},
        "corpus": {"path": str(corpus)},
        "generate": generation | changes.pop("generate", {}),
        "judges": {"overlap": {"kind": "rouge"}},
        "reward": {"judges": ["overlap"]},
        "evaluation": {"judges": ["overlap"]},
        "rounds": 1,
    }
    return open_phase(Recipe.model_validate(values | changes), name)


def candidates(of):
    return read_jsonl(of.folder / CANDIDATES, Candidate)


def test_every_request_gets_its_candidates_in_canonical_order(tmp_path, corpus):
    made = phase(tmp_path, corpus)
    receipt, reused = generate(made)
    requests = read_jsonl(made.folder / REQUESTS, SummaryRequest)
    assert not reused
    # two sets of two sides and one of one side; repeats outermost, plans innermost
    assert [r.id for r in requests] == [r.id for r in phase_requests(made)]
    assert len(requests) == 5
    assert [(c.request_id, c.index, c.plan) for c in candidates(made)] == [
        (r.id, index, plan) for r in requests for index, plan in enumerate(("nucleus", "greedy", "nucleus"))
    ]
    assert (receipt.counts["requests"], receipt.counts["candidates"], receipt.counts["left_out"]) == (5, 15, [])


def test_candidates_do_not_depend_on_the_size_of_a_batch(tmp_path, corpus):
    made = [
        phase(tmp_path, corpus, output=f"batches-{size}", generate={"requests_per_batch": size}) for size in (1, 4, 64)
    ]
    for each in made:
        generate(each)
    first, *others = [(each.folder / CANDIDATES).read_bytes() for each in made]
    assert others == [first, first]


@pytest.mark.parametrize(
    "method", [name for name, each in METHOD_SECTIONS.items() if each.lays_out_anew and each.for_unseen]
)
def test_methods_that_lay_documents_out_anew_refuse_prompts_that_are_taken_as_published(tmp_path, corpus, method):
    backend = {"backend": "transformers"} if method == "attention-reweighting" else {}
    mine = phase(
        tmp_path,
        corpus,
        rounds=0,
        name="evaluation/base",
        generate={"method": method} | backend,
        task={"template": "released"},
    )
    with pytest.raises(RecipeError, match=rf"key 'task\.template': 'released' .*generate\.method '{method}' lays the"):
        phase_requests(mine)


def test_seeds_differ_between_candidates_requests_phases_and_recipes(tmp_path, corpus):
    made = [
        phase(tmp_path, corpus),
        phase(tmp_path, corpus, name="evaluation/base"),
        phase(tmp_path, corpus, output="other", seed=43),
    ]
    for each in made:
        generate(each)
    seeds = [c.seed for each in made for c in candidates(each)]
    # (5 + 2 + 5) requests, three candidates each
    assert len(set(seeds)) == len(seeds) == 36


def interrupted(tmp_path, corpus, output, batches, **changes):
    """A phase whose journal holds these batches and that has nothing else."""
    made = phase(tmp_path, corpus, output=output, **changes)
    Journal(generate_stage(made, phase_requests(made)).journal_path(), FinishedBatch).append(batches)
    return made


def journalled(made):
    """The first batch with these candidates; of 1,000 prompt tokens 100 were run."""
    ids = tuple(dict.fromkeys(each.request_id for each in made))
    return FinishedBatch(request_ids=ids, candidates=tuple(made), failures=(), prompt_tokens=1000, prefilled_tokens=100)


def test_an_evaluation_has_candidates_of_its_own_plans_and_those_of_equal_plans_stay_as_they_were(tmp_path, corpus):
    both = {"evaluation": {"judges": ["overlap"], "plans": {"nucleus": {"candidates": 5, "max_tokens": 20}}}}
    base, more = (
        phase(tmp_path, corpus, output, "evaluation/base", **changes)
        for output, changes in (("run", {}), ("more", both))
    )
    rounds = [phase(tmp_path, corpus, output, **changes) for output, changes in (("run", {}), ("more", both))]
    for each in (base, more, *rounds):
        generate(each)
    few, many = ([c for c in candidates(each) if c.plan == "nucleus"] for each in (base, more))
    assert (len(candidates(base)), len(many)) == (2 * 3, 2 * 5)
    assert {(c.request_id, c.seed, c.text) for c in few} < {(c.request_id, c.seed, c.text) for c in many}
    assert candidates(rounds[0]) == candidates(rounds[1])
    assert (
        generate_stage(rounds[0], phase_requests(rounds[0])).key
        == generate_stage(rounds[1], phase_requests(rounds[1])).key
    )


def test_batches_of_the_journal_are_not_made_again(tmp_path, corpus):
    whole = phase(tmp_path, corpus, output="undisturbed")
    generate(whole)
    # three requests of three candidates
    first = candidates(whole)[:9]
    marked = tuple(c.model_copy(update={"text": "From the journal."}) for c in first)
    made = interrupted(tmp_path, corpus, "run", [journalled(marked)])
    receipt, _ = generate(made)
    assert [c.text for c in candidates(made)[:9]] == ["From the journal."] * 9
    assert candidates(made)[9:] == candidates(whole)[9:]
    assert receipt.counts["candidates"] == 15
    # the journal's prefill is counted with that of this run, in which the scripted backend shares nothing
    own = sum(c.n_prompt_tokens for c in candidates(made)[9:])
    assert receipt.counts["prompt_tokens"] == 1000 + own
    assert receipt.counts["prefilled_tokens"] == 100 + own
    assert receipt.counts["prefix_cache_hit_rate"] == round(900 / (1000 + own), 4)
    assert not list(made.folder.glob("receipts/*.partial.jsonl"))


def test_where_nothing_is_left_nothing_is_opened(tmp_path, corpus, monkeypatch):
    whole = phase(tmp_path, corpus, output="undisturbed")
    generate(whole)
    made = interrupted(tmp_path, corpus, "run", [journalled(candidates(whole)[:9]), journalled(candidates(whole)[9:])])
    monkeypatch.setattr("evenhand.generate.stage.open_backend_of", lambda _: pytest.fail("opened"))
    generate(made)
    assert candidates(made) == candidates(whole)


def test_continued_stage_ends_with_the_files_of_an_undisturbed_one(tmp_path, corpus):
    whole = phase(tmp_path, corpus, output="undisturbed")
    generate(whole)
    batch = journalled(candidates(whole)[:9])
    made = interrupted(tmp_path, corpus, "run", [batch])
    journal = next(made.folder.glob("receipts/*.partial.jsonl"))
    with journal.open("a") as file:
        file.write('{"number":1,"candidates":[{"id":"torn')
    generate(made)
    for name in (REQUESTS, CANDIDATES, FAILURES):
        assert (made.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name


@pytest.mark.parametrize("changes", [{"requests_per_batch": 1}, {"engine": {"seconds_per_batch": 0.001}}])
def test_what_changes_only_speed_or_memory_may_be_changed_before_a_stage_continues(tmp_path, corpus, changes):
    whole = phase(tmp_path, corpus, output="undisturbed")
    generate(whole)
    first = candidates(whole)[:9]
    marked = tuple(c.model_copy(update={"text": "From the journal."}) for c in first)
    interrupted(tmp_path, corpus, "run", [journalled(marked)])
    made = phase(tmp_path, corpus, generate=changes)
    generate(made)
    assert [c.text for c in candidates(made)[:9]] == ["From the journal."] * 9
    assert candidates(made)[9:] == candidates(whole)[9:]
    assert generate(whole)[1], "the finished stage is the same"
    assert generate_stage(made, phase_requests(made)).key == generate_stage(whole, phase_requests(whole)).key


def test_journal_of_another_recipe_is_not_used(tmp_path, corpus):
    other = phase(tmp_path, corpus, output="other", seed=43)
    generate(other)
    batch = journalled(candidates(other)[:9])
    interrupted(tmp_path, corpus, "run", [batch], seed=43)
    made = phase(tmp_path, corpus)
    generate(made)
    assert not {c.seed for c in candidates(made)} & {c.seed for c in candidates(other)}


def test_finished_stage_is_reused(tmp_path, corpus):
    made = phase(tmp_path, corpus)
    before, _ = generate(made)
    assert generate(made) == (before, True)


def test_requests_that_cannot_be_answered_are_counted_by_side(tmp_path, corpus):
    made = phase(tmp_path, corpus, generate={"max_model_len": 300}, limits={"failed": 0.2})
    receipt, _ = generate(made)
    (failure,) = read_jsonl(made.folder / FAILURES, Failure)
    assert (failure.request_id, failure.side) == ("ferry-1/right", "right")
    assert "exceed max_model_len 300" in failure.detail
    assert receipt.counts["left_out"] == [
        {"stage": "generate", "what": "request", "side": "right", "reason": failure.reason, "count": 1}
    ]
    assert {c.request_id for c in candidates(made)} == {r.id for r in phase_requests(made)} - {"ferry-1/right"}
    assert receipt.counts["candidates"] == 12


def drawn(recipe, requests, is_filtered, n=3):
    """The batch of these requests, with answers filtered."""
    made = open_phase(recipe, "evaluation/base")
    return make_batch(made, Filtering(copy_a_sentence, is_filtered), requests, order(n))


@pytest.mark.parametrize(
    "method",
    [
        "zero-shot",
        pytest.param("self-refine", marks=pytest.mark.needs("plugins/self_refine")),
        pytest.param("debate", marks=pytest.mark.needs("plugins/debate")),
        pytest.param("shuffled", marks=pytest.mark.needs("plugins/shuffled")),
    ],
)
def test_filtered_answer_leaves_the_other_answers_of_its_request(tmp_path, corpus, method):
    requests = list(phase_requests(phase(tmp_path, corpus)))[:2]
    recipe = make_recipe(method, tmp_path / "run")
    seeds = {
        draw.index: draw_seed("methods", recipe.seed, "evaluation/base", requests[0].id, draw) for draw in order(3)
    }
    batch = drawn(recipe, requests, lambda ask: ask.seed == seeds[1])
    assert [(c.request_id, c.index) for c in batch.candidates] == [
        *((requests[0].id, index) for index in (0, 2)), *((requests[1].id, index) for index in (0, 1, 2)),
    ]  # fmt: skip
    assert [(f.request_id, f.index, f.detail) for f in batch.failures] == [(requests[0].id, 1, "filtered")]
    # the others are those of an undisturbed run
    whole = {c.id for c in drawn(recipe, requests, lambda ask: False).candidates}
    assert {c.id for c in batch.candidates} < whole


def test_request_of_which_all_answers_are_filtered_is_one_failure(tmp_path, corpus):
    requests = list(phase_requests(phase(tmp_path, corpus)))[:2]
    batch = drawn(make_recipe("zero-shot", tmp_path / "run"), requests, lambda ask: ask.prompt == requests[0].prompt)
    assert [(f.request_id, f.index) for f in batch.failures] == [(requests[0].id, None)]
    assert {c.request_id for c in batch.candidates} == {requests[1].id}


def test_too_many_failures_end_with_exit_code_3_after_the_files_are_written(tmp_path, corpus):
    # 1 of 5 is 0.2
    made = phase(tmp_path, corpus, generate={"max_model_len": 300}, limits={"failed": 0.19})
    with pytest.raises(
        LeftOutError, match=r"1 of 5 requests have no candidate, more than limits\.failed 0\.19"
    ) as caught:
        generate(made)
    assert caught.value.exit_code == 3
    assert len(candidates(made)) == 12
    assert len(read_jsonl(made.folder / FAILURES, Failure)) == 1
    # a finished stage is refused again, and accepted as it is once the limit is raised
    with pytest.raises(LeftOutError):
        generate(made)
    raised = phase(tmp_path, corpus, generate={"max_model_len": 300}, limits={"failed": 0.2})
    assert generate(raised)[1]


def test_policy_whose_adapter_is_absent_is_refused(tmp_path, corpus):
    with pytest.raises(DataError, match=r"evaluation/round-00: .*round-00/adapter, which is not there"):
        generate(phase(tmp_path, corpus, name="evaluation/round-00"))
