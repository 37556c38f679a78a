"""Encoders trained on articles: parts by topic, folders that are whole, judges of them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config.judges import AlignmentJudge
from evenhand.config.trained_encoder import read_trained
from evenhand.corpora.annotated import read_annotated
from evenhand.corpora.controlled import read_controlled
from evenhand.errors import DataError, RecipeError, StorageError, UnfitModelError
from evenhand.judges import JudgeInput, open_judge
from evenhand.plugins.trained_encoders.fitting import CLASSES, class_pairs
from evenhand.plugins.trained_encoders.plan import EncoderPlan, parts
from evenhand.plugins.trained_encoders.training import train_encoder
from evenhand.plugins.trained_encoders.triples import Triple
from evenhand.storage import write_jsonl

pytest.importorskip("sentence_transformers")
pytest.importorskip("datasets")
WORDS = "the ferry tram is not cheap dear nurses need it at night town pays costs for harbour quay bridge . , a".split()
PLAN = EncoderPlan(most_of_a_kind=10)


def triple(topic, number, kind="contrary"):
    return Triple(topic, kind, f"text {number}", "near", "far")


def test_held_topics_are_not_learned_from_and_the_same_seed_draws_the_same():
    found = [triple(f"topic {i % 10}", i) for i in range(200)]
    first, again, other = parts(found, PLAN), parts(found, PLAN), parts(found, replace(PLAN, seed=1))
    assert first == again != other
    assert len(first.learned) == 10 and len(first.held) == 1
    assert not {each.topic for each in first.learned} & {each.topic for each in first.held}
    assert len(parts(found, replace(PLAN, most_of_a_kind=None)).learned) == 180


def test_a_classifier_learns_no_sentence_that_merely_follows_as_entailed():
    kinds = ("contrary", "side", "argument", "negation")
    texts, _, labels = class_pairs([triple("one", number, kind) for number, kind in enumerate(kinds)])
    assert [(text, CLASSES[label]) for text, label in zip(texts, labels, strict=True)] == [
        ("text 0", "entailment"), ("text 0", "contradiction"), ("text 1", "entailment"), ("text 1", "neutral"),
        ("text 2", "neutral"), ("text 3", "entailment"), ("text 3", "contradiction"),
    ]  # fmt: skip


@pytest.mark.parametrize("change", ["spelling", "another name, the same text", "no name, the same text"])
def test_articles_of_one_topic_are_not_learned_from_and_held(tiny, tmp_path, change):
    articles = read_annotated("sample")
    names = list(dict.fromkeys(each.topic for each in articles))[:2]
    first = [each for each in articles if each.topic == names[0]]
    topic = {"spelling": f"  {names[0].upper()}", "another name, the same text": "elsewhere"}.get(change, "")
    twins = [each.model_copy(update={"topic": topic, "id": f"{each.id}-again"}) for each in first]
    others = [each for each in articles if each.topic == names[1]]
    with pytest.raises(DataError, match=r"^1 topics have something to learn from"):
        train_encoder([*twins, *first], replace(PLAN, model=str(tiny)), tmp_path / "x")
    plan = replace(PLAN, model=str(tiny), epochs=1, most_of_a_kind=2)
    assert len(train_encoder([*twins, *first, *others], plan, tmp_path / "y").topics) == 2


def test_one_topic_is_too_few():
    with pytest.raises(DataError, match=r"^1 topics have something to learn from, but it takes at least 2"):
        parts([triple("one", 1)], PLAN)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A random sentence encoder of 16 dimensions, as a folder."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = transformers.BertTokenizerFast(tokenizer_object=inner, model_max_length=64)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    transformers.BertModel(config).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    transformer = modules.Transformer(str(folder / "bert"))
    SentenceTransformer(modules=[transformer, modules.Pooling(16)]).save_pretrained(str(folder / "encoder"))
    return folder / "encoder"


@pytest.fixture(scope="module")
def trained(tiny, tmp_path_factory):
    """Both forms, trained on the bundled articles from the command line."""
    folder = tmp_path_factory.mktemp("trained")
    found = {}
    for form in ("encoder", "classifier"):
        options = ("--model", str(tiny), "--form", form, "--epochs", "1", "--most", "8", "--out", str(folder / form))
        done = CliRunner().invoke(app, ["judges", "train-encoder", "sample", *options])
        assert done.exit_code == 0, done.output
        found[form] = done.output
    return folder, found


def said(folder, **options):
    section = AlignmentJudge.model_validate({"kind": "alignment", "model": str(folder), "parts": "claim", **options})
    judge = open_judge("mine", section)
    try:
        text = "the ferry is cheap, and nurses need it at night."
        return judge.score([JudgeInput("c", "r", text, True, "The ferry is dear.")])[0]
    finally:
        judge.close()


@pytest.mark.parametrize(
    ("form", "options"), [("encoder", {}), ("classifier", {"aligner": "nli", "chunks": "sentence"})]
)
def test_a_trained_folder_is_the_model_of_a_judge(trained, form, options):
    folder, outputs = trained
    assert 0 <= said(folder / form, **options).score <= 1
    assert f"model: {folder / form}" in outputs[form] and "told apart of" in outputs[form]
    files = {each.name for each in (folder / form).rglob("*") if each.is_file()}
    assert "model.safetensors" in files and not {each for each in files if each.endswith((".bin", ".pt", ".pkl"))}
    record = json.loads((folder / form / "training.json").read_text())
    card = (folder / form / "README.md").read_text()
    assert record["form"] == form and len(record["topics"]) == 4
    assert str(folder) not in card and f"of {len(record['topics'])} topics" in card
    # nothing of the work is left beside it
    assert {each.name for each in folder.iterdir()} == {"encoder", "classifier"}


def test_the_same_seed_gives_the_same_bytes(trained, tiny, tmp_path):
    folder, _ = trained
    plan = EncoderPlan(model=str(tiny), form="classifier", epochs=1, most_of_a_kind=8)
    train_encoder(read_annotated("sample"), plan, tmp_path / "classifier")
    files = ("model.safetensors", "training.json", "README.md")
    assert [(tmp_path / "classifier" / name).read_bytes() for name in files] == [
        (folder / "classifier" / name).read_bytes() for name in files
    ]


def test_a_judge_is_not_tried_on_topics_that_its_model_was_trained_on(trained, tmp_path):
    scoring = pytest.importorskip("evenhand.plugins.judge_studies.scoring")
    studies = pytest.importorskip("evenhand.plugins.judge_studies.train_judge")
    folder, _ = trained
    judge = AlignmentJudge(kind="alignment", model=str(folder / "encoder"))
    sets = read_controlled(Path("sample"))
    # the bundled sets are of other topics than the bundled articles
    assert not scoring.seen_articles({"mine": judge}, sets)
    known = [sets[0].model_copy(update={"topic": "THE harbour tram in Skelmouth"}), *sets[1:]]
    assert scoring.seen_articles({"mine": judge}, known) == {"mine": {sets[0].id}}
    file = tmp_path / "sets.jsonl"
    write_jsonl(file, known)
    with pytest.raises(RecipeError, match=r"judge 'mine' was trained on 1 of 16 articles .* train its encoder without"):
        studies.train_judge(file, studies.TrainingRequest("coverage", {"mine": judge}), tmp_path)


def test_left_out_topics_are_not_trained_on(tiny, tmp_path):
    sets = read_controlled(Path("sample"))
    topics = sorted({each.topic for each in read_annotated("sample")})
    write_jsonl(tmp_path / "sets.jsonl", [sets[i].model_copy(update={"topic": topics[i]}) for i in range(len(topics))])
    options = ("--leave-out", str(tmp_path / "sets.jsonl"), "--model", str(tiny), "--out", str(tmp_path / "x"))
    done = CliRunner().invoke(app, ["judges", "train-encoder", "sample", *options])
    assert isinstance(done.exception, DataError) and "0 topics have something to learn from" in str(done.exception)
    assert not (tmp_path / "x").exists()
    assert read_trained("nowhere") is None


def test_topics_are_left_out_in_any_spelling_and_by_what_their_articles_say(tiny, tmp_path):
    articles, sets = read_annotated("sample"), read_controlled(Path("sample"))[:2]
    tram, other = (articles[0], next(each for each in articles if each.topic != articles[0].topic))
    wanted = [
        sets[0].model_copy(update={"topic": tram.topic.upper()}),
        # the same article, and its topic has another name
        sets[1].model_copy(update={"topic": "elsewhere", "passages": other.passages}),
    ]
    found = train_encoder(articles, replace(PLAN, model=str(tiny), epochs=1), tmp_path / "x", left_out=wanted)
    assert set(found.topics) == {each.topic for each in articles} - {tram.topic, other.topic}
    assert not frozenset(found.seen) & (wanted[0].marks | wanted[1].marks)


def test_sets_that_tell_no_topic_cannot_be_left_out(tiny, tmp_path):
    sets = [each.model_copy(update={"topic": ""}) for each in read_controlled(Path("sample"))]
    with pytest.raises(DataError, match=r"^16 of 16 sets to be left out tell no topic.*--evidence FILE$"):
        train_encoder(read_annotated("sample"), replace(PLAN, model=str(tiny)), tmp_path / "x", left_out=sets)


def test_a_folder_that_does_not_say_what_it_was_trained_on_is_refused(trained, tmp_path):
    record = json.loads((trained[0] / "encoder" / "training.json").read_text())
    file = tmp_path / "training.json"
    file.write_text(json.dumps(record | {"seen": "all of it"}))
    with pytest.raises(DataError, match=r"training.json: does not say what the model was trained on.*'seen'.*again"):
        read_trained(str(tmp_path))
    # of some other trainer
    file.write_text('{"loss": 0.1}')
    assert read_trained(str(tmp_path)) is None


def test_what_a_killed_training_has_left_is_taken_away(tiny, tmp_path):
    (tmp_path / ".x.work").mkdir()
    (tmp_path / ".x.work" / "model.safetensors").write_text("half")
    train_encoder(read_annotated("sample"), replace(PLAN, model=str(tiny), epochs=1), tmp_path / "x")
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_what_the_base_was_trained_on_is_seen_and_cannot_be_left_out(trained, tmp_path):
    folder, _ = trained
    articles = read_annotated("sample")
    plan = replace(PLAN, model=str(folder / "encoder"), epochs=1)
    more = [each.model_copy(update={"topic": f"{each.topic}, again"}) for each in articles]
    earlier = read_trained(plan.model)
    found = train_encoder(more, plan, tmp_path / "x")
    assert frozenset(earlier.seen) < frozenset(found.seen)
    known = [read_controlled(Path("sample"))[0].model_copy(update={"topic": articles[0].topic})]
    with pytest.raises(DataError, match="was trained on articles or topics that are to be left out"):
        train_encoder(more, plan, tmp_path / "x", left_out=known)


@pytest.mark.parametrize("form", ["encoder", "classifier"])
def test_a_base_without_some_of_its_weights_is_refused(tiny, tmp_path, form):
    from safetensors.numpy import load_file, save_file

    shutil.copytree(tiny, tmp_path / "base")
    file = tmp_path / "base" / "model.safetensors"
    weights = load_file(file)
    lost = next(name for name in weights if "word_embeddings" in name)
    save_file({name: each for name, each in weights.items() if name != lost}, file, metadata={"format": "pt"})
    plan = replace(PLAN, model=str(tmp_path / "base"), form=form)
    with pytest.raises(UnfitModelError, match=r"training an encoder: .* has no weights for .*word_embeddings"):
        train_encoder(read_annotated("sample"), plan, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_folder_of_something_else_stays_as_it_is(trained, tiny, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine.txt").write_text("dear to me")
    for out in (tmp_path / "runs", tmp_path / "runs" / "mine.txt", Path()):
        with pytest.raises(StorageError, match="already exists, and no encoder that was trained here"):
            train_encoder([], replace(PLAN, model=str(tiny)), out)
    assert (tmp_path / "runs" / "mine.txt").read_text() == "dear to me"
    with pytest.raises(StorageError, match=r"cannot be written: .* --out FOLDER"):
        train_encoder([], replace(PLAN, model=str(tiny)), tmp_path / "runs" / "mine.txt" / "x")
    # an earlier encoder gives way, so that only the articles are wrong here
    with pytest.raises(DataError, match="0 topics have something to learn from"):
        train_encoder([], replace(PLAN, model=str(tiny)), trained[0] / "encoder")


def test_topics_of_sets_that_nobody_leaves_out_are_an_error(tmp_path):
    (tmp_path / "evidence.json").write_text("[]")
    options = ("--evidence", str(tmp_path / "evidence.json"), "--out", str(tmp_path / "x"))
    done = CliRunner().invoke(app, ["judges", "train-encoder", "sample", *options])
    assert isinstance(done.exception, RecipeError) and str(done.exception).endswith("with --leave-out SETS")
