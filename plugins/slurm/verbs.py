"""`evenhand run slurm`: a recipe's steps as SLURM's batch jobs."""

from typing import Annotated

import typer

from ...cli.door import Verb
from ...cli.inputs import Overrides, RecipePath
from ...cli.terminal import note, plain_table, say, say_put_aside, show
from ...config.recipe_file import load_recipe

EXAMPLE = (
    "Example: evenhand run slurm recipes/polisum/llama-3.1-8b/dpo.yaml --nodes 4 --gpus-per-node 8 "
    '--sbatch "--partition=gpu" --sbatch "--time=24:00:00" --submit'
)


def slurm(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    recipe: RecipePath,
    set_: Overrides = None,
    nodes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Nodes that generating and judging are spread over, and training where its accelerate "
            "configuration is for several machines.",
        ),
    ] = 1,
    gpus_per_node: Annotated[int, typer.Option(min=0, help="GPUs of each node; 0 asks for none.")] = 0,
    shards: Annotated[
        int | None,
        typer.Option(min=1, help="Tasks of each array of generating and judging. Default: as many as nodes."),
    ] = None,
    sbatch: Annotated[
        list[str] | None,
        typer.Option("--sbatch", metavar="OPTION", help='A further option of all jobs: "--partition=gpu". Repeatable.'),
    ] = None,
    submit: Annotated[bool, typer.Option("--submit", help="Submit the jobs, too.")] = False,
) -> None:
    """Write a run's steps as SLURM jobs that wait for each other, and submit them: OUTPUT/slurm/*.sbatch.

    Generating and judging are arrays of shards; training is one job, on several nodes where its accelerate configuration is for
    several machines. What is done already has no job. A job that fails takes those behind it out of the queue; the same command
    submits what is left.
    """
    loaded = load_recipe(recipe, set_ or [])
    from ...loop import plan
    from ...models.cache import cache_folder
    from ...preflight import preflight
    from ...train.nodes import keys_of_nodes
    from .queue import submit as send
    from .slurm import Nodes, Scripts, as_rows, idle_gpus, jobs

    cluster = Nodes(nodes, gpus_per_node, tuple(sbatch or []))
    loaded = load_recipe(recipe, [*(set_ or []), *keys_of_nodes(loaded, nodes, gpus_per_node)])
    # the machine that submits jobs need not have GPUs, models or libraries
    n_requests = preflight(loaded, elsewhere=True).n_requests
    planned = plan(loaded)
    say_put_aside(loaded, planned)
    todo = [row.step for row in planned if not row.is_done]
    scripts = Scripts(loaded, cluster, tuple(jobs(loaded, todo, cluster, shards or nodes)))
    if not scripts.jobs:
        say(f"{loaded.name}: every step is done; nothing to submit")
        return
    queued = send(scripts) if submit else []
    if not submit:
        scripts.write()
    ids = [[job.id] for job in queued] or [[] for _ in scripts.jobs]
    rows = [[*row, *job_id] for row, job_id in zip(as_rows(scripts.jobs), ids, strict=True)]
    show(plain_table(("job", "on", "steps", *(["id"] if queued else [])), rows, words=("steps",)))
    note(f"scripts, and what the jobs say: {scripts.folder}")
    for idle in idle_gpus(loaded, cluster, shards or nodes, n_requests):
        note(idle)
    if (shards or nodes) > 1:
        note(
            f"caches of judges: {cache_folder()}; where machines share that disk, give each a folder of its own: "
            '--sbatch "--export=ALL,EVENHAND_CACHE=/local/evenhand"'
        )
    say("each job waits for the one above it: squeue --me" if queued else "the same command with --submit submits them")


SLURM = Verb(slurm, epilog=EXAMPLE, former="slurm")
