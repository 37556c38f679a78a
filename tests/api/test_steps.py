"""Steps in memory: what they give, and that a run's stages give the same."""

import json

import pytest

import evenhand
from evenhand.api import steps
from evenhand.api.results import Candidates
from evenhand.errors import DataError, RecipeError
from evenhand.generate.stage import generate as generate_stage
from evenhand.judges import open_judges
from evenhand.judges.stage import judge_by
from evenhand.records import BestSummary, Candidate, Failure, Judgement
from evenhand.rerank.stage import rerank as rerank_stage
from evenhand.runfolder.phases import open_phase
from evenhand.storage import read_jsonl, write_jsonl

JUDGES = {
    "recall": {"kind": "rouge", "type": "rouge1", "measure": "recall"},
    "words": {"kind": "length"},
}


@pytest.fixture
def documents(rows):
    return evenhand.load_documents(rows, "side")


def test_nine_candidates_of_each_side_by_three_plans(documents):
    made = evenhand.generate(documents, backend="scripted", model="none")
    assert len(made) == 3 * 2 * 9 and not made.failures
    assert [row["plan"] for row in made.rows()[:9]] == ["nucleus", "top_k", "hybrid"] * 3
    assert {row["side"] for row in made.rows()} == {"ban", "allow"}


@pytest.mark.parametrize(("n", "plans"), [(1, ["nucleus"]), (4, ["nucleus", "top_k", "hybrid", "nucleus"])])
def test_other_numbers_are_shared_out(documents, n, plans):
    made = evenhand.generate(documents, backend="scripted", model="none", n=n, task={"scope": "all"})
    assert [row["plan"] for row in made.rows()[:n]] == plans and len(made) == 3 * n


def test_a_dict_of_rows_is_enough(rows):
    made = evenhand.generate(evenhand.load_documents(rows, ["side"]), "none", backend="scripted", n=2)
    assert evenhand.judge(made, {"words": {"kind": "length"}}).rows()[0]["words"] > 3


def test_steps_give_what_the_stages_of_a_run_give(rows, tmp_path):
    documents = evenhand.load_documents(rows, "side")
    write_jsonl(tmp_path / "docs.jsonl", documents)
    recipe = evenhand.load_recipe(
        {
            "name": "same",
            "output": str(tmp_path / "run"),
            "model": {"name": "none"},
            "corpus": {"path": str(tmp_path / "docs.jsonl"), "attribute": "side", "test": {"split": None}},
            "generate": {"backend": "scripted", "plans": {"hot": {"temperature": 1.0, "candidates": 4}}},
            "judges": JUDGES,
            "reward": {"judges": ["recall", "words"], "combine": "z_mean", "weights": {"recall": 2.0, "words": 1.0}},
            "evaluation": {"judges": ["recall"]},
            "rounds": 0,
        }
    )
    phase = open_phase(recipe, "evaluation/base")
    generate_stage(phase)
    judge_by(phase, open_judges(recipe.judges))
    rerank_stage(phase)

    made = evenhand.generate(documents, recipe=recipe)
    judged = evenhand.judge(made, recipe)
    best = evenhand.rerank(judged, weights={"recall": 2.0, "words": 1.0})
    assert list(made) == read_jsonl(phase.folder / "candidates.jsonl", Candidate)
    key = lambda each: (each.candidate_id, each.judge)  # noqa: E731
    assert sorted(judged, key=key) == sorted(read_jsonl(phase.folder / "judgements.jsonl", Judgement), key=key)
    assert list(best) == read_jsonl(phase.folder / "best.jsonl", BestSummary)


def test_unscored_stays_none_with_its_reason(rows):
    judges = {**JUDGES, "points": {"kind": "rouge", "type": "rouge1", "measure": "recall", "against": "key_points"}}
    summaries = {"town a": "Trams wake the street.", "town b": "", "town c": "Rails are clean."}
    judged = evenhand.judge(summaries, judges, evenhand.load_documents(rows, "side"))
    by_set = {row["set"]: row for row in judged.rows()}
    assert by_set["town a"]["recall"] > 0 and by_set["town a"]["points"] is None
    assert by_set["town a"]["unscored"] == "points: no key points listed"
    assert by_set["town b"]["recall"] is None and "empty summary" in by_set["town b"]["unscored"]
    best = evenhand.rerank(judged, ["recall"])
    assert [row["reward"] is None for row in best.rows()] == [False, True, False]
    assert evenhand.rerank(judged)[0].text is None


def test_summaries_of_each_side_made_elsewhere(rows, tmp_path):
    texts = [
        {"id": f"town {town}/{side}", "summary": f"The {side.capitalize()} argues that trams matter."}
        for town in "abc"
        for side in ("ban", "allow")
    ]
    documents = evenhand.load_documents(rows, "side")
    judged = evenhand.judge(texts, {"contract": {"kind": "contract"}}, documents, task={"scope": "side"})
    assert [row["contract"] for row in judged.rows()] == [1.0] * 6
    assert [row["side"] for row in judged.rows()[:2]] == ["ban", "allow"]
    write_jsonl(tmp_path / "best.jsonl", evenhand.rerank(judged, combine="mean"))
    task = {"scope": "side"}
    again = evenhand.judge(tmp_path / "best.jsonl", {"contract": {"kind": "contract"}}, documents, task=task)
    assert again.rows() == judged.rows()


def test_several_systems_are_judged_as_each_alone_and_models_opened_once(documents, monkeypatch):
    given = [evenhand.generate(documents, "none", n=n, seed=n, backend="scripted") for n in (3, 2)]
    # nearness to a request's other candidates: those of the other system are none of them
    judges = {"near": {"kind": "consensus"}, "recall": {"kind": "rouge"}}
    alone = [evenhand.judge(each, judges) for each in given]
    opened = []
    monkeypatch.setattr(steps, "open_judges", lambda options: opened.append(options) or open_judges(options))
    together = steps.judge_each(given, judges)
    assert [list(each) for each in together] == [list(each) for each in alone]
    assert [each.rows() for each in together] == [each.rows() for each in alone]
    assert len(opened) == 1


def test_labels_reach_prompt_and_contract(documents):
    task = {"labels": {"ban": "supporters of the ban"}}
    made = evenhand.generate(documents, "none", backend="scripted", n=4, task=task)
    request = made.requests["town a/ban"]
    assert request.contract.opening == "The supporters of the ban"
    assert any(each.text.startswith("The supporters of the ban") for each in made)


def test_pairs_train_in_trl_columns(documents, tmp_path):
    judged = evenhand.judge(evenhand.generate(documents, "none", backend="scripted", task={"scope": "all"}), JUDGES)
    found = evenhand.pairs(evenhand.rerank(judged, ["recall"]), mode="all", chosen_keeps_contract=False)
    assert len(found) and found.left_out["same text"]
    assert found.left_out_by_side == {"all": found.left_out}
    assert all(row["margin"] > 0 for row in found.rows())
    found.write(tmp_path / "pairs.jsonl")
    first = json.loads((tmp_path / "pairs.jsonl").read_text().splitlines()[0])
    assert first["chosen"][0]["role"] == "assistant" and first["prompt"][0]["role"] == "user"


def test_pairs_that_are_left_out_are_counted_by_side(documents):
    best = evenhand.rerank(evenhand.judge(evenhand.generate(documents, "none", backend="scripted"), JUDGES), ["recall"])
    found = evenhand.pairs(best, least_margin=2.0)
    sides = {each.side for each in best}
    assert len(sides) == 2 and set(found.left_out_by_side) == sides
    assert sum(sum(counts.values()) for counts in found.left_out_by_side.values()) == sum(found.left_out.values())
    assert all(f"{side} " in found.about() for side in sides)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"backend": "scriptd"}, "generate.backend"),
        ({"bakend": "scripted"}, "did you mean 'backend'"),
        ({"n": 3, "plans": {"hot": {}}}, "leave one out"),
        ({"n": 0}, "at least one"),
        ({"task": {"scop": "all"}}, "did you mean 'scope'"),
    ],
)
def test_mistakes_are_those_of_a_recipe(documents, options, match):
    with pytest.raises(RecipeError, match=match):
        evenhand.generate(documents, "none", **options)


def test_judges_and_rewards_are_checked(documents):
    made = evenhand.generate(documents, "none", backend="scripted", n=2)
    with pytest.raises(RecipeError, match=r"judges\.recall"):
        evenhand.judge(made, {"recall": {"kind": "rogue"}})
    judged = evenhand.judge(made, JUDGES)
    with pytest.raises(RecipeError, match="'fluency' has not judged"):
        evenhand.rerank(judged, ["fluency"])
    with pytest.raises(RecipeError, match="reward"):
        evenhand.rerank(judged, combine="best")


@pytest.mark.parametrize(
    ("model", "options", "match"),
    [
        (3, {}, "model is int 3"),
        ("none", {"task": "all"}, "task is str 'all'"),
        ("none", {"recipe": 3}, "a recipe is int 3"),
        ("none", {"n": "3"}, "n is '3'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(documents, model, options, match):
    with pytest.raises(RecipeError, match=match):
        evenhand.generate(documents, model, backend="scripted", **options)


@pytest.mark.parametrize("judges", [3, None, ["recall"], {}])
def test_judges_that_are_none_are_refused(documents, judges):
    with pytest.raises(RecipeError, match=r"judges are .*give a dict of names"):
        evenhand.judge(evenhand.generate(documents, "none", backend="scripted", n=1), judges)


def test_steps_take_what_the_step_before_gives(documents):
    made = evenhand.generate(documents, "none", backend="scripted", n=2)
    with pytest.raises(DataError, match=r"give what `evenhand\.judge` gives"):
        evenhand.rerank(made)
    judged = evenhand.judge(made, JUDGES)
    with pytest.raises(DataError, match=r"give what `evenhand\.rerank` gives"):
        evenhand.pairs(judged)
    with pytest.raises(RecipeError, match="weights is "):
        evenhand.rerank(judged, weights=[1])
    with pytest.raises(RecipeError, match="judges are int 3"):
        evenhand.rerank(judged, 3)
    # one name needs no list
    assert evenhand.rerank(judged, "recall").rows() == evenhand.rerank(judged, ["recall"]).rows()


def test_summaries_need_documents_and_fit_them(rows, documents):
    with pytest.raises(DataError, match="need their documents"):
        evenhand.judge({"town a": "Trams."}, JUDGES)
    with pytest.raises(DataError, match=r"town x.*\n.*town b"):
        evenhand.judge({"town a": "Trams.", "town x": "Rails."}, JUDGES, documents)


@pytest.mark.needs("plugins/opinions")
def test_an_extraction_draws_by_no_plans_and_needs_none(documents):
    task = {"scope": "all"}
    made = evenhand.generate(documents, None, task=task, method="fair-extractive", fair_extractive={"length": 1})
    assert len(made) == 3
    with pytest.raises(RecipeError, match=r"plans"):
        evenhand.generate(documents, None, n=2, task=task, method="fair-extractive", fair_extractive={"length": 1})


def test_documents_without_the_only_attribute_are_told_and_not_met_later():
    sets = [
        {
            "id": "a",
            "documents": [{"id": "1", "text": "One.", "attributes": {"side": "ban"}}, {"id": "2", "text": "Two."}],
        }
    ]
    with pytest.raises(DataError, match=r"the attribute side, which 1 of them lack; name"):
        evenhand.generate(evenhand.load_documents(sets), "none", backend="scripted")
    with pytest.raises(DataError, match=r"document '2' has no attribute 'side'"):
        evenhand.load_documents(sets, "side")


def test_tables_are_taken_wherever_documents_are(rows):
    pandas = pytest.importorskip("pandas")
    documents = evenhand.load_documents(rows, "side")
    expected = evenhand.generate(documents, "none", backend="scripted", n=1)
    texts = {each.id: "Trams are what they differ on." for each in documents}
    frame = pandas.DataFrame({"id": list(texts), "generated_text": list(texts.values())})
    for table in (rows, pandas.DataFrame(rows)):
        made = evenhand.generate(table, "none", backend="scripted", n=1, attribute="side")
        assert list(made) == list(expected)
        for summaries in (texts, frame, frame.rename(columns={"generated_text": "what"})):
            columns = {"text": "what"} if "what" in summaries else None
            judged = evenhand.judge(
                summaries, {"words": {"kind": "length"}}, table, attribute="side", summary_columns=columns
            )
            assert [row["words"] for row in judged.rows()] == [6.0] * 3
        found = evenhand.audit(table, {"mine": frame}, "side", measures="value-shares", matcher="words", resamples=200)
        assert [each.label for each in found.found.systems] == ["mine"]


def test_a_table_without_its_attribute_is_told_what_takes_it(rows):
    for call in (
        lambda: evenhand.generate(rows, "none", backend="scripted"),
        lambda: evenhand.judge(["Fine."] * 3, JUDGES, rows),
        lambda: evenhand.load_documents(rows),
    ):
        with pytest.raises(
            DataError, match=r"load_documents\(\.\.\., attribute=COLUMN\), whose result is taken wherever"
        ):
            call()


def test_summaries_that_go_by_order_and_leftovers_are_warned_of(documents, caplog):
    evenhand.judge(["Fine.", "[deleted]", "Good."], JUDGES, documents)
    assert [each.partition(":")[0] for each in caplog.messages] == ["summaries"] * 2
    assert "without ids" in caplog.messages[0] and "'[deleted]' 1" in caplog.messages[1]


def test_a_contract_is_checked_on_the_whole_text(documents):
    texts = [
        {"id": f"{each.id}/{side}", "summary": f"The {side.capitalize()} argues that trams matter.\n\nAnd so on."}
        for each in documents
        for side in ("ban", "allow")
    ]
    judged = evenhand.judge(texts, {"contract": {"kind": "contract"}}, documents, task={"scope": "side"})
    assert {row["contract"] for row in judged.rows()} == {0.0}
    assert {each.issues for each in judged.candidates} == {("multi_sentence",)}
    two = evenhand.judge(texts, {"contract": {"kind": "contract"}}, documents, task={"scope": "side", "sentences": 2})
    assert {row["contract"] for row in two.rows()} == {1.0}


def test_candidates_say_how_many_failed():
    made = evenhand.generate("sample", "none", n=1, backend="scripted", attribute="stance")
    failures = [Failure(request_id=name, side="left", reason="refused", detail="") for name in list(made.requests)[:2]]
    nothing = Candidates([], made.requests.values(), made.recipe, failures)
    assert repr(nothing) == "<0 candidates, 2 failed: see .failures>"
    assert "failed" not in repr(made)
