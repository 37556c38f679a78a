"""Where constrained answers are read, with real vocabularies and published chat templates."""

import pytest
from sentencepiece_models import TEMPLATES, save_tokenizer

from evenhand.errors import ModelError
from evenhand.generate.answers import reading
from evenhand.models import locate

transformers = pytest.importorskip("transformers")

GRADES = ("1", "2", "3", "4", "5")
TEN = tuple(map(str, range(1, 11)))


def read(tokenizer, choices=GRADES):
    """The tokens that an answer begins with, and those that tell the choices apart, as they are spelled."""
    found = reading(tokenizer, choices)
    return tuple(map(tokenizer.convert_ids_to_tokens, (list(found.opening), list(found.ids))))


@pytest.fixture(scope="module")
def mistral(tmp_path_factory):
    def make(vocabulary, template):
        folder = tmp_path_factory.mktemp("tokenizers") / template
        save_tokenizer(folder, vocabulary, template)
        return transformers.AutoTokenizer.from_pretrained(folder)

    return make


@pytest.fixture
def tiny(tiny_model):
    return transformers.AutoTokenizer.from_pretrained(tiny_model)


@pytest.mark.parametrize(
    ("vocabulary", "template", "opening"),
    [
        ("v3", "mistral-v0.3", ["▁"]),
        ("v1", "mistral-v0.1", ["▁"]),
        ("v1", "llama-2", ["▁"]),
        # a line break is no token of its own there
        ("v1", "zephyr", ["<0x0A>"]),
    ],
)
def test_grades_of_sentencepiece_are_read_behind_what_they_begin_with(mistral, vocabulary, template, opening):
    tokenizer = mistral(vocabulary, template)
    assert len(tokenizer.encode("1", add_special_tokens=False)) == 2
    assert read(tokenizer) == (opening, list(GRADES))


def test_prompt_with_opening_and_grade_is_the_published_chat(mistral):
    tokenizer = mistral("v3", "mistral-v0.3")
    found = reading(tokenizer, GRADES)
    prompt = tokenizer("<s>[INST] Grade it.[/INST]", add_special_tokens=False)["input_ids"]
    assert tokenizer.decode([*prompt, *found.opening, found.ids[2]]) == "<s>[INST] Grade it.[/INST] 3"
    # mistral_common's encoder of this vocabulary, which is what the model was trained with
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    own = MistralTokenizer.v3().instruct_tokenizer.tokenizer.encode("3", bos=False, eos=False)
    assert [*found.opening, found.ids[2]] == own


def test_grades_of_byte_level_bpe_are_read_at_once():
    tokenizer = transformers.AutoTokenizer.from_pretrained(locate("embedded:smollm2-135m-instruct"))
    assert read(tokenizer) == ([], list(GRADES))


def test_grades_that_begin_alike_are_refused_by_name():
    # SmolLM2 writes every digit by itself
    tokenizer = transformers.AutoTokenizer.from_pretrained(locate("embedded:smollm2-135m-instruct"))
    with pytest.raises(ModelError, match=r"answers '1', '10' cannot be distinguished .* scoring: greedy"):
        reading(tokenizer, TEN)


def test_grades_of_two_digits_are_read_where_each_is_a_token(tiny):
    import tokenizers

    backend = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="?"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), special_tokens=["?"], show_progress=False
    )
    backend.train_from_iterator(["10 10 10"], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    tokenizer.chat_template = tiny.chat_template
    assert read(tokenizer, TEN) == ([], list(TEN))


def test_grades_behind_two_line_breaks_that_are_one_token_at_the_end_of_a_text(tiny):
    tiny.chat_template = None
    assert read(tiny) == ([], list(GRADES))


THINKING = TEMPLATES["zephyr"].replace("+ m['content']", "+ {} + m['content']")


def test_train_of_thought_that_a_template_leaves_empty_is_part_of_the_opening(tiny):
    # as Qwen 3: the prompt ends before the thought, and an answer has an empty one
    empty = "('<think></think>' if m['role'] == 'assistant' else '')"
    tiny.chat_template = THINKING.replace("{}", empty)
    opening, ids = read(tiny)
    assert tiny.convert_tokens_to_string(opening).endswith("<think></think>")
    assert ids == list(GRADES)


def test_template_that_asks_for_a_thought_before_the_answer_is_refused(tiny):
    # as DeepSeek R1: the prompt ends within a thought, which a finished answer has no more
    tiny.chat_template = TEMPLATES["zephyr"].replace("'<|assistant|>'", "'<|assistant|><think>'")
    with pytest.raises(ModelError, match="writes an answer elsewhere than it asks for one"):
        reading(tiny, GRADES)


def test_without_choices_nothing_is_read(tiny):
    assert read(tiny, ()) == ([], [])
