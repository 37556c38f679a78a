"""Which candidates are compared in training."""

from collections import Counter
from itertools import permutations

import pytest
from conftest import make_candidate, make_request

from evenhand.config import PairsSection
from evenhand.records import CandidateGroup, ScoredCandidate
from evenhand.rerank.pairs import best_of, choose_pairs, first_of_each_text, preference_pair

REFUSAL = "I'm sorry, but I can't assist with that request."


def rewarded(ferry, *rows):
    request = make_request(ferry)
    made = [make_candidate(request, text, i) for i, (_, text) in enumerate(rows)]
    made = [each.model_copy(update={"issues": ("refusal",)}) if each.text == REFUSAL else each for each in made]
    return [
        ScoredCandidate(candidate=each, scores={}, reward=reward) for each, (reward, _) in zip(made, rows, strict=True)
    ]


def test_highest_reward_wins(ferry):
    assert best_of(rewarded(ferry, (1.0, "The Left a."), (2.0, "The Left b."))).candidate.text == "The Left b."


def test_first_of_equals_wins(ferry):
    assert best_of(rewarded(ferry, (2.0, "The Left a."), (2.0, "The Left b."))).candidate.index == 0


def test_broken_contract_loses_a_tie_but_not_a_lead(ferry):
    assert best_of(rewarded(ferry, (2.0, "Sales rose."), (2.0, "The Left b."))).candidate.index == 1
    assert best_of(rewarded(ferry, (2.1, "Sales rose."), (2.0, "The Left b."))).candidate.index == 0


def test_unscored_candidates_never_win(ferry):
    assert best_of(rewarded(ferry, (None, "The Left a."), (-3.0, "The Left b."))).candidate.index == 1
    assert best_of(rewarded(ferry, (None, "The Left a."))) is None
    assert best_of([]) is None


def test_a_refusal_is_never_the_best_where_there_is_a_summary(ferry):
    refused = (9.0, REFUSAL)
    assert best_of(rewarded(ferry, refused, (-3.0, "The Left a."))).candidate.index == 1
    assert best_of(rewarded(ferry, refused, (None, "The Left a."))) is None
    assert best_of(rewarded(ferry, refused, (2.0, REFUSAL))).candidate.index == 0
    assert best_of(rewarded(ferry, refused, (None, ""))).candidate.index == 0


def test_a_refusal_is_never_chosen_and_may_be_rejected(ferry):
    best, worst = (
        choose_pairs(
            rewarded(ferry, (n, REFUSAL), (1.0, "The Left a.")),
            PairsSection(chosen_keeps_contract=False, most_length_ratio=None),
        )
        for n in (9.0, 0.0)
    )
    assert (best.pairs, best.left_out) == ((), Counter({"chosen is a refusal": 1}))
    assert worst.pairs == ((1, 0),)


def test_equal_texts_are_found_after_folding_white_space():
    # vector dedupe-01
    assert first_of_each_text(["a b", "a  b", "c", "a b ", "d"]) == [0, 2, 4]


@pytest.fixture
def scored(ferry):
    def build(rewards, texts=None):
        request = make_request(ferry)
        texts = texts or [f"The Left says {'abcdefgh'[i]}." for i in range(len(rewards))]
        return [
            ScoredCandidate(candidate=make_candidate(request, text, i), scores={"rouge": reward}, reward=reward)
            for i, (reward, text) in enumerate(zip(rewards, texts, strict=True))
        ]

    return build


def test_every_unequal_pair_once_in_canonical_order(scored):
    # tests/spec, vector build_pairs-01: 4.5 > 4.0 > 3.0
    assert choose_pairs(scored([3.0, 4.5, 4.0]), PairsSection(mode="all")).pairs == ((1, 0), (2, 0), (1, 2))


def test_best_k_takes_the_widest_and_keeps_canonical_order_among_equals(scored):
    # gaps: (0,1) 4, (0,2) 2, (0,3) 4, (1,2) 2, (1,4) 4, (2,3) 2, (2,4) 2, (3,4) 4
    got = choose_pairs(scored([5, 1, 3, 1, 5]), PairsSection(mode="best_k", k=4))
    assert got.pairs == ((0, 1), (0, 3), (4, 1), (4, 3))
    assert got.left_out == Counter({"equal reward": 2, "not taken by best_k": 4})


def test_top_bottom_takes_the_first_of_equals(scored):
    assert choose_pairs(scored([2, 5, 3.5, 5, 1]), PairsSection(mode="top_bottom")).pairs == ((1, 4),)


def test_top_bottom_gives_nothing_when_no_pair_is_admissible(scored):
    texts = ["Sales rose.", "The Left says b.", " "]
    got = choose_pairs(scored([3, 2, 1], texts), PairsSection(mode="top_bottom"))
    assert got.pairs == ()
    # the empty text is the reason that is looked for first
    assert got.left_out == Counter({"chosen breaks contract": 1, "empty text": 2})


def cut(candidate):
    return candidate.model_copy(
        update={"candidate": candidate.candidate.model_copy(update={"finish_reason": "length"})}
    )


# what keeps a candidate from any pair, or from being chosen -> how it is made of a scored candidate, and the places it can take
UNFIT = {
    "empty": (
        lambda each: each.model_copy(update={"candidate": each.candidate.model_copy(update={"text": " "})}),
        "any",
    ),
    "unscored": (lambda each: each.model_copy(update={"reward": None}), "any"),
    "cut": (cut, "top"),
    "out of contract": (
        lambda each: each.model_copy(update={"candidate": each.candidate.model_copy(update={"contract_ok": False})}),
        "top",
    ),
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("kind", UNFIT)
def test_one_unfit_candidate_does_not_take_the_pair_of_top_and_bottom(scored, kind, place):
    make, where = UNFIT[kind]
    candidates = scored([4, 3, 2, 1])
    candidates[place] = make(candidates[place])
    got = choose_pairs(candidates, PairsSection(mode="top_bottom")).pairs
    fit = [i for i in range(4) if i != place]
    # what may only not be chosen is still the worst where it stands last
    assert got == (((0, 3),) if place in (1, 2) or (where == "top" and place == 3) else ((fit[0], fit[-1]),))


def test_top_bottom_passes_over_a_pair_that_length_explains(scored):
    texts = ["The Left says a b c d e f g.", "The Left says b.", "The Left c."]  # 10, 4 and 3 words
    got = choose_pairs(scored([5, 4, 1], texts), PairsSection(mode="top_bottom", most_length_ratio=2.0))
    assert got.pairs == ((1, 2),)


def test_gap_equal_to_the_margin_is_kept(scored):
    got = choose_pairs(scored([3, 3.5, 4.5]), PairsSection(mode="all", least_margin=1.0))
    assert got.pairs == ((2, 0), (2, 1))
    assert got.left_out == Counter({"margin": 1})


def test_empty_text_takes_part_in_no_pair(scored):
    # a rule judge scores it; what is trained on has a text
    got = choose_pairs(scored([4, 3, 2], ["The Left says a.", " ", "The Left says c."]), PairsSection(mode="all"))
    assert got.pairs == ((0, 2),)
    assert got.left_out == Counter({"empty text": 2})


def test_unscored_candidate_takes_part_in_no_pair(scored):
    got = choose_pairs(scored([4, None, 2]), PairsSection(mode="all"))
    assert got.pairs == ((0, 2),)
    assert got.left_out == Counter({"unscored": 2})


def test_texts_equal_but_for_white_space_form_no_pair(scored):
    texts = ["The Left says a.", "The Left  says a.", "The Left says b."]
    assert choose_pairs(scored([4, 3, 2], texts), PairsSection(mode="all")).pairs == ((0, 2), (1, 2))


def test_a_summary_that_was_cut_off_is_never_chosen(scored):
    candidates = scored([3, 2, 1])
    cut = candidates[0].candidate.model_copy(update={"finish_reason": "length"})
    candidates[0] = candidates[0].model_copy(update={"candidate": cut})
    got = choose_pairs(candidates, PairsSection(mode="all"))
    assert got.pairs == ((1, 2),)
    assert got.left_out == Counter({"chosen stopped by max_tokens": 2})


def test_length_guard_counts_what_it_refuses(scored):
    texts = ["The Left says a b c d e f g.", "The Left says a.", "The Left says b c."]  # 10, 4 and 5 words
    got = choose_pairs(scored([3, 2, 1], texts), PairsSection(mode="all", most_length_ratio=2.0))
    assert got.pairs == ((0, 2), (1, 2))
    assert got.left_out == Counter({"length": 1})


@pytest.mark.parametrize("mode", ["all", "best_k", "top_bottom"])
def test_every_pair_is_kept_or_counted(scored, mode):
    got = choose_pairs(scored([1, 2, None, 2, 5]), PairsSection(mode=mode, **({"k": 2} if mode == "best_k" else {})))
    assert len(got.pairs) + sum(got.left_out.values()) == 10  # 5 * 4 / 2


def test_order_of_candidates_does_not_change_who_is_preferred(scored):
    rewards = [1.0, 2.0, 4.0]
    for order in permutations(range(3)):
        pairs = choose_pairs(scored([rewards[i] for i in order]), PairsSection(mode="all")).pairs
        assert {(order[a], order[b]) for a, b in pairs} == {(1, 0), (2, 0), (2, 1)}


def test_training_record_has_trl_columns_and_the_drawn_tokens_only_where_the_text_is_unchanged(ferry):
    request = make_request(ferry)
    kept = make_candidate(request, "The Left says a.", 0, raw_text=" The Left says a.\n", token_ids=(5, 6))
    cleaned = make_candidate(request, "The Left says b.", 1, raw_text='"The Left says b."', token_ids=(7, 8))
    first, second = (ScoredCandidate(candidate=c, scores={}, reward=r) for c, r in ((kept, 2.0), (cleaned, 0.5)))
    group = CandidateGroup(
        request_id=request.id,
        set_id="ferry",
        side="left",
        prompt=request.prompt,
        candidates=(first, second),
        best_id=kept.id,
    )
    pair = preference_pair(group, first, second)
    assert pair.chosen[0].model_dump() == {"role": "assistant", "content": "The Left says a."}
    assert pair.margin == 1.5
    assert pair.chosen_token_ids == (5, 6)
    assert pair.rejected_token_ids == ()
