"""The guard rail: what is beyond a limit is not served; more candidates, then an extraction, then reasons."""

import re

import pytest
from served_recipes import DOCUMENTS, recipe_of, served
from typer.testing import CliRunner

from evenhand.api.steps import candidate_of
from evenhand.cli.app import app
from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import DataError
from evenhand.generate.method import draws
from evenhand.plugins.serve.asked import DocumentsRequest, read, request_of
from evenhand.plugins.serve.guard import Guard, extractions, later_draws, read_guard
from evenhand.plugins.serve.sides import worst_gap, worst_side
from evenhand.records import Judgement
from evenhand.runfolder.phases import open_phase

SHARES = {"kind": "value-shares", "matcher": {"kind": "words"}}


def said(place, text="Trams wake us."):
    """A candidate."""
    request = request_of(read(DocumentsRequest, {"documents": DOCUMENTS, "side": "ban"}), recipe_of(place))
    return candidate_of(request, text)


def fair(place, base_url=None, **more):
    """A recipe of one summary of all sides, with a judge that tells them apart."""
    judges = {"words": {"kind": "length"}, "shares": SHARES}
    return recipe_of(
        place, base_url, **{"task": {"scope": "all"}, "judges": judges, "evaluation": {"judges": ["shares"]}, **more}
    )


def ask(client, **more):
    body = {"model": "trams", "documents": DOCUMENTS, **more}
    return client.post("/v1/chat/completions", json=body)


def test_worst_side_worked_by_hand():
    # ban is due .6 and has .3: half of it, .3 behind
    shares = {"due": {"ban": 0.6, "allow": 0.4}, "found": {"ban": 0.3, "allow": 0.7}}
    assert (worst_side(shares), worst_gap(shares)) == (pytest.approx(0.5), pytest.approx(0.3))
    coverage = {"overall": 0.5, "difference": {"ban": -0.2, "allow": 0.1}, "counts": {}, "units": 3}
    assert (worst_side(coverage), worst_gap(coverage)) == (pytest.approx(0.3), pytest.approx(0.2))


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("score(other) < 1", "'other' does not judge; words, contract do"),
        ("worst_side(words) < 1", "it does not tell sides apart; judges that do: none"),
        ("gap(words) < 1", r"score\(JUDGE\) and worst_side\(JUDGE\) are known"),
        ("words", 'is not a limit.* for example "worst_side.shares. < 0.5"; --fail-if help'),
    ],
)
def test_limits_that_cannot_be_read_are_refused(tmp_path, limit, told):
    with pytest.raises(DataError, match=told):
        read_guard([limit], open_phase(recipe_of(tmp_path), "evaluation/base"))


def test_all_limits_that_are_wrong_are_named(tmp_path):
    with pytest.raises(DataError) as refused:
        read_guard(
            ["words", "score(words) < 3", "score(other) < 1"], open_phase(recipe_of(tmp_path), "evaluation/base")
        )
    first, second = str(refused.value).splitlines()
    assert "'words': is not a limit" in first and "'other' does not judge" in second


def test_limits_are_read_before_a_server_is_asked(tmp_path):
    (tmp_path / "recipe.yaml").write_text(dump_recipe(recipe_of(tmp_path, "http://127.0.0.1:1/v1")))
    told = CliRunner().invoke(app, ["serve", str(tmp_path / "recipe.yaml"), "--fail-if", "score(other) < 1"])
    assert isinstance(told.exception, DataError) and "'other' does not judge" in str(told.exception)


def test_help_lists_names_of_which_each_is_a_limit(tmp_path):
    told = CliRunner().invoke(app, ["serve", "--fail-if", "help"])
    assert told.exit_code == 0
    limits = re.findall(r"\w+\(\w+\) < [\d.]+", told.stdout)
    judges = {"faithfulness": {"kind": "length"}, "shares": SHARES}
    recipe = fair(tmp_path, judges=judges, reward={"judges": ["faithfulness"]})
    assert [each.text for each in read_guard(limits, open_phase(recipe, "evaluation/base")).limits] == limits
    assert len(limits) == 2


def test_limits_are_kept_broken_or_not_known(tmp_path):
    recipe, made = fair(tmp_path), said(tmp_path)
    guard = read_guard(["score(words) < 3", "worst_side(shares) < 50 %"], open_phase(recipe, "evaluation/base"))
    rows = {"candidate_id": "c", "request_id": "r", "signature": "s"}
    words = Judgement(judge="words", score=3, **rows)
    raw = '{"due": {"a": 0.5, "b": 0.5}, "found": {"a": 0.2, "b": 0.8}}'
    short = Judgement(judge="shares", score=0.3, raw=raw, **rows)
    unknown = Judgement(judge="shares", score=None, unscored="one value", **rows)
    enough = short.model_copy(update={"raw": raw.replace("0.2", "0.25")})
    # a has .2 of its .5
    assert guard.broken(made, [words, short], recipe.judges) == ["worst_side(shares) < 50 %: it is 0.4"]
    assert guard.broken(made, [words, unknown], recipe.judges) == [
        "worst_side(shares) < 50 %: is not known (one value)"
    ]
    assert guard.broken(made, [words, enough], recipe.judges) == []


def test_an_empty_candidate_is_refused_whatever_the_limits(tmp_path):
    made, empty = said(tmp_path), said(tmp_path, "")
    assert Guard().broken(empty, [], {}) == ["empty summary"]
    cut = empty.model_copy(update={"finish_reason": "length"})
    assert Guard().broken(cut, [], {}) == ["empty summary, stopped at max_tokens"]
    assert Guard().tries_again([made, empty]) and not Guard().tries_again([made])


def test_later_candidates_have_seeds_of_their_own(tmp_path):
    phase = open_phase(recipe_of(tmp_path), "evaluation/base")
    first, later = draws(phase.plans), later_draws(phase)
    assert [each.repeat for each in later] == [4, 5, 6, 7]
    assert [each.index for each in (*first, *later)] == list(range(8))


def test_limits_that_are_kept_change_nothing(tmp_path, upstream):
    recipe = recipe_of(tmp_path, upstream.base_url)
    with served(recipe, workers=1) as client:
        free = ask(client, side="ban").json()
    with served(recipe, "score(words) < 1", workers=1) as client:
        kept = ask(client, side="ban").json()
    assert kept["choices"] == free["choices"] and len(upstream.asked) == 1
    assert kept["evenhand"]["signature"] != free["evenhand"]["signature"]
    assert (kept["evenhand"]["source"], kept["evenhand"]["limits"]) == ("drawn", ["score(words) < 1"])


def test_more_candidates_are_drawn_and_in_the_end_the_reasons_given(tmp_path, upstream):
    with served(recipe_of(tmp_path, upstream.base_url), "score(words) < 1000", workers=1) as client:
        refused = ask(client, side="ban")
        counted = client.get("/metrics").text
    assert [body["n"] for body in upstream.asked] == [4, 4]
    told = refused.json()["error"]
    assert refused.status_code == 422 and told["code"] == "no_summary"
    assert told["message"].startswith("8 candidates, and none can be served: score(words) < 1000: it is ")
    assert 'evenhand_summaries_total{source="none"} 1.0' in counted


def test_a_fair_extraction_is_served_where_no_candidate_keeps_the_limits(tmp_path, upstream):
    # what the upstream says has no word of the documents, so that no side has anything
    with served(fair(tmp_path, upstream.base_url), "worst_side(shares) < 0.3", workers=1) as client:
        answer = ask(client)
        counted = client.get("/metrics").text
    assert answer.status_code == 200, answer.text
    about, text = answer.json()["evenhand"], answer.json()["choices"][0]["message"]["content"]
    assert (about["source"], about["n_candidates"]) == ("extracted", 9)
    assert all(each["text"] in text for each in DOCUMENTS)
    assert 'evenhand_summaries_total{source="extracted"} 1.0' in counted
    assert 'evenhand_worst_side_gap_count{judge="shares"} 1.0' in counted


def given(**sides):
    """Documents of one sentence, so many of each side, without a word in common."""
    return [
        {
            "text": f"{side.capitalize()}{chr(97 + place)} {side}{chr(97 + place)}er {side}{chr(97 + place)}est.",
            "attributes": {"side": side},
        }
        for side, n in sides.items()
        for place in range(n)
    ]


@pytest.mark.parametrize(
    ("sides", "taken"),
    [
        # two sentences are all that there are
        ({"ban": 1, "allow": 1}, [(1, 1)]),
        # 6:1:1 is due 2.25, .375 and .375 of three
        ({"ban": 6, "allow": 1, "other": 1}, [(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1)]),
        ({"ban": 9, "allow": 1}, [(2, 1), (3, 1), (4, 1), (5, 1)]),
        # of three or five, one of equal sides would have more
        ({"ban": 3, "allow": 3}, [(2, 2), (3, 3)]),
    ],
)
def test_extractions_leave_no_side_out_and_treat_equal_ones_equally(tmp_path, sides, taken):
    recipe = fair(tmp_path)
    request = request_of(read(DocumentsRequest, {"documents": given(**sides)}), recipe)
    quotas = [each.recipe.generate.fair_extractive.quotas for each in extractions(recipe, request)]
    assert [tuple(each[side] for side in sides) for each in quotas] == taken


@pytest.mark.parametrize(("sides", "n"), [({"ban": 1, "allow": 1}, 2), ({"ban": 6, "allow": 1, "other": 1}, 5)])
def test_extractions_grow_until_the_limits_hold(tmp_path, upstream, sides, n):
    # of three sentences ban has 1/3 and is due 6/8, of four 2/4, and of five 3/5, which is .8 of it
    with served(fair(tmp_path, upstream.base_url), "worst_side(shares) < 0.75", workers=1) as client:
        answer = ask(client, documents=given(**sides))
    assert answer.status_code == 200, answer.text
    about, text = answer.json()["evenhand"], answer.json()["choices"][0]["message"]["content"]
    assert (about["source"], text.count(".")) == ("extracted", n)
    assert all(side.capitalize() in text for side in sides)


def test_what_no_extraction_keeps_is_said_of_the_summary_alone(tmp_path, upstream):
    with served(fair(tmp_path, upstream.base_url), "score(words) < 1000", workers=1) as client:
        refused = ask(client, documents=given(ban=1, allow=1))
    assert refused.status_code == 422
    number = r"score\(words\) < 1000: it is \d+"
    said = refused.json()["error"]["message"]
    assert re.fullmatch(rf"9 candidates, and none can be served: {number}(; {number})*", said)


def test_metrics_count_what_was_asked(tmp_path):
    with served(recipe_of(tmp_path), workers=1, keys=("k",)) as client:
        assert client.get("/metrics").status_code == 401
        client.headers["Authorization"] = "Bearer k"
        assert ask(client, side="ban").status_code == 200
        assert ask(client).status_code == 422
        lines = client.get("/metrics").text.splitlines()
    counts = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    path = 'path="/v1/chat/completions"'
    assert counts[f'evenhand_request_seconds_count{{{path},status="200"}}'] == "1.0"
    assert counts[f'evenhand_request_seconds_count{{{path},status="422"}}'] == "1.0"
    assert counts["evenhand_candidates_total"] == "4.0"
    assert counts['evenhand_summaries_total{source="drawn"}'] == "1.0"
    assert (counts["evenhand_under_way"], counts["evenhand_waiting"]) == ("0.0", "0.0")
