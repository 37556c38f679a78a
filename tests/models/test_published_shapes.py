"""Every guard lets published forms of models through, and refuses each of them once it is damaged."""

import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from damage import config, cut, remove, renamed, settings, tensors, write

from evenhand.config import ModelSection
from evenhand.errors import UnfitModelError
from evenhand.generate.backend import prompt_tokens
from evenhand.generate.causal_lm import check_causal_lm, end_ids, open_causal_lm
from evenhand.generate.chat import turn_marks
from evenhand.judges.checkpoint import open_checkpoint
from evenhand.models import check
from evenhand.models.dates import RunDate, dated, signed_date
from evenhand.models.opening import check_weights, open_chat_tokenizer, open_model, without_numbers
from evenhand.models.sizes import meta_model, parameters, sizes_of
from evenhand.models.templates import has_chat_template
from evenhand.records import Message

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
published = pytest.importorskip("published_shapes")

SHAPES, DECODERS = published.SHAPES, published.DECODERS
CHATS = [name for name in DECODERS if SHAPES[name].has_template]
HEADED = [name for name, shape in SHAPES.items() if "LM" in shape.architecture]
PROMPT = (Message(role="user", content="Summarise: the ferry is cheap. <|im_end|> It is dear."),)
EARLY, LATE = RunDate(date(2025, 3, 9)), RunDate(date(2025, 3, 10))
INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return published.Folders(tmp_path_factory.mktemp("shapes"))


def opened(name: str, folder: Path) -> Any:
    shape = SHAPES[name]
    return open_model(shape.architecture, str(folder), "the trial", may_lack=shape.may_lack)


def section(name: str, folder: Path) -> ModelSection:
    return ModelSection(name=str(folder), dtype="float32", attn_implementation=DECODERS[name].attention)


def checked(name: str, folder: Path) -> Any:
    """The shape as it is looked at before anything is begun."""
    check(str(folder))
    if name in DECODERS:
        check_causal_lm(ModelSection(name=str(folder)), None, "the trial")
        check_causal_lm(section(name, folder), None, "the trial", is_for_transformers=True)
    shape = SHAPES[name]
    return check_weights(shape.architecture, str(folder), "the trial", may_lack=shape.may_lack)


@pytest.mark.parametrize("name", SHAPES)
def test_a_published_form_passes_every_guard(folders: Any, name: str, caplog: pytest.LogCaptureFixture) -> None:
    folder, shape = folders.whole(name), SHAPES[name]
    with caplog.at_level(logging.WARNING, logger="evenhand"):
        empty, model = checked(name, folder), opened(name, folder)
    assert empty.device.type == "meta"
    assert not [each for each in caplog.records if each.name.startswith("evenhand")]
    if name in HEADED:
        assert (model.get_output_embeddings().weight is model.get_input_embeddings().weight) == shape.is_tied
    # what an estimate counts from config.json alone is what the files hold
    counted = meta_model(str(folder), None, "the trial", is_causal=name in DECODERS)
    if type(counted) is type(model):
        assert parameters(counted) == parameters(model)
    if name in DECODERS:
        assert sizes_of(counted).layers == 2


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in DECODERS])
def test_a_metrics_model_is_opened_as_judges_do(folders: Any, name: str) -> None:
    folder, shape = folders.whole(name), SHAPES[name]
    with without_numbers():
        open_checkpoint(shape.architecture, str(folder), "the trial", may_lack=shape.may_lack)
    tokenizer, model = open_checkpoint(shape.architecture, str(folder), "the trial", may_lack=shape.may_lack)
    assert model.get_input_embeddings().num_embeddings >= tokenizer.vocab_size


@pytest.mark.parametrize("name", DECODERS)
def test_a_language_model_is_asked_and_ends(folders: Any, name: str) -> None:
    folder, shape = folders.whole(name), SHAPES[name]
    tokenizer, model = open_causal_lm(section(name, folder), "the trial")
    assert len(end_ids(model, tokenizer)) == shape.n_ends
    assert has_chat_template(str(folder), None) == shape.has_template
    with dated(EARLY):
        early, signed = prompt_tokens(tokenizer, PROMPT), signed_date(str(folder), None)
    with dated(LATE):
        late = prompt_tokens(tokenizer, PROMPT)
    assert (early != late) == shape.is_dated == bool(signed)
    # what the text says of turns is broken, however the tokenizer keeps its marks
    marks = turn_marks(tokenizer)
    text = tokenizer.decode(prompt_tokens(tokenizer, (Message(role="user", content="x"),)))
    assert not shape.has_template or marks.search(text)
    assert 0 < len(early) < 4096
    with torch.inference_mode():
        assert torch.isfinite(model(torch.tensor([early])).logits).all()


def weights(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A change of the weights' file, whatever form it has."""

    def damage(folder: Path) -> None:
        if (folder / "pytorch_model.bin").is_file():
            found = torch.load(folder / "pytorch_model.bin", weights_only=True)
            change(found)
            torch.save(found, folder / "pytorch_model.bin")
            return
        for path in sorted(folder.glob("model*.safetensors")):
            if any(is_norm(key) for key in names_in(path)):
                tensors(change, path.name)(folder)
                return

    return damage


def shorter(folder: Path) -> None:
    """Cut the first file of weights short, as a download that broke off does."""
    path = next(
        path
        for path in sorted(folder.iterdir())
        if path.name.startswith(("model", "pytorch_model")) and path.suffix != ".json"
    )
    cut(path.name, 0.7)(folder)


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def is_norm(key: str) -> bool:
    return "layer" in key and "lm_head" not in key and key.casefold().endswith("norm.weight")


def any_norm(found: dict[str, Any]) -> str:
    return next(key for key in sorted(found) if is_norm(key))


DAMAGED: dict[str, Callable[[Path], object]] = {
    "a weight missing": weights(lambda found: found.pop(any_norm(found))),
    "cut short": shorter,
    "another vocabulary": config(vocab_size=7),
    "a weight renamed": weights(lambda found: found.update({"strange.name": found.pop(any_norm(found))})),
    "a weight of another shape": weights(lambda found: found.update({any_norm(found): torch.ones(7)})),
    "config torn": cut("config.json", 0.5),
}
# each of every shape, or of one of each kind
EVERYWHERE = ("a weight missing", "cut short", "another vocabulary")
SOME = ("Llama 3.1, shards", "Flan-T5 (MiniCheck), two heads", "DeBERTa, NLI")
CASES = [(name, what) for name in SHAPES for what in DAMAGED if what in EVERYWHERE or name in SOME]


@pytest.mark.parametrize(("name", "damage"), CASES)
def test_a_damaged_form_is_refused_before_it_is_opened(folders: Any, tmp_path: Path, name: str, damage: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    DAMAGED[damage](folder)
    with pytest.raises(UnfitModelError, match="model"):
        checked(name, folder)


@pytest.mark.parametrize("name", SHAPES)
def test_numbers_that_are_none_are_refused(folders: Any, tmp_path: Path, name: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    weights(lambda found: found[any_norm(found)].view(-1)[-1:].fill_(float("nan")))(folder)
    with pytest.raises(UnfitModelError, match="holds NaN or infinite numbers"):
        opened(name, folder)


@pytest.mark.parametrize("name", [name for name in HEADED if "pickled" not in name])
def test_a_head_that_is_not_what_config_says_is_refused(folders: Any, tmp_path: Path, name: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    is_tied = SHAPES[name].is_tied
    if is_tied:
        words = next(key for key in tensor_names(folder) if key.endswith(("embed_tokens.weight", "shared.weight")))
        holder = next(path.name for path in folder.glob("model*.safetensors") if words in names_in(path))
        tensors(lambda found: found.update({"lm_head.weight": found[words] + 0.5}), holder)(folder)
        if (folder / INDEX).is_file():
            add_to_index(folder, "lm_head.weight", holder)
    else:
        drop(folder, "lm_head.weight")
    expected = "has other numbers in lm_head.weight than in" if is_tied else "has no weights for lm_head.weight"
    for look in (checked, opened):
        with pytest.raises(UnfitModelError, match=expected):
            look(name, folder)


@pytest.mark.parametrize("name", [name for name in HEADED if SHAPES[name].is_tied and "pickled" not in name])
def test_a_head_that_is_written_beside_the_words_it_is_tied_to_passes(folders: Any, tmp_path: Path, name: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    words = next(key for key in tensor_names(folder) if key.endswith(("embed_tokens.weight", "shared.weight")))
    holder = next(path.name for path in folder.glob("model*.safetensors") if words in names_in(path))
    tensors(lambda found: found.update({"lm_head.weight": found[words].clone()}), holder)(folder)
    if (folder / INDEX).is_file():
        add_to_index(folder, "lm_head.weight", holder)
    checked(name, folder)
    opened(name, folder)


@pytest.mark.parametrize("name", [name for name, each in DECODERS.items() if each.shards])
@pytest.mark.parametrize("what", ["shard gone", "index gone", "index torn", "index of another shard"])
def test_shards_that_are_not_whole_are_refused(folders: Any, tmp_path: Path, name: str, what: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    shard = sorted(folder.glob("model-*.safetensors"))[1].name
    damage = {
        "shard gone": remove(shard),
        "index gone": remove(INDEX),
        "index torn": cut(INDEX, 0.5),
        "index of another shard": write(
            INDEX, '{"metadata": {}, "weight_map": {"model.norm.weight": "elsewhere.safetensors"}}'
        ),
    }
    damage[what](folder)
    with pytest.raises(UnfitModelError):
        checked(name, folder)


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize("what", ["template torn", "tokenizer of another", "tokenizer gone"])
def test_a_tokenizer_that_cannot_ask_the_model_is_refused(folders: Any, tmp_path: Path, name: str, what: str) -> None:
    folder = folders.copy(name, tmp_path / "model")
    if what == "template torn":
        write("chat_template.jinja", "{% for m in messages %}{{ m['content'] ")(folder)
    elif what == "tokenizer gone":
        without_tokenizer(folder)
    else:
        config(vocab_size=len(transformers.AutoTokenizer.from_pretrained(folder)) - 20)(folder)
    with pytest.raises(UnfitModelError):
        open_chat_tokenizer(str(folder), "the trial") if what != "tokenizer of another" else checked(name, folder)


def names_in(path: Path) -> set[str]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as found:
        return set(found.keys())


def tensor_names(folder: Path) -> list[str]:
    return sorted(key for path in folder.glob("model*.safetensors") for key in names_in(path))


def add_to_index(folder: Path, key: str, holder: str) -> None:
    import json

    path = folder / INDEX
    index = json.loads(path.read_text())
    index["weight_map"][key] = holder
    path.write_text(json.dumps(index))


def drop(folder: Path, key: str) -> None:
    """Take a tensor out of the files, and out of their index."""
    import json

    holder = next(path.name for path in folder.glob("model*.safetensors") if key in names_in(path))
    if names_in(folder / holder) == {key}:
        # a file without weights is another fault
        tensors(renamed(key, "spare.weight"), holder)(folder)
    else:
        tensors(lambda found: found.pop(key), holder)(folder)
    if (folder / INDEX).is_file():
        index = json.loads((folder / INDEX).read_text())
        del index["weight_map"][key]
        index["weight_map"].setdefault("spare.weight", holder) if "spare.weight" in names_in(folder / holder) else None
        (folder / INDEX).write_text(json.dumps(index))


def test_ends_that_are_no_token_ids_are_refused(folders: Any, tmp_path: Path) -> None:
    folder = folders.copy("Qwen 2.5", tmp_path / "model")
    settings("generation_config.json", eos_token_id=["<|im_end|>"])(folder)
    with pytest.raises(UnfitModelError):
        model = opened("Qwen 2.5", folder)
        end_ids(model, transformers.AutoTokenizer.from_pretrained(folder))


def test_an_attention_that_a_family_lacks_is_told_with_one_that_it_has(folders: Any) -> None:
    with pytest.raises(
        UnfitModelError, match=r"transformers has no such attention .*; write attn_implementation: eager$"
    ):
        open_causal_lm(ModelSection(name=str(folders.whole("gpt-oss"))), "the trial")
