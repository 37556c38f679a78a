"""`evenhand judges convert`: checkpoints as their authors released them become what the judges read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.terminal import say
from ...cli.verbs import Verbs
from ...errors import DataError, JudgeError, ModelError

app = Verbs(
    help="Turn a metric's checkpoint, as its authors released it, into plain tensors that the judges read.\n\n"
    "Released checkpoints are pickles, which can run any code when they are opened. They are opened here once, by a reader that "
    "builds tensors and plain values and refuses everything else; the judges read only what is written. Needs evenhand\\[judges] "
    "and torch (evenhand\\[train]).",
    epilog="Example: evenhand judges convert bleurt BLEURT-20-D6 --out models/bleurt-20-d6",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Out = Annotated[Path, typer.Option(help="Folder to write; a new or empty one.")]


@app.command(epilog="Example: evenhand judges convert alignscore AlignScore-large.ckpt --out models/alignscore-large")
def alignscore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The released .ckpt of AlignScore-base or -large.")],
    out: Out,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Hugging Face id or folder of the RoBERTa that it was trained from, for its configuration and tokenizer. "
            "Default: the one that the file names."
        ),
    ] = None,
) -> None:
    """AlignScore's Lightning checkpoint: encoder and three heads; optimiser and language-model head are left out."""
    from ...judges.alignscore import convert_checkpoint

    with _given():
        convert_checkpoint(file, encoder, out)
    say(f"{out}: write in the recipe {{kind: alignment, aligner: alignscore, model: {out}}}")


@app.command(epilog="Example: evenhand judges convert bleurt BLEURT-20-D6 --out models/bleurt-20-d6")
def bleurt(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The folder of a checkpoint of the PyTorch port (lucadiliello/BLEURT-20-D6 and its sisters on the hub: "
            "config.json, weights, spm.model or vocab.txt), or the file of the weights in it. TensorFlow's own are not read.",
        ),
    ],
    out: Out,
) -> None:
    """BLEURT: BLEURT-20 and its distilled sizes become a RemBERT with one output, the older ones a BERT."""
    from .bleurt_checkpoint import convert_bleurt

    with _given():
        convert_bleurt(file, out)
    say(f"{out}: write in the recipe {{kind: bleurt, model: {out}}}")


@app.command(epilog="Example: evenhand judges convert summac summac_conv_vitc_sent_perc_e.bin --out models/summac-conv")
def summac(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The released read-out, a .bin of 1.8 kB.")],
    out: Out,
) -> None:
    """SummaC-Conv's trained read-out; the classifier that it reads comes from the hub unchanged."""
    from ...judges.released import refuse_filled
    from .summac import convert_weights

    target = out / "model.safetensors"
    refuse_filled(out)
    with _given():
        convert_weights(file, target)
    say(f"{out}: write in the recipe {{kind: summac, variant: conv, weights: {target}}}")


@contextmanager
def _given() -> Iterator[None]:
    """Call a file that is damaged or somebody else's what it is: given wrongly."""
    try:
        yield
    except (JudgeError, ModelError) as error:
        raise DataError(str(error)) from error


CONVERT = Verb(app, at_end=True, former="convert")
