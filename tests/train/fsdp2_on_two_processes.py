"""`evenhand.train.dpo` with FSDP2 on CPU processes, started by accelerate's launcher in place of the module.

accelerate has no FSDP on the CPU: it would train with DDP. Everything that it does to a model and to its checkpoints works there
as well, once its state says that the kind of training is FSDP.
"""

import os
import sys
from typing import Any

from accelerate import accelerator
from accelerate.state import AcceleratorState, DistributedType, PartialState

from evenhand.train.dpo import main

plain, prepare = AcceleratorState.__init__, accelerator.fsdp2_prepare_model


def told(self: Any, *arguments: Any, fsdp_plugin: Any = None, **options: Any) -> None:
    """Make the state as accelerate does on GPUs."""
    plain(self, *arguments, fsdp_plugin=fsdp_plugin, **options)
    if self.distributed_type == DistributedType.MULTI_CPU and os.environ.get("ACCELERATE_USE_FSDP") == "true":
        self.distributed_type = PartialState._shared_state["distributed_type"] = DistributedType.FSDP
        self.fsdp_plugin = fsdp_plugin


def counted(accelerate: Any, model: Any) -> Any:
    """Say how many weights of the model this process has read, before they are spread."""
    read = sum(bool(weight.any()) for name, weight in model.named_parameters() if "lora" not in name)
    sys.stderr.write(f"process {accelerate.process_index} has read {read} weights\n")
    return prepare(accelerate, model)


if __name__ == "__main__":
    AcceleratorState.__init__, accelerator.fsdp2_prepare_model = told, counted
    sys.exit(main())
