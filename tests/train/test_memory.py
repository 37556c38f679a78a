"""The memory of a training: by hand where it is counted, against trainings that are really run where it is simulated."""

import json
from functools import partial
from itertools import accumulate

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("trl")

from evenhand.config import LoraSection  # noqa: E402
from evenhand.config.recipe_file import load_recipe  # noqa: E402
from evenhand.models.sizes import Sizes, meta_model, sizes_of  # noqa: E402
from evenhand.train.attention import use_masks, use_packed_attention  # noqa: E402
from evenhand.train.memory import (  # noqa: E402
    BUCKET,
    Live,
    Pass,
    Trained,
    activation_bytes,
    fill_pass,
    logits_bytes,
    longest_sequence,
    shares,
    train_memory,
    trainable,
    with_adapter,
)
from evenhand.train.packing import Layout, PackedSpan  # noqa: E402
from evenhand.train.policy import new_lora_config  # noqa: E402

LORA = LoraSection(r=4, lora_alpha=8)
SHAPE = {
    "model_type": "llama", "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 6, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "tie_word_embeddings": False, "max_position_embeddings": 8192,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SHAPE))
    return str(tmp_path)


def adapted(folder, dtype="float32"):
    return with_adapter(meta_model(folder, None, "a test", dtype=dtype), LORA)


def real(folder):
    """The same model with numbers, and its adapter as training makes it."""
    peft = pytest.importorskip("peft")
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    return peft.get_peft_model(model, new_lora_config(peft, LORA))


def test_the_adapter_has_as_many_weights_as_that_of_a_loaded_model(folder):
    # query and output 256 to 256, key and value 256 to 128, each with two matrices of rank 4, in six layers
    assert trainable(adapted(folder)) == trainable(real(folder)) == 6 * 4 * (2 * (256 + 256) + 2 * (256 + 128))


def allocated(run):
    """Most bytes that torch's allocator held while it ran, as its profiler has them."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    events = [each for each in seen.profiler.kineto_results.events() if each.name() == "[memory]"]
    events.sort(key=lambda each: each.start_ns())
    return max(accumulate(each.nbytes() for each in events))


@pytest.mark.parametrize("has_masks", [False, True])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_activations_are_what_a_packed_pass_allocates(folder, checkpointing, has_masks):
    """A packed request through the very forward pass of training, with numbers."""
    model = real(folder)
    base = model.get_base_model()
    use_packed_attention(base)
    if has_masks:
        use_masks(base)
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    model.train()
    layout = Layout((PackedSpan(0, 1200, (60, 60, 60)),))
    ids, places = torch.zeros((1, layout.length), dtype=torch.long), layout.positions()[None]

    def run():
        found = base.base_model(input_ids=ids, position_ids=places, shared_prefix=layout, use_cache=False)
        found.last_hidden_state.sum().backward()

    run()
    # the first run has left the masks of all layers behind
    layout.memo.clear()
    told = activation_bytes(
        partial(adapted, folder), Pass((layout.length,), 0, has_masks=has_masks), checkpointing=checkpointing
    )
    # the estimate has a causal mask throughout, training a few parts that are joined
    assert told == pytest.approx(allocated(run), rel=0.1)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_two_and_three_layers_tell_what_all_six_take(folder, checkpointing, monkeypatch):
    told = activation_bytes(partial(adapted, folder), Pass((512,), 0), checkpointing=checkpointing)
    monkeypatch.setattr("evenhand.train.memory.RUN", (6, 6))
    assert told == activation_bytes(partial(adapted, folder), Pass((512,), 0), checkpointing=checkpointing)


@pytest.mark.parametrize("has_masks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_longest_sequence_fills_what_there_is(folder, has_masks):
    recipe = load_recipe("quickstart", [f"model.name={folder}", "model.dtype=bfloat16", "lora.r=4"])
    largest = Pass((600,), 60, has_masks)
    (memory,) = train_memory(recipe, ("one GPU", 1), largest, has_copy=False)
    others = memory.weights + memory.adapter + memory.logits
    n_bytes = 8 * memory.activations["checkpointing"]
    n_tokens = longest_sequence(recipe, memory, largest, others + n_bytes)
    again = activation_bytes(partial(adapted, folder, "bfloat16"), Pass((n_tokens,), 1, has_masks), checkpointing=True)
    assert 600 < n_tokens <= 8 * 600 * 1.05
    assert again == pytest.approx(n_bytes, rel=0.05)
    # as long as the model reads, and none where the weights do not fit
    assert longest_sequence(recipe, memory, largest, others + 1000 * n_bytes) == SHAPE["max_position_embeddings"]
    assert longest_sequence(recipe, memory, largest, memory.weights) == 0


def test_checkpointing_keeps_each_layers_input_and_one_layer(folder):
    few, many = (activation_bytes(partial(adapted, folder), Pass((n,), 0), checkpointing=True) for n in (512, 4096))
    plain = activation_bytes(partial(adapted, folder), Pass((4096,), 0), checkpointing=False)
    # no token takes more than in a shorter pass, and less than a third of what all layers take
    assert many <= 8 * few
    assert many < plain / 3


def test_each_sequence_has_a_mask_of_its_own_in_every_layer_without_checkpointing(folder):
    def told(*sequences, has_masks, checkpointing=False):
        one = Pass(sequences, 0, has_masks=has_masks)
        return activation_bytes(partial(adapted, folder), one, checkpointing=checkpointing)

    without = told(2048, has_masks=False)
    one, two = (told(*each, has_masks=True) - without for each in ((2048,), (1024, 1024)))
    # six layers keep a float of each pair of tokens, and another one is in the making; the mask itself is a byte
    assert 6 * 4 <= one / 2048**2 <= 7 * 4 + 1
    # two sequences of half the length have half as many pairs; their outputs are joined
    assert 0.5 <= two / one <= 0.6


@pytest.mark.parametrize(
    ("lengths", "most", "expected"), [((5, 4), 20, (5, 4)), ((5, 4), 9, (5, 4)), ((5, 4), 7, (5, 2)), ((5, 4), 3, (3,))]
)
def test_a_pass_is_filled_until_it_is_full(lengths, most, expected):
    assert fill_pass(lengths, most) == expected


def test_logits_are_what_a_real_head_takes(folder):
    from trl.trainer import utils

    head = torch.randn(50_000, 256)
    hidden = torch.randn(600, 256, requires_grad=True)
    labels = torch.zeros(600, dtype=torch.long)

    def run(n):
        fields = ("log_probs", "entropy", "mean_logits", "is_top1")
        tile = utils._CHUNKED_LOGPROB_CHUNK_SIZE
        scores = utils._ChunkedLogProbFunction.apply(hidden[:n], head, None, labels[:n], 1.0, tile, None, 1.0, fields)
        scores[0].sum().backward()

    run(2)
    held = allocated(lambda: run(600))
    with torch.device("meta"):
        config = transformers.LlamaConfig(**SHAPE | {"vocab_size": 50_000})
        model = transformers.LlamaForCausalLM(config)
    assert logits_bytes(model, 600) == pytest.approx(held, rel=0.05)


def test_live_counts_each_storage_once_until_it_is_freed():
    with Live() as live:
        first = torch.zeros(100)
        view = first[:50].view(5, 10)
        assert live.live == 400
        second = torch.zeros(25)
        del first, view
    assert (live.live, live.peak) == (100, 500)
    del second
    assert live.live == 0


# a thousand weights, of which 200 are embeddings, head and last norm, in four layers; an adapter of 10
TRAINED = Trained(Sizes(1000, 800, 100, 200, 4, 16, 16), 10, dtype_bytes=2)


@pytest.mark.parametrize(
    ("strategy", "weights", "adapter"),
    [
        # weights, gradients and two states of AdamW as floats
        ("one GPU", 2000, 10 * 16),
        # and gradients once more in buckets
        ("DDP", 2000, 10 * 20),
        # weights of the adapter in bfloat16; on each of two a half of the floats, of the gradients and of the states
        ("ZeRO-2", 2000, 10 * 2 + 10 * (2 + 4 + 8) / 2 + BUCKET * 2),
        # so small a model is kept gathered as a whole
        ("ZeRO-3", 2000, 10 * 2 / 2 + 10 * (2 + 4 + 8) / 2 + BUCKET * 2),
        # a half, and whole: what lies outside of the layers, 200, and two layers of 200
        ("FSDP2", 1000 + 400 + 2 * 400, 10 * 16 / 2),
    ],
)
def test_shares_of_two_gpus_by_hand(strategy, weights, adapter):
    assert shares(strategy, TRAINED, 2).weights == min(weights, 2000)
    assert shares(strategy, TRAINED, 2).adapter == adapter


def test_four_bits_are_those_of_qlora():
    # 4.127 bits with double quantisation: 4, and 0.127 of constants (Dettmers et al. 2023, section 3)
    quantised = Trained(TRAINED.sizes, 10, dtype_bytes=2, is_nf4=True)
    assert (quantised.weights - 200 * 2) * 8 / 800 == pytest.approx(4.127, abs=5e-4)


def test_a_frozen_copy_of_the_adapter_is_held_as_well():
    copied = Trained(TRAINED.sizes, 10, dtype_bytes=2, has_copy=True)
    assert shares("one GPU", copied, 1).adapter - shares("one GPU", TRAINED, 1).adapter == 10 * 4


def test_sizes_do_not_depend_on_the_adapter(folder):
    before = sizes_of(meta_model(folder, None, "a test"))
    assert before.parameters == sum(p.numel() for p in real(folder).parameters() if not p.requires_grad)
