"""`evenhand.train.dpo` with FSDP2 on CPU processes: `--tiny` has no GPU to spread a model over.

accelerate has no FSDP on the CPU: it would train with DDP. Everything that it does to a model and to its checkpoints works there
as well, once its state says that the kind of training is FSDP.
"""

import os
import sys
from typing import Any

from ...extras import need
from . import killed

# first argument of a training that is to be killed
KILLED = "killed"


def allow_fsdp2() -> None:
    """Have accelerate spread a model over CPU processes as over GPUs, where the launcher was asked for FSDP."""
    state = need("accelerate.state", "FSDP2 on the CPU")
    plain = state.AcceleratorState.__init__

    def told(self: Any, *arguments: Any, fsdp_plugin: Any = None, **options: Any) -> None:
        plain(self, *arguments, fsdp_plugin=fsdp_plugin, **options)
        kinds = state.DistributedType
        if self.distributed_type == kinds.MULTI_CPU and os.environ.get("ACCELERATE_USE_FSDP") == "true":
            self.distributed_type = state.PartialState._shared_state["distributed_type"] = kinds.FSDP
            self.fsdp_plugin = fsdp_plugin

    state.AcceleratorState.__init__ = told


def main() -> int:
    """Train, and be killed in the middle if the first argument says so."""
    from ...train.dpo import main as train

    allow_fsdp2()
    if sys.argv[1:2] == [KILLED]:
        del sys.argv[1]
        return killed.main()
    return train()


if __name__ == "__main__":
    sys.exit(main())
