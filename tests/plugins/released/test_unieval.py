"""UniEval's consistency, on a tiny random T5."""

import json
import shutil

import pytest

from evenhand.errors import JudgeError
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.plugins.released.sections import UniEvalJudge
from evenhand.plugins.released.unieval import open_unieval

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SOURCE = "the ferry is cheap. nurses need it."


def verdicts(folder, *texts, reference=SOURCE, **options):
    section = UniEvalJudge.model_validate({"kind": "unieval", "model": str(folder), **options})
    judge = open_unieval("judge", section, SharedModels())
    try:
        return judge.score([JudgeInput("c", "r", text, True, reference) for text in texts])
    finally:
        judge.close()


def consistency(folder, claim, document=SOURCE):
    """As UniEval's own code computes it, by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    text = f"question: Is this claim consistent with the document? </s> claim: {claim} </s> document: {document}"
    yes, no = (tokenizer(word)["input_ids"][0] for word in ("Yes", "No"))
    with torch.no_grad():
        output = model(**tokenizer(text, return_tensors="pt"), labels=torch.tensor([[no]]))
    shares = output.logits[0, 0].softmax(-1)
    return float(shares[yes] / (shares[yes] + shares[no]))


def test_score_is_the_mean_over_the_summarys_sentences(t5_folder):
    first, second = "The ferry is dear.", "A bridge pays."
    found = verdicts(t5_folder, f"{first} {second}")[0]
    expected = [consistency(t5_folder, first), consistency(t5_folder, second)]
    assert found.score == pytest.approx(sum(expected) / 2, abs=1e-5)
    assert json.loads(found.raw)["best"] == pytest.approx(expected, abs=1e-5)


def test_long_document_loses_its_end_and_the_judgement_says_so(t5_folder):
    found = verdicts(t5_folder, "A bridge pays.", reference="nurses need it " * 40, most_tokens=64)[0]
    assert json.loads(found.raw)["cut"] == 1
    assert "cut" not in json.loads(verdicts(t5_folder, "A bridge pays.")[0].raw)


def test_tokenizer_without_the_answers_is_refused(t5_folder, tmp_path):
    shutil.copytree(t5_folder, tmp_path / "other")
    path = tmp_path / "other" / "tokenizer.json"
    text = path.read_text(encoding="utf-8").replace('"\u2581Yes"', '"\u2581Oui"').replace('"\u2581No"', '"\u2581Non"')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(JudgeError, match="no words for No and Yes"):
        verdicts(tmp_path / "other", "A bridge pays.")


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = UniEvalJudge.model_validate({"kind": "unieval", **options})
        return open_unieval("judge", section, SharedModels()).signature

    assert signature(batch_size=1) == signature()
    assert (
        len({signature(), signature(most_tokens=512), signature(model="org/other"), signature(against="opposing")}) == 4
    )
