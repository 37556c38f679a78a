"""Everything evenhand itself refuses, and the exit code each refusal ends with.

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed: a stage could not finish; what was finished stays on disk and the same command continues (1) |
| 2 | what was given is wrong: command line, recipe, data or a model's files; mend it first |
| 3 | finished, but more was left out (unscored, failed, too long) than the recipe allows |
| 4 | finished, but a limit of the gate (`--fail-if`) is not kept, or what it names was not measured |
| 5 | waiting: a server works at a batch that was submitted; the same command continues when it is done |
| 130 | interrupted; the same command continues (1) |

(1) `audit`, `export`, `import` and other verbs that say so of themselves (`Verb.at_end`) write at their end alone: nothing is
kept, and the same command starts over.
"""


class EvenhandError(Exception):
    """Anything evenhand itself refuses; its text says what was wrong, where, and how to mend it."""

    exit_code = 1


class RecipeError(EvenhandError, ValueError):
    """A recipe key or value is wrong, or two of them do not go together."""

    exit_code = 2


class DataError(EvenhandError, ValueError):
    """A record or a set of records does not hold together."""

    exit_code = 2


class PluginError(EvenhandError, RuntimeError):
    """What a package brings cannot be imported, is not of its door's kind, or has a name that is taken."""

    exit_code = 2


class ModelError(EvenhandError, RuntimeError):
    """A model folder or a backend could not be opened, or gave what it must not."""


class UnfitModelError(ModelError):
    """A model or an adapter is not there, damaged or incomplete, or does not fit what it is used with."""

    exit_code = 2


class JudgeError(EvenhandError, RuntimeError):
    """A judge could not run at all (an unreadable reply is not an error: it is unscored)."""


class CostLimitError(EvenhandError, RuntimeError):
    """The next request to a server might pass limits.cost; what was paid for is kept."""


class WaitingError(EvenhandError, RuntimeError):
    """A server works at a batch of requests; there is nothing to do until it is done."""

    exit_code = 5


class StorageError(EvenhandError, OSError):
    """A file of the run cannot be read or written."""


class FormatError(DataError):
    """A file of evenhand's own is of another kind or version, or does not say what it is."""


class DamagedFileError(StorageError):
    """A file can be read, and is not text, or not a whole gzip or bzip2 file."""

    exit_code = 2


class LeftOutError(EvenhandError, RuntimeError):
    """A stage finished, but left out more than the recipe allows."""

    exit_code = 3


class GateError(EvenhandError, RuntimeError):
    """A result is whole, but breaks a limit that was asked for, or lacks what a limit names."""

    exit_code = 4


class MissingExtra(EvenhandError, ImportError):
    """An optional library is absent; the text names the extra that brings it."""

    exit_code = 2
