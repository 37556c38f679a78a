"""`evenhand.train.dpo` in a process that is killed in the middle of its training, as by a machine that is taken away."""

import os
import signal
import sys
from typing import Any

# a checkpoint is behind it, and a step that the checkpoint has not
KILLED_IN = 5


def main() -> int:
    """Train until the step is done; the exit code of a training that ends before."""
    from transformers.trainer_callback import DefaultFlowCallback

    from ...train.dpo import main as train

    plain = DefaultFlowCallback.on_step_end

    def on_step_end(self: Any, arguments: Any, state: Any, control: Any, **options: Any) -> Any:
        if state.global_step == KILLED_IN:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(self, arguments, state, control, **options)

    DefaultFlowCallback.on_step_end = on_step_end  # type: ignore[method-assign, assignment]
    return train()


if __name__ == "__main__":
    sys.exit(main())
