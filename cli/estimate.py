"""`evenhand estimate`: what a recipe needs, before anything is run."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config.recipe_file import load_recipe
from ..config.shipped import comment_lines, find_recipe
from ..errors import LeftOutError, RecipeError
from ..estimate.devices import DEVICES, UTILISATION, device_of
from .inputs import Overrides, RecipePath, single_keys
from .terminal import plain_table, say, show

if TYPE_CHECKING:
    from rich.table import Table

    from ..config import Recipe
    from ..config.model import LanguageModel
    from ..estimate.recipe import RecipeEstimate, StageEstimate
    from ..generate.backend import Ask
    from ..train.memory import TrainMemory

EXAMPLE = "Example: evenhand estimate recipes/quickstart.yaml --gpu a100-40"
GIB = 2**30
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
    loaded = load_recipe(recipe, set_ or [])
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
        loaded = load_recipe(recipe, [*(set_ or []), *keys_of_nodes(loaded, nodes, gpus_per_node or 0)])
    assumed = Assumed(dict(map(_requests, requests or [])), prompt_tokens, answer_tokens)
    found = run(loaded, device, utilisation, assumed, Cluster(nodes, gpus_per_node))
    if as_json:
        derived = {
            "gpus": found.gpus, "gpu_memory_gib": found.memory, "hours": found.hours, "gpu_hours": found.gpu_hours,
            "cost": found.cost,
        }  # fmt: skip
        say(json.dumps(asdict(found) | derived, indent=2))
    else:
        _show(found, gpu_price, is_loop=_is_loop(recipe))
    if found.problems:
        raise LeftOutError(f"{len(found.problems)} models are not known, and what rests on them is left out")


def _requests(given: str) -> tuple[str, int]:
    split, _, n = given.partition("=")
    if split not in {"train", "test"} or not n.isdecimal() or int(n) < 1:
        raise RecipeError(f"--requests {given!r}: write train=N or test=N")
    return split, int(n)


def _show(found: "RecipeEstimate", gpu_price: float | None, *, is_loop: bool) -> None:
    device = found.device
    show(_models(found))
    show(_stages(found))
    if found.training:
        show(_training(found))
        say(
            "* the recipe's. adapter: with gradients, optimiser and buffers. layers: activations. all: together. c.: with "
            "gradient checkpointing"
        )
    if found.engines:
        show(_engines(found))
    for note in found.notes:
        say(f"- {note}")
    say(
        f"- hours: {found.utilisation:.0%} of {device.name}'s {device.peak / 1e12:,g} TFLOP/s (bfloat16) and "
        f"{device.bandwidth / 1e12:g} TB/s; loading models and judges that ask no language model are not counted"
    )
    say("- memory: without the driver's own (about 1 GiB); a tenth is left free in what is needed")
    _say_costs(found.stages)
    parts = ", ".join(f"{name} {_size(n_bytes)}" for name, n_bytes in found.files.items())
    say(
        f"- files: about {_size(sum(found.files.values()))} ({parts}); those of a stage are there twice until it ends; pairs "
        "are as many as there can be, replies of judges and checkpoints are not counted"
    )
    for problem in found.problems:
        say(f"- {problem}")
    if is_loop:
        _say_gpu_hours(found, gpu_price)
    if not found.gpus:
        say("needs: no GPU for language models, of which none runs here")
    elif found.memory is not None and found.hours is not None:
        hours = f"about {_hours(found.hours)} hours on {device.name} (metrics not counted)" if is_loop else BENCHMARK
        say(f"needs: {_gpus(found.gpus)} of at least {ceil(found.memory)} GiB; {hours}")


def _is_loop(recipe: Path) -> bool:
    """Whether a recipe is for a run, and not, as the command in its head says, for its judges alone."""
    lines = comment_lines(find_recipe(recipe))
    return not (lines and lines[0].startswith("evenhand ") and " --judges " in lines[0])


def _say_gpu_hours(found: "RecipeEstimate", gpu_price: float | None) -> None:
    """Hours of the GPUs that work, where there are several or a price, and what these cost."""
    hours = found.gpu_hours
    if hours is None or (found.gpus <= 1 and gpu_price is None):
        return
    price = "" if gpu_price is None else f", {hours * gpu_price:,.2f} to pay"
    say(f"- {_hours(hours)} GPU hours of work; GPUs that wait meanwhile are not counted{price}")


def print_costs(recipe: "Recipe") -> None:
    """What the recipe's servers will be asked and paid, before they are."""
    from ..estimate.recipe import served
    from ..estimate.work import Assumed, splits

    if not recipe.servers:
        return
    by_server = [served(split, work) for split in splits(recipe, Assumed({})) for work in split.work]
    _say_costs([each for each in by_server if each is not None])


def print_asked(what: str, asked: "LanguageModel", asks: "Sequence[Ask]") -> None:
    """What a server will be asked and paid for these, before it is; nothing where the model runs here.

    Raises:
        ModelError: the server is not there, refuses the key, or lacks the model.
    """
    from ..estimate.counting import Counter, reader
    from ..generate.server.reachability import refuse_unreachable

    server = asked.backend.server
    if server is None:
        return
    refuse_unreachable(server, asked.model.name)
    counter = Counter(reader(asked.model)[0])
    counter.complete(asks)
    paid, written = counter.tokens.paid, counter.tokens.generated
    cost = server.price.cost(round(paid), 0, round(written)) if server.price else None
    _say_cost(f"{what} by {server.base_url}", paid, written, cost)
    say(NOT_COUNTED)


def _say_costs(stages: "Iterable[StageEstimate]") -> None:
    asked = [each for each in stages if each.server is not None]
    for each in asked:
        _say_cost(f"{each.split} {each.name} by {each.server}", each.prompt_tokens, each.generated_tokens, each.cost)
    if asked:
        say(NOT_COUNTED)


def _say_cost(what: str, read: float, written: float, cost: float | None) -> None:
    paid = "its prices are not known: write server.price" if cost is None else f"about {cost:,.4g}"
    say(f"- {what}: {_count(read)} tokens in, at most {_count(written)} out; {paid}")


def _table(*columns: str, title: str) -> "Table":
    table = plain_table(title)
    for place, each in enumerate(columns):
        is_text = place == 0 or each in {"model", "used by"}
        table.add_column(each, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text)
    return table


def _models(found: "RecipeEstimate") -> "Table":
    table = _table("model", "parameters", "trained", "GiB", "used by", title="Models")
    for each in found.models:
        table.add_row(
            _short(each.name),
            _count(each.parameters),
            "-" if each.trained is None else _count(each.trained),
            "?" if each.weights is None else _gib(each.weights),
            ", ".join(each.used_by),
        )
    return table


def _stages(found: "RecipeEstimate") -> "Table":
    table = _table(
        "stage",
        "phases",
        "requests",
        "model",
        "prompt",
        "generated",
        "PFLOP",
        "GPUs",
        "hours",
        title="\nWork of all phases, in tokens",
    )
    for each in found.stages:
        table.add_row(
            f"{each.split} {each.name}",
            str(each.phases),
            f"{each.requests:,}",
            _short(each.model),
            _count(each.prompt_tokens),
            _count(each.generated_tokens) if each.name != "train" else "-",
            _known(each, _significant, each.flops and each.flops / 1e15),
            str(each.gpus),
            _known(each, _hours, each.hours),
        )
    return table


def _training(found: "RecipeEstimate") -> "Table":
    title = (
        f"\nMemory of training in GiB per GPU, {found.training[0].gpus} GPUs, passes of {found.pass_tokens:,} tokens"
    )
    table = _table(
        "strategy",
        "weights",
        "adapter",
        "logits",
        "layers c.",
        "all c.",
        "layers",
        "all",
        "fits",
        title=title,
    )
    for each in found.training:
        mark = " *" if each.is_recipes else ""
        table.add_row(
            each.strategy + mark,
            *map(_gib, (each.weights, each.adapter, each.logits)),
            *map(_gib, (each.activations["checkpointing"], each.total("checkpointing"))),
            *map(_gib, (each.activations["plain"], each.total("plain"))),
            _fits(found, each),
        )
    return table


def _fits(found: "RecipeEstimate", row: "TrainMemory") -> str:
    from ..train.memory import USABLE

    room = USABLE * found.device.memory * GIB
    kinds = [kind for kind in ("plain", "checkpointing") if row.total(kind) <= room]
    return {0: "no", 1: "only c.", 2: "yes"}[len(kinds)]


def _engines(found: "RecipeEstimate") -> "Table":
    title = f"\nMemory of engines on {found.device.memory:g} GiB"
    table = _table("model", "GPUs", "weights GiB", "KV GiB a request", "requests that fit", title=title)
    for each in found.engines:
        kv = each.kv_of_token * each.max_model_len
        fit = f"{each.room / each.max_model_len:,.0f} of {each.max_model_len:,} tokens"
        table.add_row(_short(each.model), str(each.gpus), _gib(each.weights), f"{kv / GIB:.2f}", fit)
    return table


def _known(stage: "StageEstimate", written: Callable[[float], str], value: float | None) -> str:
    """A number of a stage; "-" for one that a server has, "?" where it is not known."""
    return "-" if stage.server is not None else "?" if value is None else written(value)


def _gpus(n: int) -> str:
    return f"{n} GPU{'s' if n > 1 else ''}"


def _short(name: str) -> str:
    """A model without the organisation, or the folders, that it is in."""
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2]


def _gib(n_bytes: float) -> str:
    gib = n_bytes / GIB
    return f"{gib:.1f}" if gib >= 1 else f"{gib:.2f}"


def _size(n_bytes: float) -> str:
    return f"{_gib(n_bytes)} GiB" if n_bytes >= GIB else f"{_significant(n_bytes / 2**20)} MiB"


def _count(n: float | None) -> str:
    """A number as people read it: "8.03 B"."""
    if n is None:
        return "?"
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n:.0f}"


def _significant(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.1f}" if hours >= 0.1 else f"{hours:.2g}"
