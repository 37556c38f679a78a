"""`evenhand import tweets`, `reviews` and `dialogue`: the sets of PerspectiveSumm, built anew from raw data."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...cli.door import Verb
from ...cli.set_files import Force, Out, Split, reading, say_left_out, write_sets
from ...errors import DataError


def tweets(
    file: Annotated[Path, typer.Argument(help="id<||>label<||>text a line, UTF-8 or Latin-1; .gz is unpacked.")],
    source: Annotated[Literal["claritin", "election"], typer.Option(help="Whose labels, ratios and drawing.")],
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws; the published sets have 42.")] = 42,
    split: Split = None,
    force: Force = False,
) -> None:
    """PerspectiveSumm's tweet sets out of labelled tweets: 10, 30 and 50 a set, three ratios, 150 sets of each."""
    from .tweets import PLANS, build_tweets, read_tweets

    with reading(file, out, force=force):
        read = read_tweets(file)
    built = build_tweets(read, PLANS[source], seed=seed, path=file)
    write_sets(out, built.sets, split=split)
    say_left_out({f"tweets: {reason}": count for reason, count in built.left_out.items()})


def reviews(
    folder: Annotated[Path, typer.Argument(help="A tab-separated .csv or .tsv file for each product.")],
    labels: Annotated[
        Literal["rating", "sentiment"],
        typer.Option(help="Ratings 1 to 5 alone (Amazon), or also VADER's sentiment of the text (Yelp; needs NLTK)."),
    ],
    out: Out,
    limit: Annotated[
        int | None, typer.Option(min=0, help="How many files to take, first by name; 0 takes all. Default: 1500.")
    ] = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """PerspectiveSumm's review sets out of raw reviews: a file of them is a set."""
    from ...fairness.groups.preparation import SentimentLabeller
    from .reviews import MOST_FILES, read_reviews

    with reading(folder, out, force=force):
        built = read_reviews(
            folder, SentimentLabeller() if labels == "sentiment" else None, limit=_most_of(limit, MOST_FILES)
        )
    write_sets(out, built.sets, split=split)
    say_left_out(built.left_out)


def dialogue(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    file: Annotated[
        Path, typer.Argument(help="IQ2's JSON, or the conversations of the Supreme Court corpus; .gz is unpacked.")
    ],
    source: Annotated[Literal["debates", "court"], typer.Option(help="Which of the two formats.")],
    out: Out,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="Word tokens of a segment. Default: 1500 for debates, 2000 for court.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Do not cut transcripts at all.")] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Charge a turn to the segment it opens, as the published sets do not.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0, help="How many transcripts to take; 0 takes all. Default: 100 cases of the court, all debates."
        ),
    ] = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """PerspectiveSumm's dialogue sets out of transcripts: a segment of turns is a set, a speaker a value."""
    from ...fairness.groups.preparation import word_counter
    from . import dialogue as dialogues

    if whole and (most_tokens or exact):
        raise DataError(
            "--whole does not cut transcripts, so --most-tokens and --exact do not go with it; leave them out"
        )
    with reading(file, out, force=force):
        if source == "debates":
            found, longest = dialogues.read_debates(file, limit=_most_of(limit, None)), dialogues.DEBATE_TOKENS
        else:
            most = _most_of(limit, dialogues.COURT_CASES)
            found, longest = dialogues.read_court(file, limit=most), dialogues.COURT_TOKENS
    if whole:
        # nothing is counted, hence no NLTK
        sets = dialogues.build_dialogues(found.dialogues, None, len)
    else:
        sets = dialogues.build_dialogues(found.dialogues, most_tokens or longest, word_counter(), exact=exact)
    write_sets(out, sets, split=split)
    say_left_out(found.left_out)


def _most_of(given: int | None, usual: int | None) -> int | None:
    """How many are read, None for all: what was given, where 0 asks for all."""
    return usual if given is None else given or None


TWEETS = Verb(tweets, epilog="Example: evenhand import tweets input.txt --source claritin --out claritin.jsonl")
REVIEWS = Verb(
    reviews, epilog="Example: evenhand import reviews amazon/reviews/test --labels rating --out amazon.jsonl"
)
DIALOGUE = Verb(
    dialogue, epilog="Example: evenhand import dialogue iq2_data_release.json --source debates --out debates.jsonl"
)
