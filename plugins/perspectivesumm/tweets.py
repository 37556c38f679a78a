"""The tweet sets, Claritin and US Election: samples of chosen sizes and ratios out of one pool of labelled tweets.

For each number of tweets, and in it each ratio, 150 samples are drawn; one generator, seeded once, serves the whole file, so the
order of everything that draws is part of the result. Claritin shuffles its pools once a setting and cuts them into
consecutive blocks; Election draws each sample anew. Then each sample's tweets are shuffled into the model's input.

The documents of a set stand value by value, as the measures read them; notes["model_input"] has their ids in the shuffled order.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-data.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from ...corpora.entries import BuiltSets
from ...errors import DataError
from ...fairness.groups.preparation import word_counter
from ...records import DocumentSet
from ...text.mistakes import listed, listed_lines
from ...text.shown import shortened
from .raw import decoded_lines, set_of_units

FIELD_END = "<||>"
SEPARATOR = " || "
SEED = 42


@dataclass(frozen=True)
class Tweet:
    """A line of the raw file."""

    id: str
    label: str
    text: str


@dataclass(frozen=True)
class TweetPlan:
    """How the samples of one source are drawn."""

    # what ids of sets begin with
    name: str
    attribute: str
    # label in the raw file, where the value's own name will do too -> attribute value, in the declared order
    values: Mapping[str, str]
    # share of each value but the last, which has the rest; one tuple a setting
    ratios: tuple[tuple[float, ...], ...]
    # what notes call these shares
    ratio_names: tuple[str, ...]
    # "blocks" cuts shuffled pools, repeating them when they are short; "samples" draws without replacement for each set
    draw: Literal["blocks", "samples"]
    # least and most length of a text that is kept, in word tokens or characters
    lengths: tuple[int, int | None]
    counts: Literal["words", "characters"]
    sizes: tuple[int, ...] = (10, 30, 50)
    n_per_setting: int = 150


CLARITIN = TweetPlan(
    name="claritin",
    attribute="gender",
    values={"male": "male", "female": "female"},
    ratios=((0.2,), (0.5,), (0.8,)),
    ratio_names=("male_ratio",),
    draw="blocks",
    lengths=(10, 70),
    counts="words",
)
ELECTION = TweetPlan(
    name="election",
    attribute="politics",
    values={"Pro-Republican": "repu", "Pro-Democrat": "demo", "Neutral": "neutral"},
    ratios=((0.2, 0.6), (0.4, 0.4), (0.6, 0.2)),
    ratio_names=("repu_ratio", "demo_ratio"),
    draw="samples",
    lengths=(11, None),
    counts="characters",
)
PLANS = {plan.name: plan for plan in (CLARITIN, ELECTION)}


def read_tweets(path: Path) -> list[Tweet]:
    """The tweets of a raw file, `id<||>label<||>text` a line, UTF-8 or Latin-1; one named .gz is unpacked.

    Raises:
        StorageError: the file cannot be read.
        DataError: lines have fewer than three fields or no text; all are listed.
    """
    tweets, mistakes = [], []
    for number, line in decoded_lines(path):
        fields = line.split(FIELD_END, 2)
        if len(fields) == 3 and fields[2].strip():
            tweets.append(Tweet(fields[0].strip(), fields[1].strip(), fields[2]))
        else:
            mistakes.append((number, f"{line!r:.80} is not id{FIELD_END}label{FIELD_END}text"))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return tweets


def build_tweets(
    tweets: Sequence[Tweet],
    plan: TweetPlan,
    count_words: Callable[[str], int] | None = None,
    seed: int = SEED,
    *,
    path: Path | None = None,
) -> BuiltSets:
    """The sets of a source, numbered in the order of sizes, ratios and samples.

    Args:
        tweets: in the order of the file, which the draws depend on.
        plan: `CLARITIN` or `ELECTION`, or one of your own.
        count_words: word tokens of a text; None counts NLTK's, as the published sets do, where the plan counts words.
        seed: 42 in the published sets.
        path: where the tweets come from, for the error.

    Raises:
        MissingExtra: words are to be counted, and NLTK is not installed.
        DataError: a pool has too few tweets for the plan, or NLTK's sentence model is absent.
    """
    count = len if plan.counts == "characters" else count_words or word_counter("counting the words of tweets")
    pools, left_out = _pools(tweets, plan, count)
    rng = random.Random(seed)  # noqa: S311 - the published draws are this generator's
    sets: list[DocumentSet] = []
    for size, ratios in product(plan.sizes, plan.ratios):
        parts = [int(size * ratio) for ratio in ratios]
        parts.append(size - sum(parts))
        _refuse_short_pools(pools, parts, plan, left_out, path)
        for texts in _drawn(pools, parts, plan, rng):
            set_id = f"{plan.name}-{len(sets) + 1:04d}"
            shuffled = [f"{set_id}/{number}" for number in range(1, len(texts) + 1)]
            rng.shuffle(shuffled)
            notes = {
                "values": {plan.attribute: list(plan.values.values())},
                "separator": SEPARATOR,
                "meta": {"type": "tweets", "num_tweets": size, **dict(zip(plan.ratio_names, ratios, strict=True))},
                "model_input": shuffled,
            }
            sets.append(set_of_units(set_id, [(text, {plan.attribute: value}) for text, value in texts], notes))
    return BuiltSets(sets, left_out)


def _pools(
    tweets: Iterable[Tweet], plan: TweetPlan, count: Callable[[str], int]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The texts of each value, in order, and what is in no pool."""
    known = {**{value: value for value in plan.values.values()}, **plan.values}
    pools: dict[str, list[str]] = {value: [] for value in plan.values.values()}
    left_out: Counter[str] = Counter()
    low, high = plan.lengths
    for tweet in tweets:
        if tweet.label not in known:
            left_out[f"label {shortened(tweet.label)}"] += 1
        elif (length := count(tweet.text)) < low:
            left_out[f"under {low} {plan.counts}"] += 1
        elif high is not None and length > high:
            left_out[f"over {high} {plan.counts}"] += 1
        else:
            pools[known[tweet.label]].append(tweet.text)
    return pools, dict(left_out)


def _refuse_short_pools(
    pools: Mapping[str, Sequence[str]],
    parts: Sequence[int],
    plan: TweetPlan,
    left_out: Mapping[str, int],
    path: Path | None,
) -> None:
    # a pool that is cut into blocks is repeated, so one tweet will do
    needed = parts if plan.draw == "samples" else [1] * len(parts)
    short = [
        f"{plan.attribute} {value!r} has {len(pool)} tweets, but {n_needed} are needed"
        for (value, pool), n_needed in zip(pools.items(), needed, strict=True)
        if len(pool) < n_needed
    ]
    if short:
        dropped = sorted(left_out.items(), key=lambda row: -row[1])
        lines = [
            *short,
            *(f"left out: {count:,} tweets: {reason}" for reason, count in dropped),
            f"labels that are known in the raw file are {', '.join(plan.values)}; add tweets",
        ]
        raise DataError(listed([f"{path}: {line}" if path else line for line in lines]))


def _drawn(
    pools: Mapping[str, list[str]], parts: Sequence[int], plan: TweetPlan, rng: random.Random
) -> Iterable[list[tuple[str, str]]]:
    """Texts with their values for each set of one setting; between two of them the caller draws from the generator too."""
    n = plan.n_per_setting
    sizes = dict(zip(pools, parts, strict=True))
    blocks = {}
    for value, pool in pools.items() if plan.draw == "blocks" else ():
        # a copy: the order of one setting does not carry over to the next
        shuffled = list(pool)
        rng.shuffle(shuffled)
        shuffled *= n * sizes[value] // len(shuffled) + 1
        blocks[value] = [shuffled[sizes[value] * number : sizes[value] * (number + 1)] for number in range(n)]
    for number in range(n):
        chosen = {
            value: blocks[value][number] if plan.draw == "blocks" else rng.sample(pool, sizes[value])
            for value, pool in pools.items()
        }
        yield [(text, value) for value, texts in chosen.items() for text in texts]
