"""The verb that trains an encoder that judges. Only the command line's files print."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...cli.door import Verb
from ...cli.terminal import say
from ...errors import RecipeError

EXAMPLE = "Example: evenhand judges train-encoder articles.jsonl --leave-out controlled.jsonl --out runs/judges/encoder"


def train_encoder(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    articles: Annotated[
        list[Path],
        typer.Argument(
            metavar="ARTICLES",
            help="Annotated articles: JSON lines, or the PoliSum authors' evidence file; sample is bundled. Passages of both "
            "sides of a topic will do, key points are better.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The model's folder, which appears whole.")],
    leave_out: Annotated[
        Path | None,
        typer.Option(
            metavar="SETS", help="Controlled sets whose topics are not trained on, so that it can be tried on them."
        ),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="The authors' evidence file, which tells the topics of their SETS."
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Sentence encoder to start from: Hugging Face id, folder or embedded model.")
    ] = "embedded:all-minilm-l6-v2",
    form: Annotated[
        Literal["encoder", "classifier"],
        typer.Option(help="Texts encoded one by one and compared by cosine, or text and claim read together."),
    ] = "encoder",
    epochs: Annotated[int, typer.Option(min=1, help="Passes at most; it stops after one without improvement.")] = 3,
    most: Annotated[int, typer.Option(min=1, help="Triples of each kind at most; they are drawn.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="Of draws and of the training.")] = 42,
) -> None:
    """Train an encoder to tell what a text supports from its contrary and from the other side: a model of alignment judges."""
    from ...corpora.annotated import read_annotated
    from ...corpora.controlled import read_controlled
    from ...evaluation.pages.words import counted
    from .plan import EncoderPlan
    from .training import train_encoder as train

    all_articles = [article for path in articles for article in read_annotated(str(path))]
    if evidence and leave_out is None:
        raise RecipeError("--evidence tells the topics of sets that are left out; name the sets with --leave-out SETS")
    left_out = read_controlled(leave_out, evidence) if leave_out else []
    plan = EncoderPlan(model=model, form=form, epochs=epochs, most_of_a_kind=most, seed=seed)
    trained = train(all_articles, plan, out, left_out=left_out)
    for figure in trained.figures:
        say(f"{figure.kind:9} {figure.before:.2f} -> {figure.after:.2f} told apart of {figure.triples} held triples")
    say(f"model: {out}, of {counted(trained.learned, 'triple')} of {counted(len(trained.topics), 'topic')}")
    if form == "classifier":
        say(f"judge: {{kind: alignment, aligner: nli, chunks: sentence, parts: claim, model: {out}}}")
    else:
        say(f"judge: {{kind: alignment, parts: claim, model: {out}}}")


TRAIN_ENCODER = Verb(train_encoder, epilog=EXAMPLE, at_end=True, former="train-encoder")
