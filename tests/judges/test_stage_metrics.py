"""Every kind of judge in one recipe, on tiny random models and the scripted backend: scored, and found again in the cache."""

import pytest
from conftest import make_candidate, make_request

from evenhand.config import Recipe, RewardSection
from evenhand.judges import open_judges
from evenhand.judges.stage import judge_by
from evenhand.records import Judgement
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("rouge_score")

LANGUAGE_MODEL = {"model": {"name": "none"}, "backend": {"backend": "scripted"}}


@pytest.fixture
def judges(tmp_path, nli_folder, t5_folder, roberta_config, roberta_tokenizer):
    """A judge of each kind."""
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=24, num_labels=1,
    )  # fmt: skip
    for name, model in (
        ("bleurt", transformers.BertForSequenceClassification(config)),
        ("encoder", transformers.RobertaModel(roberta_config())),
    ):
        model.save_pretrained(tmp_path / name)
        roberta_tokenizer.save_pretrained(tmp_path / name)
    nli = str(nli_folder({0: "contradiction", 1: "neutral", 2: "entailment"}))
    return {
        "rubric": {"kind": "rubric", "rubric": "coverage", "mode": "ternary", **LANGUAGE_MODEL},
        "finesure": {"kind": "finesure", **LANGUAGE_MODEL},
        "extract": {
            "kind": "extract",
            "extractors": ["lead", "entailment"],
            "nli": nli,
            "most_words": 8,
            **LANGUAGE_MODEL,
        },
        "alignment": {"kind": "alignment", "aligner": "nli", "model": nli},
        "bertscore": {"kind": "bertscore", "model": str(tmp_path / "encoder")},
        "summac": {"kind": "summac", "model": nli},
        "unieval": {"kind": "unieval", "model": str(t5_folder)},
        "minicheck": {"kind": "minicheck", "model": str(t5_folder)},
        "bleurt": {"kind": "bleurt", "model": str(tmp_path / "bleurt")},
        "rouge": {"kind": "rouge", "type": "average", "measure": "mean"},
        "length": {"kind": "length"},
        "contract": {"kind": "contract"},
        "value-shares": {"kind": "value-shares", "matcher": {"kind": "words"}},
        "equal-coverage": {"kind": "equal-coverage", "fewest_units": 1, "entailer": {"kind": "words"}},
        "opinion-graph": {"kind": "opinion-graph"},
        "contrast": {"kind": "contrast", "entailer": {"kind": "nli", "model": nli}},
    }


def judged(folder, judges, documents):
    """The judgements of two candidates of each side and of both together, and the receipt's counts."""
    recipe = Recipe.model_validate({
        "name": "all", "output": folder, "model": {"name": "none"},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}}, "judges": judges,
        "evaluation": {"judges": ["length"]}, "limits": {"unscored": 1.0},
        "reward": {"judges": ["length"]},
    })  # fmt: skip
    # a recipe asks for one side or for all, and has no judges of the other kind; here requests of both kinds are judged
    recipe = recipe.model_copy(update={"reward": RewardSection(judges=tuple(judges))})
    phase = open_phase(recipe, "round-00")
    requests = [make_request(documents, side) for side in ("left", "right")]
    whole = {"id": f"{documents.id}/all", "perspective": None, "attribute": "stance"}
    requests.append(requests[0].model_copy(update=whole))
    texts = ("The ferry is cheap.", "The ferry is dear. A bridge pays.")
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(phase.folder / CANDIDATES, [make_candidate(r, t, i) for r in requests for i, t in enumerate(texts)])
    receipt, _ = judge_by(phase, open_judges({name: recipe.judges[name] for name in phase.judges}))
    return read_jsonl(phase.folder / JUDGEMENTS, Judgement), receipt.counts


@pytest.mark.needs("plugins/opinions", "plugins/released")
def test_every_kind_judges_in_a_recipe_and_is_found_again_in_the_cache(tmp_path, monkeypatch, ferry, judges):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    found, counts = judged(tmp_path / "first", judges, ferry)
    # the scripted backend writes no JSON; of the six, four are of one side, and to nobody on the right is the ferry cheap
    assert counts["scored"] == dict.fromkeys(judges, 6) | {
        "finesure": 0, "value-shares": 2, "equal-coverage": 2, "opinion-graph": 5, "contrast": 4,
    }  # fmt: skip
    assert {row["reason"] for row in counts["left_out"]} == {
        "finesure: unreadable reply",
        "value-shares: the request asks for one side",
        "equal-coverage: the request asks for one side",
        "opinion-graph: the summary shows no opinion",
        "contrast: the request asks for all sides",
    }
    again, counts = judged(tmp_path / "second", judges, ferry)
    assert again == found
    asked_again = dict.fromkeys(("finesure", "length", "contract"), 0)
    assert counts["cached"] == counts["scored"] | asked_again
