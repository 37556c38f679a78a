"""Thinned sets: which copies there are, what their prompts hold, and what becomes of their summaries."""

import pytest
from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.config import Recipe
from evenhand.generate.method import DrawnReply
from evenhand.generate.requests import build_requests
from evenhand.generate.rounds import KeptRounds
from evenhand.generate.stage import generate, generate_stage, phase_requests
from evenhand.plugins.fairpo.thinned import WithThinned, as_drawn, copies_of, summarise, thinned_copies
from evenhand.records import Candidate, Document, DocumentSet, Turn
from evenhand.runfolder.phases import CANDIDATES, TURNS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

# 8 documents: a tenth, rounded, is one. Only "good" has more than 3, "good" and "bad" have more than one
OPINIONS = ["good"] * 4 + ["bad"] * 3 + ["mixed"]


def reviews(name="kettle", opinions=OPINIONS, split="train"):
    documents = tuple(
        Document(
            id=f"{name}-{i}",
            text=f"Review {opinion} {i} of the {name}.",
            attributes={"opinion": opinion} if opinion else {},
        )
        for i, opinion in enumerate(opinions)
    )
    return DocumentSet(id=name, topic=name, documents=documents, split=split)


def recipe(**changes):
    values = make_recipe("zero-shot").model_dump(mode="json", exclude={"task"})
    generation = values["generate"] | {"method": "thinned"} | changes.pop("generate", {})
    sections = {
        "generate": generation, "corpus": {"attribute": "opinion"}, "task": {"scope": "all"},
        "judges": values["judges"] | {"ec": {"kind": "equal-coverage", "entailer": {"kind": "words"}}},
        "pairs": {"mode": "fairpo", "judge": "ec"},
    }  # fmt: skip
    return Recipe.model_validate(values | sections | changes)


def requests_for(*sets):
    used = recipe()
    return build_requests(sets, used.corpus, used.task)


def answers(row):
    return [DrawnReply(*each) for each in zip(order(), (100, 101), row, strict=True)]


def listed(prompt):
    """The documents of a prompt, as numbered there."""
    return [line for line in prompt[-1].content.splitlines() if line[:1].isdigit()]


def test_every_value_that_could_be_chosen_is_thinned():
    (request,) = requests_for(reviews())
    copies = thinned_copies(request, 7, recipe())
    # "good" twice: it may be the most and, because it alone has more than three documents, the least represented too
    assert [copy.thinned.value for copy in copies] == ["good", "good", "bad"]
    assert [len(copy.thinned.left_out) for copy in copies] == [1, 1, 1]
    assert copies[0].thinned.left_out != copies[1].thinned.left_out
    value_of = {d.id: d.attributes["opinion"] for d in request.document_set.documents}
    assert all(value_of[i] == copy.thinned.value for copy in copies for i in copy.thinned.left_out)


def test_copies_list_what_is_left_numbered_anew_in_an_order_of_their_own():
    (request,) = requests_for(reviews())
    copies = thinned_copies(request, 7, recipe())
    whole = [line.partition(". ")[2] for line in listed(request.prompt)]
    texts, orders = {d.id: d.text for d in request.document_set.documents}, []
    for copy in copies:
        lines = listed(copy.prompt)
        assert [line.partition(". ")[0] for line in lines] == [str(n) for n in range(1, 8)]
        shown = [line.partition(". ")[2] for line in lines]
        assert set(whole) - set(shown) == {texts[i] for i in copy.thinned.left_out}
        orders.append(shown == [text for text in whole if text in shown])
    assert not all(orders)
    assert thinned_copies(request, 7, recipe()) == copies
    assert thinned_copies(request, 8, recipe()) != copies


def test_rate_is_a_share_of_all_documents_and_unlabelled_ones_stay():
    (request,) = requests_for(reviews(opinions=["good"] * 8 + ["bad"] * 7 + [None]))
    copies = thinned_copies(request, 1, recipe(generate={"thinned": {"rate": 0.2}}))
    # a fifth of the 15 documents that have a value
    assert [(c.thinned.value, len(c.thinned.left_out)) for c in copies] == [("good", 3), ("bad", 3)]
    assert all("Review None 15 of the kettle." in copy.prompt[-1].content for copy in copies)


def test_set_of_single_documents_has_no_copies():
    (request,) = requests_for(reviews(opinions=["good", "bad"]))
    assert thinned_copies(request, 1, recipe()) == []


def test_full_set_is_summarised_as_zero_shot_would_and_each_copy_by_the_same_plan():
    requests = requests_for(reviews(), reviews("lamp", ["good", "bad"]))
    backend = Noting(lambda ask: f"Summary {ask.seed}.")
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe()))
    (asks,) = backend.calls
    assert len(asks) == 2 * (1 + 3) + 2
    assert [reply.text for row in replies for reply in row] == [f"Summary {s}." for s in (100, 101, 200, 201)]
    assert len({ask.seed for ask in asks}) == len(asks)
    kettle, lamp = (copies_of(answers(row)) for row in replies)
    # two draws of the full set, then two of each copy
    assert [(answer.draw.index, thinned.value) for answer, thinned in kettle] == [
        (2, "good"), (3, "good"), (4, "good"), (5, "good"), (6, "bad"), (7, "bad"),
    ]  # fmt: skip
    assert [answer.draw.index % 2 == answer.draw.repeat for answer, _ in kettle] == [True] * 6
    assert lamp == []


def test_copy_that_cannot_be_summarised_fails_the_draw():
    requests = requests_for(reviews())
    own = requests[0].prompt

    class OwnPromptOnly(Noting):
        def complete(self, asks):
            self._max_model_len = 10_000
            short = [ask for ask in asks if ask.prompt == own]
            answered = iter(super().complete(short))
            self._max_model_len = 1
            refused = iter(super().complete([ask for ask in asks if ask.prompt != own]))
            return [next(answered if ask.prompt == own else refused) for ask in asks]

    ((reply, _),) = summarise(job(OwnPromptOnly(lambda _: "A."), requests, order(), seeds_of(requests, 2), recipe()))
    assert not isinstance(reply, WithThinned)
    assert (reply.finish_reason, reply.reason) == ("failed", "prompt too long")
    assert reply.error.startswith("without some documents of 'good': prompt of ")


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "docs.jsonl"
    write_jsonl(path, [reviews("kettle"), reviews("lamp"), reviews("mug", split="test")])
    return path


def phase(tmp_path, corpus, name="round-00", output="run", **changes):
    changes["generate"] = {"plans": {"p": {"candidates": 2, "max_tokens": 20}}} | changes.get("generate", {})
    place = {"path": str(corpus), "attribute": "opinion", "sides": changes.pop("sides", None)}
    return open_phase(recipe(output=str(tmp_path / output), corpus=place, rounds=1, **changes), name)


def test_candidates_say_which_documents_their_prompt_lacked(tmp_path, corpus):
    made = phase(tmp_path, corpus)
    receipt, _ = generate(made)
    found = read_jsonl(made.folder / CANDIDATES, Candidate)
    assert receipt.counts["candidates"] == len(found) == 2 * 2 * (1 + 3)
    assert {c.method for c in found} == {"thinned"}
    kettle = [c for c in found if c.request_id == "kettle/all"]
    assert [c.index for c in kettle] == list(range(8))
    assert [c.thinned.value if c.thinned else None for c in kettle] == [None] * 2 + ["good"] * 4 + ["bad"] * 2
    (request, _) = phase_requests(made)
    words = request.prompt[-1].content.split()
    # the scripted backend counts words; copies have shorter prompts of other digests
    assert {c.n_prompt_tokens - len(words) for c in kettle[2:]} == {-7}
    assert len({c.prompt_digest for c in kettle}) == 4
    assert len({c.id for c in found}) == len(found)


def test_batches_change_nothing_and_finished_work_is_reused(tmp_path, corpus):
    whole = phase(tmp_path, corpus)
    split = phase(tmp_path, corpus, output="split", generate={"requests_per_batch": 1})
    for each in (whole, split):
        generate(each)
    assert (whole.folder / CANDIDATES).read_bytes() == (split.folder / CANDIDATES).read_bytes()
    assert generate(whole)[1]


def test_unseen_sets_are_summarised_as_they_are(tmp_path, corpus):
    made = phase(tmp_path, corpus, name="evaluation/base")
    generate(made)
    found = read_jsonl(made.folder / CANDIDATES, Candidate)
    assert [(c.method, c.thinned) for c in found] == [("zero-shot", None)] * 2
    other = phase(tmp_path, corpus, name="evaluation/base", generate={"thinned": {"rate": 0.5}})
    assert generate(other)[1], "another rate leaves evaluations as they are"


def test_rate_and_sides_belong_to_what_candidates_depend_on(tmp_path, corpus):
    keys = {
        generate_stage(each, phase_requests(each)).key
        for each in (
            phase(tmp_path, corpus),
            phase(tmp_path, corpus, generate={"thinned": {"rate": 0.5}}),
            phase(tmp_path, corpus, sides=["bad", "good"]),
        )
    }
    assert len(keys) == 3


PUBLISHED = {"rate": 0.1, "reject": True, "join_lines": True, "regenerate": {}, "most_characters": 400}


def test_options_that_are_off_change_no_key_and_those_that_are_on_do(tmp_path, corpus):
    def stage(**options):
        made = phase(tmp_path, corpus, generate={"thinned": options})
        return generate_stage(made, phase_requests(made))

    plain = stage()
    assert plain.inputs["generate"]["thinned"] == {"rate": 0.1, "most_characters": None}
    assert TURNS not in plain.outputs
    assert stage(reject=False, join_lines=False, regenerate=None).key == plain.key
    on = [{"reject": True}, {"join_lines": True}, {"regenerate": {}}, {"regenerate": {"words": 60}}]
    assert len({plain.key, *(stage(**each).key for each in on)}) == 5


def test_summaries_drawn_again_say_so_and_keep_both_draws(tmp_path, corpus):
    made = phase(tmp_path, corpus, generate={"thinned": {"regenerate": {"few_words": 4, "words": 5, "many_words": 6}}})
    receipt, _ = generate(made)
    found = read_jsonl(made.folder / CANDIDATES, Candidate)
    turns = read_jsonl(made.folder / TURNS, Turn)
    # "Review good 3 of the kettle." has six words, so every summary is drawn twice, and the first is kept
    n = 2 * 2 * (1 + 3)
    assert receipt.counts["drawn_again"] == {"drawn": n, "kept": 0}
    assert receipt.counts["turns"] == len(turns) == 2 * n
    assert {(t.round, t.role, t.is_candidate) for t in turns} == {(0, "summary", True), (1, "again", False)}
    assert len({(t.request_id, t.index, t.round) for t in turns}) == len({t.seed for t in turns}) == 2 * n
    drawn = {(t.request_id, t.index): t for t in turns if t.round == 0}
    assert all((c.raw_text, c.seed) == (t.text, t.seed) for c in found if (t := drawn[c.request_id, c.index]))
    assert {c.sampling.max_tokens for c in found} == {20}


def test_kept_second_draw_is_the_candidate_with_its_own_seed_and_length():
    requests = requests_for(reviews())
    firsts = {100, 101}

    def script(ask):
        return "Too short." if ask.seed in firsts else "word " * 50

    used = recipe(generate={"thinned": PUBLISHED})
    (row,) = summarise(job(Noting(script), requests, order(), seeds_of(requests, 2), used))
    for draw, seed, reply in answers(row):
        kept, its_seed, _ = as_drawn(DrawnReply(draw, seed, reply))
        assert reply.text == "word " * 50
        assert its_seed not in firsts
        assert (kept.index, kept.plan.max_tokens, draw.plan.max_tokens) == (draw.index, 256, 20)
        own = [turn for turn in reply.turns if turn.index == draw.index]
        assert [(t.text, t.seed, t.is_candidate) for t in own] == [
            ("Too short.", seed, True), ("word " * 50, its_seed, True),
        ]  # fmt: skip
        assert len(reply.turns) == 2 + 3
    assert {each.draw.plan.max_tokens for each, _ in copies_of(answers(row))} == {20}


def test_rejected_summaries_are_candidates_without_text_that_the_receipt_counts(tmp_path, corpus):
    write_jsonl(corpus, [reviews("document 1"), reviews("lamp")])
    made = phase(tmp_path, corpus, generate={"thinned": PUBLISHED})
    receipt, _ = generate(made)
    found = read_jsonl(made.folder / CANDIDATES, Candidate)
    # the scripted backend repeats a review; each of the first set's names its product
    n = 2 * (1 + 3)
    assert receipt.counts["contract_issues"] == {"names_document": n, "few_words": n}
    assert {c.text == "" for c in found if c.request_id == "document 1/all"} == {True}
    assert all(c.text for c in found if c.request_id == "lamp/all")
    # six words are too few, of the second set alone
    assert receipt.counts["drawn_again"]["drawn"] == n


def test_batches_change_nothing_of_what_is_drawn_again(tmp_path, corpus):
    whole = phase(tmp_path, corpus, generate={"thinned": PUBLISHED})
    split = phase(tmp_path, corpus, output="split", generate={"thinned": PUBLISHED, "requests_per_batch": 1})
    for each in (whole, split):
        generate(each)
    for name in (CANDIDATES, TURNS):
        assert (whole.folder / name).read_bytes() == (split.folder / name).read_bytes()
    assert generate(whole)[1]


def test_first_draws_are_not_made_again_when_the_second_ones_were_interrupted():
    requests, used, kept = requests_for(reviews()), recipe(generate={"thinned": PUBLISHED}), []

    class Interrupted(Noting):
        def complete(self, asks):
            if self.calls:
                raise KeyboardInterrupt
            return super().complete(asks)

    def run(backend):
        return summarise(
            job(KeptRounds(backend, "batch", kept, kept.append), requests, order(), seeds_of(requests, 2), used)
        )

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(echo))
    backend, undisturbed = Noting(echo), Noting(echo)
    found = run(backend)
    assert found == summarise(job(undisturbed, requests, order(), seeds_of(requests, 2), used))
    assert backend.calls == undisturbed.calls[1:]


def echo(ask):
    return f"Summary {ask.seed}."
