"""The command line: a module for each verb or family of verbs. Nothing else in the package prints.

What starts it is ready for an interrupt before anything large is imported.
"""

import os
import signal


def main() -> None:
    """Run the command line."""
    # a shell that starts us in the background has us ignore interrupts
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # an exception would come up as a traceback of whatever is being imported, or be lost there
        signal.signal(signal.SIGINT, _leave)
    # numpy's products are small here: of an audit a second thread took 1.5 of 4 seconds of the processor, spinning
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from .app import app, refusals_said
    from .completion import bash_words

    with bash_words(os.environ), refusals_said():
        app()


def _leave(*_: object) -> None:
    os.write(2, b"interrupted; nothing had begun\n")
    os._exit(130)
