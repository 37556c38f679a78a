"""`evenhand.train.dpo` with FSDP2 on CPU processes, started by accelerate's launcher in place of the module."""

import sys
from typing import Any

from accelerate import accelerator

from evenhand.benchmarks.gpu.fsdp2_on_cpu import allow_fsdp2
from evenhand.train.dpo import main

prepare = accelerator.fsdp2_prepare_model


def counted(accelerate: Any, model: Any) -> Any:
    """Say how many weights of the model this process has read, before they are spread."""
    read = sum(bool(weight.any()) for name, weight in model.named_parameters() if "lora" not in name)
    sys.stderr.write(f"process {accelerate.process_index} has read {read} weights\n")
    return prepare(accelerate, model)


if __name__ == "__main__":
    allow_fsdp2()
    accelerator.fsdp2_prepare_model = counted
    sys.exit(main())
