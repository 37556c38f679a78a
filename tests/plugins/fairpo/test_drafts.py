"""What becomes of a model's text: rejected, its lines joined, drawn again, cut; each step by an option."""

import pytest
from conftest import make_candidate
from method_runs import Noting

from evenhand.generate.backend import Ask
from evenhand.generate.stage import drawn_again
from evenhand.plugins.fairpo.drafts import Cleaned, clean, draw_drafts, finished, shortened
from evenhand.plugins.fairpo.sections import ThinnedSection
from evenhand.records import Contract, Document, DocumentSet, Message, Sampling, ScoredCandidate, SummaryRequest
from evenhand.rerank.pairs import generated_ids

KETTLE = DocumentSet(id="kettle", documents=(Document(id="1", text="It boils fast."),))
PROMPT = (Message(role="user", content="Summarise the reviews."),)
REQUEST = SummaryRequest(id="kettle/all", document_set=KETTLE, template="t", prompt=PROMPT)
OFF = ThinnedSection()
PUBLISHED = ThinnedSection(reject=True, join_lines=True, regenerate={}, most_characters=400)


def n_words(n):
    return " ".join(["word"] * n)


def asks(n=1, max_tokens=512):
    return [Ask(PROMPT, Sampling(temperature=0.6, top_p=0.9, max_tokens=max_tokens), seed) for seed in range(n)]


def test_without_options_a_text_is_only_stripped():
    text = "I can't help with document 1.\n\na\nb"
    assert clean(f" {text}\n", OFF) == Cleaned(text)


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("I cannot summarize this.", "refusal"),
        ("Buyers like it (Document 1), though not all.", "names_document"),
        # a prompt of ten documents and more names them so, too
        ("In document\n12 a buyer complains.", "names_document"),
    ],
)
def test_refusals_and_texts_that_number_documents_are_rejected(text, issue):
    found = clean(text, PUBLISHED)
    assert found == Cleaned("", (issue,))
    assert found.is_rejected


@pytest.mark.parametrize(
    ("text", "kept", "issues"),
    [
        ("It boils fast.", "It boils fast.", ()),
        # one line is left of three
        (".\n\n It boils fast. \n", "It boils fast.", ()),
        # two lines: the second alone where it is longer
        ("Summary:\n\nIt boils fast.", "It boils fast.", ("first_line",)),
        ("It boils fast.\nIt's hot.", "It boils fast. It's hot.", ()),
        ("It boils.\nIt's hot.", "It boils. It's hot.", ()),
        # three: the first goes, however long it is
        ("Here is what buyers say of it:\nIt boils.\n-\nIt's hot.", "It boils. It's hot.", ("first_line",)),
        ("", "", ()),
    ],
)
def test_lines_are_joined_as_published(text, kept, issues):
    assert clean(text, PUBLISHED) == Cleaned(kept, issues)


@pytest.mark.parametrize(
    ("n", "again"), [(0, True), (35, True), (36, False), (50, False), (74, False), (75, True), (200, True)]
)
def test_what_is_far_too_short_or_too_long_is_drawn_once_more(n, again):
    backend = Noting(lambda _: n_words(n))
    (draft,) = draw_drafts(backend, asks(), PUBLISHED)
    assert len(draft.draws) == len(backend.calls) == (2 if again else 1)
    assert draft.kept is draft.draws[0], "the second is as far from 50 words"


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (n_words(30), n_words(69), 1),  # 20 and 19 away
        (n_words(30), n_words(70), 0),  # both 20
        (n_words(30), n_words(90), 0),
        (n_words(80), n_words(36), 1),
        (n_words(10), "I cannot help with that.", 0),
        # what cleans to nothing is infinitely far, as a rejected text is
        (n_words(110), "", 0),
        (n_words(101), "-\n*", 0),
        (n_words(101), '""', 0),
        ("", "", 0),
        ("", n_words(110), 1),
        ("", f"Document 1 {n_words(48)}", 0),
        (f"{n_words(90)}\n{n_words(50)}\n{n_words(20)}", f"{n_words(50)}\nNote\n{n_words(30)}", 1),  # 70, then 31
    ],
)
def test_draw_nearer_to_the_wanted_length_is_kept(first, second, kept):
    backend = Noting(lambda ask: first if ask.seed == 0 else second)
    options = PUBLISHED.model_copy(update={"regenerate": PUBLISHED.regenerate.model_copy(update={"many_words": 70})})
    (draft,) = draw_drafts(backend, asks(), options)
    assert len(draft.draws) == 2
    assert draft.draws.index(draft.kept) == kept


def test_second_draws_are_asked_together_with_seeds_and_length_of_their_own():
    backend = Noting(lambda ask: n_words(50 if ask.seed == 1 else 10))
    drafts = draw_drafts(backend, asks(3), PUBLISHED)
    first, second = backend.calls
    assert [ask.sampling.max_tokens for ask in (*first, *second)] == [512] * 3 + [256] * 2
    assert [ask.prompt for ask in second] == [PROMPT] * 2
    assert len({ask.seed for ask in (*first, *second)}) == 5
    assert [len(each.draws) for each in drafts] == [2, 1, 2]
    again = Noting(lambda ask: n_words(50 if ask.seed == 1 else 10))
    draw_drafts(again, asks(3), PUBLISHED)
    assert again.calls == backend.calls


@pytest.mark.parametrize(
    "options", [ThinnedSection(reject=True, join_lines=True), PUBLISHED], ids=["not asked for", "rejected"]
)
def test_rejected_texts_and_all_without_the_option_are_drawn_once(options):
    backend = Noting(lambda _: "I cannot help with that.")
    (draft,) = draw_drafts(backend, asks(), options)
    assert draft.draws == (draft.kept,)
    assert len(backend.calls) == 1


def test_draws_that_fail_are_not_kept_and_not_repeated():
    class Refusing(Noting):
        def complete(self, asked):
            self._max_model_len = 4096 if len(self.calls) < self.n_good else 1
            return super().complete(asked)

    backend = Refusing(lambda _: n_words(10))
    for backend.n_good, n_draws in ((1, 2), (0, 1)):
        backend.calls.clear()
        (draft,) = draw_drafts(backend, asks(), PUBLISHED)
        assert draft.kept is draft.draws[0]
        assert [each.reply.finish_reason for each in draft.draws][-1] == "failed"
        assert len(draft.draws) == n_draws


def test_rejected_candidate_is_empty_and_says_why():
    found = finished(written("I cannot help with that."), Contract(), PUBLISHED)
    assert (found.text, found.issues, found.contract_ok) == ("", ("refusal",), False)
    assert found.raw_text == "I cannot help with that."


def test_lines_are_joined_before_the_contract_is_checked():
    raw = 'Here is the summary:\n\n"It boils fast.\n\nThe lid pops off."'
    found = finished(written(raw), Contract(sentences=2), PUBLISHED)
    assert (found.text, found.raw_text) == ('"It boils fast. The lid pops off."'.strip('"'), raw)
    assert (found.issues, found.contract_ok) == (("first_line",), True)
    # joined text is not what the model drew
    assert generated_ids(ScoredCandidate(candidate=found, scores={}, reward=None)) == ()


def test_joined_text_is_cut_like_any_other():
    options = ThinnedSection(join_lines=True, most_characters=16)
    assert finished(written("It boils.\nIt's hot and"), Contract(), options).text == "It's hot and"
    assert finished(written("It boils well.\nIt's hot"), Contract(), options).text == "It boils well."


def test_candidate_without_options_is_left_as_it_is():
    candidate = written("I cannot help with document 1.\n\nAnd so on")
    assert finished(candidate, Contract(), OFF) is candidate


def test_receipt_names_nothing_where_nothing_was_drawn_again():
    assert drawn_again([]) == {}


def written(text):
    return make_candidate(REQUEST, text, token_ids=(1, 2), finish_reason="length", contract_ok=False)


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        (14, "It boils fast."),
        (28, "It boils fast."),  # "2." is a number of a list and ends no sentence
        (38, 'It boils fast. 2. The lid "pops off."'),
        (52, 'It boils fast. 2. The lid "pops off."'),
    ],
)
def test_long_summary_is_cut_after_its_last_whole_sentence(most, kept):
    candidate = written('It boils fast. 2. The lid "pops off." And the cord is')
    found = shortened(candidate, Contract(), most)
    assert (found.text, found.raw_text, found.finish_reason) == (kept, candidate.text, "cut")
    assert found.contract_ok
    # its end was not drawn, so its tokens are made again when it is trained on
    assert generated_ids(ScoredCandidate(candidate=found, scores={}, reward=None)) == ()


@pytest.mark.parametrize("most", [None, 53, 13, 30])
def test_short_summary_and_one_that_would_lose_more_than_half_stay(most):
    text = 'It boils fast. 2. The lid "pops off." And the cord is'
    assert shortened(written(text), Contract(), most) == written(text)


@pytest.mark.parametrize(("most", "n_kept"), [(13, 11), (11, 11), (10, 7), (7, 7)])
def test_sentences_of_scripts_without_spaces_end_too(most, n_kept):
    # the first mark is the 7th character, the second the 10th, with a closing quote after it
    text = "水が早く沸く。「蓋!」コードは短い".replace("!", "\uff01")
    assert shortened(written(text), Contract(), most).text == text[:n_kept]
