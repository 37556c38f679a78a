"""Training spread over machines: what a recipe says where there are so many of them."""

from ..config import Recipe
from ..errors import RecipeError
from .launch import accelerate_config, n_machines, n_processes, read_accelerate


def keys_of_nodes(recipe: Recipe, nodes: int, gpus_each: int) -> list[str]:
    """Keys of the recipe that make its training use these nodes, as --set takes them.

    An accelerate configuration for several machines is started on all nodes, with a process for each of their GPUs, unless the
    recipe gives numbers of its own. One for a single machine is left as it is.

    Args:
        recipe: as it stands.
        nodes: how many there are.
        gpus_each: GPUs of each; 0 where that is not known.

    Raises:
        RecipeError: the accelerate configuration is not there or is none, or a node has fewer GPUs than its processes need.
    """
    if not recipe.rounds:
        return []
    section = recipe.train
    config = accelerate_config(section.accelerate_config)
    values = read_accelerate(config)
    found: list[str] = []
    if (values.num_machines or 1) > 1:
        machines = section.num_machines or nodes
        found = ["train.launcher=srun", f"train.num_machines={machines}"]
        if gpus_each and not values.use_cpu and section.num_processes is None:
            found.append(f"train.num_processes={machines * gpus_each}")
        section = section.model_copy(update={"launcher": "srun", "num_machines": machines})
        if machines > nodes:
            raise RecipeError(f"key 'train.num_machines': training on {machines} nodes, and --nodes {nodes}")
        if found[2:]:
            return found
    each = n_processes(section, config) // n_machines(section, config)
    if gpus_each and not values.use_cpu and each > gpus_each:
        raise RecipeError(
            f"key 'train.accelerate_config': {config.stem!r} starts {each} processes with a GPU each on a node, and "
            f"--gpus-per-node {gpus_each}; write train.num_processes, or name multi_node, which takes all nodes' GPUs"
        )
    return found
