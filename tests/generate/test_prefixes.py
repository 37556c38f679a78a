"""The tree of shared beginnings: nothing lost, nothing run twice that is worth sharing."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.generate.prefixes import LEAST_SHARED, segments

DOCUMENT = tuple(range(1000, 1000 + 2 * LEAST_SHARED))
RUBRIC = tuple(range(2000, 2000 + LEAST_SHARED))


def whole(end):
    return tuple(token for segment in end.path() for token in segment.tokens)


def n_tokens(ends):
    return sum(len(segment.tokens) for segment in {segment for end in ends for segment in end.path()})


def test_document_and_rubric_are_shared_at_their_levels():
    prompts = sorted([(*DOCUMENT, *RUBRIC, 1), (*DOCUMENT, *RUBRIC, 2, 2), (*DOCUMENT, 3)])
    last, first, second = segments(prompts)
    assert [segment.tokens for segment in first.path()] == [DOCUMENT, RUBRIC, (1,)]
    assert [segment.tokens for segment in second.path()] == [DOCUMENT, RUBRIC, (2, 2)]
    assert [segment.tokens for segment in last.path()] == [DOCUMENT, (3,)]
    assert first.parent is second.parent
    assert first.parent.parent is last.parent
    assert (first.start, first.end, first.level) == (3 * LEAST_SHARED, 3 * LEAST_SHARED + 1, 2)


def test_beginnings_that_are_too_short_are_not_shared():
    short = tuple(range(LEAST_SHARED - 1))
    assert [end.parent for end in segments([(*short, 100), (*short, 101)])] == [None, None]
    enough = (*short, 99)
    one, other = segments([(*enough, 100), (*enough, 101)])
    assert one.parent is other.parent
    assert one.parent.tokens == enough


def test_groups_behind_a_short_beginning_are_found():
    # all four begin with one token, two and two with a document
    other = tuple(range(5000, 5000 + LEAST_SHARED))
    prompts = sorted((0, *text, i) for text in (DOCUMENT, other) for i in (1, 2))
    ends = segments(prompts)
    assert [whole(end) for end in ends] == prompts
    assert ends[0].parent is ends[1].parent is not ends[2].parent is ends[3].parent
    assert ends[0].parent.parent is None


def test_prompt_that_begins_another_keeps_a_token_of_its_own():
    short, long = segments([DOCUMENT, (*DOCUMENT, 1)])
    assert short.parent is long.parent
    assert (short.tokens, long.tokens) == (DOCUMENT[-1:], (DOCUMENT[-1], 1))


def test_a_chain_of_a_thousand_beginnings_is_no_trouble():
    prompts = [tuple(range(LEAST_SHARED * n)) for n in range(1, 1001)]
    ends = segments(prompts)
    assert whole(ends[-1]) == prompts[-1]
    assert ends[-1].level > 900


prompts_of_few_tokens = st.sets(st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple), min_size=1, max_size=12)


@given(prompts_of_few_tokens, st.integers(1, 4))
def test_paths_spell_the_prompts_and_siblings_differ_soon(drawn, least):
    prompts = sorted(drawn)
    ends = segments(prompts, least)
    assert [whole(end) for end in ends] == prompts
    assert all(end.tokens for end in ends)
    assert len(set(ends)) == len(prompts)
    # what is run is at least the number of nodes of the tree of tokens, and at most all prompts apart
    nodes = {prompt[:n] for prompt in prompts for n in range(1, len(prompt) + 1)}
    assert len(nodes) <= n_tokens(ends) <= sum(map(len, prompts))
    # siblings share less than is worth a segment, but for the last token that each keeps for itself
    by_parent = {}
    for segment in {segment for end in ends for segment in end.path()}:
        by_parent.setdefault(segment.parent, []).append(segment.tokens)
    for siblings in by_parent.values():
        for one in siblings:
            for other in siblings:
                if one is not other:
                    assert one[:least] != other[:least] or min(len(one), len(other)) <= least
