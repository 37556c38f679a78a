"""`evenhand run estimate`: what a recipe needs, before anything is run."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config.shipped import comment_lines, find_recipe
from ..errors import LeftOutError, RecipeError
from ..estimate.devices import DEVICES, UTILISATION, device_of
from ..text.amounts import GIB, disk_size, duration, gibibytes, hours, magnitude, significant
from ..text.shown import counted_as
from .inputs import Overrides, RecipePath, open_recipe, single_keys
from .terminal import plain_table, say, show

if TYPE_CHECKING:
    from rich.table import Table

    from ..config import Recipe
    from ..config.model import LanguageModel
    from ..estimate.needs import RecipeEstimate, StageEstimate
    from ..generate.backend import Ask
    from ..train.memory import TrainMemory

EXAMPLE = "Example: evenhand run estimate recipes/quickstart.yaml --gpu a100-40"
# of a recipe whose loop would take other hours
BENCHMARK = "how long a benchmark of judges takes is not known"
# of what servers are asked
NOT_COUNTED = "- servers: what is asked again, because an answer did not arrive or cannot be read, is not counted"


def estimate(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    recipe: RecipePath,
    set_: Overrides = None,
    gpu: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(DEVICES)}, or another one's GiB, TFLOP/s (bfloat16, dense) and TB/s, as in 48,362,0.864"
        ),
    ] = "a100",
    gpu_memory: Annotated[
        float | None, typer.Option(min=1, metavar="GIB", help="Memory of each GPU, where it is not that of --gpu.")
    ] = None,
    utilisation: Annotated[
        float,
        typer.Option(min=0.01, max=1, help="Share of the GPU's peak, and of its memory's bandwidth, that is reached."),
    ] = UTILISATION,
    requests: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPLIT=N",
            callback=single_keys("--requests"),
            help="Requests of train or test, instead of those of the documents. Repeatable.",
        ),
    ] = None,
    prompt_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Tokens of a prompt, where the documents are not here.")
    ] = None,
    answer_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Tokens of an answer, where it is shorter than allowed; training counts the most."
        ),
    ] = None,
    nodes: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Machines: requests are spread over them as shards, and training where its accelerate "
            "configuration is for several machines.",
        ),
    ] = 1,
    gpus_per_node: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="GPUs of each, which replicas: auto fills with engines.")
    ] = None,
    gpu_price: Annotated[
        float | None, typer.Option(min=0, metavar="PRICE", help="Of an hour of a GPU, in your currency.")
    ] = None,
    start_seconds: Annotated[
        float,
        typer.Option(min=0, metavar="S", help="Seconds that an engine or a training takes to start."),
    ] = 60,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of tables, in bytes and operations.")
    ] = False,
) -> None:
    """What a recipe needs, computed before anything is run: parameters, tokens, operations, memory per GPU, hours.

    No weights are loaded. Of a model only config.json is needed (a folder with nothing else is enough), and its
    tokenizer's files; without them four characters count as a token. Generated tokens are counted at their maximum, or as
    --answer-tokens says. A million requests on 64 GPUs: --requests test=1000000 --nodes 8 --gpus-per-node 8 --set
    generate.replicas=auto.
    """
    loaded = open_recipe(recipe, set_)
    try:
        device = device_of(gpu)
    except ValueError:
        raise RecipeError(
            f"--gpu {gpu!r}: is neither one of {', '.join(DEVICES)} nor three numbers above 0, GiB,TFLOP/s,TB/s"
        ) from None
    device = device if gpu_memory is None else replace(device, memory=gpu_memory)
    from ..estimate.recipe import Cluster
    from ..estimate.recipe import estimate as run
    from ..estimate.work import Assumed
    from ..train.nodes import keys_of_nodes

    if nodes > 1 or gpus_per_node:
        loaded = open_recipe(recipe, [*(set_ or []), *keys_of_nodes(loaded, nodes, gpus_per_node or 0)])
    assumed = Assumed(dict(map(_requests, requests or [])), prompt_tokens, answer_tokens)
    needs = run(loaded, device, utilisation, assumed, Cluster(nodes, gpus_per_node))
    if as_json:
        derived = {
            "gpus": needs.gpus, "gpu_memory_gib": needs.memory, "hours": needs.hours, "gpu_hours": needs.gpu_hours,
            "cost": needs.cost, "starts": needs.starts, "start_hours": needs.starts * start_seconds / 3600,
        }  # fmt: skip
        say(json.dumps(asdict(needs) | derived, indent=2))
    else:
        _show(needs, gpu_price, start_seconds / 3600, is_loop=_is_loop(recipe))
    if needs.problems:
        from ..evaluation.pages.words import counted

        n = len(needs.problems)
        rest = "is not known, and what rests on it" if n == 1 else "are not known, and what rests on them"
        raise LeftOutError(f"{counted(n, 'model')} {rest} is left out")


def _requests(entry: str) -> tuple[str, int]:
    split, _, n = entry.partition("=")
    if split not in {"train", "test"} or not n.isdecimal() or int(n) < 1:
        raise RecipeError(f"--requests {entry!r}: write train=N or test=N")
    return split, int(n)


def _show(needs: "RecipeEstimate", gpu_price: float | None, start_hours: float, *, is_loop: bool) -> None:
    device = needs.device
    show(_models(needs))
    show(_stages(needs))
    if needs.training:
        show(_training(needs))
        say(
            "* the recipe's. adapter: with gradients, optimiser and buffers. layers: activations. all: together. c.: with "
            "gradient checkpointing"
        )
    if needs.longest:
        say(
            f"- longest prompt with a candidate that the model reads and a pass holds with checkpointing: about "
            f"{needs.longest // 1000 * 1000:,} tokens. train.max_tokens_per_pass must allow it; no sequence is split over GPUs"
        )
    if needs.engines:
        show(_engines(needs))
    for note in needs.notes:
        say(f"- {note}")
    say(
        f"- hours: {needs.utilisation:.0%} of {device.name}'s {device.peak / 1e12:,g} TFLOP/s (bfloat16) and "
        f"{device.bandwidth / 1e12:g} TB/s; judges that ask no language model are not counted"
    )
    say("- memory: without the driver's own (about 1 GiB); a tenth is left free in what is needed")
    _say_costs(needs.stages)
    parts = ", ".join(f"{name} {disk_size(n_bytes)}" for name, n_bytes in needs.files.items())
    say(
        f"- files: about {disk_size(sum(needs.files.values()))} ({parts}); those of a stage are there twice until it ends; pairs "
        "are as many as there can be, replies of judges and checkpoints are not counted"
    )
    for problem in needs.problems:
        say(f"- {problem}")
    if is_loop and needs.gpus:
        say(
            f"- starts: {counted_as(needs.starts, 'starts')} of an engine or a training, one after another, at "
            f"{start_hours * 3600:g} s (--start-seconds)"
        )
        _say_gpu_hours(needs, gpu_price, start_hours)
    if not needs.gpus:
        say("needs: no GPU for language models, of which none runs here")
    elif needs.memory is not None and needs.hours is not None:
        work, starts = duration(needs.hours * 3600), duration(needs.starts * start_hours * 3600)
        time = f"about {work} of work on {device.name} and {starts} of starts" if is_loop else BENCHMARK
        say(f"needs: {_gpus(needs.gpus)} of at least {ceil(needs.memory)} GiB; {time}")


def _is_loop(recipe: Path) -> bool:
    """Whether a recipe is for a run, and not, as the command in its head says, for its judges alone."""
    lines = comment_lines(find_recipe(recipe))
    return not (lines and lines[0].startswith("evenhand ") and " --judges " in lines[0])


def _say_gpu_hours(needs: "RecipeEstimate", gpu_price: float | None, start_hours: float) -> None:
    """Hours of the GPUs that work or start, where there are several or a price, and what these cost."""
    work = needs.gpu_hours
    if work is None or (needs.gpus <= 1 and gpu_price is None):
        return
    starts = needs.gpu_hours_of_starts(start_hours)
    price = "" if gpu_price is None else f", {(work + starts) * gpu_price:,.2f} to pay"
    say(
        f"- {hours(work)} GPU hours of work and {hours(starts)} of starts; GPUs that wait meanwhile are not counted{price}"
    )


def print_costs(recipe: "Recipe") -> None:
    """What the recipe's servers will be asked and paid, before they are."""
    from ..estimate.recipe import served
    from ..estimate.work import Assumed, splits

    if not recipe.servers:
        return
    by_server = [served(split, work) for split in splits(recipe, Assumed({})) for work in split.work]
    _say_costs([stage for stage in by_server if stage is not None])


def print_asked(work: str, language_model: "LanguageModel", asks: "Sequence[Ask]") -> None:
    """What a server will be asked and paid for these, before it is; nothing where the model runs here.

    Raises:
        ModelError: the server is not there, refuses the key, or lacks the model.
    """
    from ..estimate.counting import Counter, reader

    server = language_model.backend.server
    if server is None:
        return
    server.refuse_unreachable(language_model.model.name)
    counter = Counter(reader(language_model.model)[0])
    counter.complete(asks)
    paid, written = counter.tokens.paid, counter.tokens.generated
    _say_cost(f"{work} by {server.address}", paid, written, server.cost(round(paid), round(written)))
    say(NOT_COUNTED)


def _say_costs(stages: "Iterable[StageEstimate]") -> None:
    server_stages = [stage for stage in stages if stage.server is not None]
    for stage in server_stages:
        _say_cost(
            f"{stage.split} {stage.name} by {stage.server}", stage.prompt_tokens, stage.generated_tokens, stage.cost
        )
    if server_stages:
        say(NOT_COUNTED)


def _say_cost(work: str, read: float, written: float, cost: float | None) -> None:
    paid = "its prices are not known: write server.price" if cost is None else f"about {cost:,.4g}"
    say(f"- {work}: {magnitude(read)} tokens in, at most {magnitude(written)} out; {paid}")


def _models(needs: "RecipeEstimate") -> "Table":
    rows = (
        (
            _short(model.name),
            "?" if model.parameters is None else magnitude(model.parameters),
            "-" if model.trained is None else magnitude(model.trained),
            "?" if model.weights is None else gibibytes(model.weights),
            ", ".join(model.used_by),
        )
        for model in needs.models
    )
    columns = ("model", "parameters", "trained", "GiB", "used by")
    return plain_table(columns, rows, "Models", words=("model", "used by"), numbers=columns)


def _stages(needs: "RecipeEstimate") -> "Table":
    rows = (
        (
            f"{stage.split} {stage.name}",
            str(stage.phases),
            f"{stage.requests:,}",
            _short(stage.model),
            magnitude(stage.prompt_tokens),
            magnitude(stage.generated_tokens) if stage.name != "train" else "-",
            _known(stage, significant, stage.flops and stage.flops / 1e15),
            str(stage.gpus),
            _known(stage, hours, stage.hours),
        )
        for stage in needs.stages
    )
    columns = ("stage", "phases", "requests", "model", "prompt", "generated", "PFLOP", "GPUs", "hours")
    return plain_table(columns, rows, "\nWork of all phases, in tokens", words=("stage", "model"), numbers=columns)


def _training(needs: "RecipeEstimate") -> "Table":
    from ..evaluation.pages.words import counted

    gpus = counted(needs.training[0].gpus, "GPU")
    title = f"\nMemory of training in GiB per GPU, {gpus}, passes of {needs.pass_tokens:,} tokens"
    rows = (
        (
            f"{row.strategy}{' *' if row.is_recipes else ''}",
            *map(gibibytes, (row.weights, row.adapter, row.logits)),
            *map(gibibytes, (row.activations["checkpointing"], row.total("checkpointing"))),
            *map(gibibytes, (row.activations["plain"], row.total("plain"))),
            _fits(needs, row),
        )
        for row in needs.training
    )
    columns = ("strategy", "weights", "adapter", "logits", "layers c.", "all c.", "layers", "all", "fits")
    return plain_table(columns, rows, title, numbers=columns[1:])


def _fits(needs: "RecipeEstimate", row: "TrainMemory") -> str:
    from ..train.memory import USABLE

    room = USABLE * needs.device.memory * GIB
    kinds = [kind for kind in ("plain", "checkpointing") if row.total(kind) <= room]
    return {0: "no", 1: "only c.", 2: "yes"}[len(kinds)]


def _engines(needs: "RecipeEstimate") -> "Table":
    rows = []
    for engine in needs.engines:
        kv = engine.kv_of_token * engine.max_model_len
        fit = f"{engine.room / engine.max_model_len:,.0f} of {engine.max_model_len:,} tokens"
        rows.append((_short(engine.model), str(engine.gpus), gibibytes(engine.weights), f"{kv / GIB:.2f}", fit))
    columns = ("model", "GPUs", "weights GiB", "KV GiB a request", "requests that fit")
    title = f"\nMemory of engines on {needs.device.memory:g} GiB"
    return plain_table(columns, rows, title, words=("model",), numbers=columns)


def _known(stage: "StageEstimate", written: Callable[[float], str], value: float | None) -> str:
    """A number of a stage; "-" for one that a server has, "?" where it is not known."""
    return "-" if stage.server is not None else "?" if value is None else written(value)


def _gpus(n: int) -> str:
    return f"{n} GPU{'s' if n > 1 else ''}"


def _short(name: str) -> str:
    """A model without the organisation, or the folders, that it is in."""
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2]
