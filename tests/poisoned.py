"""Processes that die when their scripted model is asked about a word."""

import stat
import sys

# an interpreter whose scripted model kills its process when it is asked about a topic
FATAL = """#!{python}
import os, runpy, sys
from evenhand.generate.scripted import ScriptedBackend

complete = ScriptedBackend.complete

def die_or_complete(self, asks):
    if any({word!r} in message.content for ask in asks for message in ask.prompt):
        os.kill(os.getpid(), 9)
    return complete(self, asks)

ScriptedBackend.complete = die_or_complete
del sys.argv[1]
sys.argv.pop(0)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def poisoned(folder, word, monkeypatch):
    """Replicas run in an interpreter in which asking about a word is the end of the process."""
    program = folder / "python"
    program.write_text(FATAL.format(python=sys.executable, word=word))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(program))
