"""A language model that answers from a function, and judges' way to it."""

from evenhand.generate.backend import Reply, Usage
from evenhand.judges.shared import SharedModels
from evenhand.runfolder.timing import booked


class AnsweringBackend:
    """A backend that answers each ask by a function, counts words as tokens and claims that a cache served every second one.

    It remembers what it was asked, and is interrupted when asked for batch number `dies_at`.
    """

    signature = "answering"

    def __init__(self, answer, dies_at=None):
        self.usage = Usage()
        self.dies_at = dies_at
        self._answer = answer
        self.batches = []
        self.is_closed = False

    def complete(self, asks):
        if self.dies_at == len(self.batches):
            raise KeyboardInterrupt
        self.batches.append(list(asks))
        n = sum(len(message.content.split()) for ask in asks for message in ask.prompt)
        self.usage.add(n, n // 2)
        with booked("models"):
            return [self._answer(ask) for ask in asks]

    def close(self):
        self.is_closed = True


class GivenModels(SharedModels):
    """Hands out a model that the test made, under every key."""

    def __init__(self, model):
        super().__init__()
        self._model = model

    def lazy(self, key, load):
        return super().lazy(key, lambda: self._model)


def grades(*shares):
    """A reply that spreads its probability over the grades 1 to 5 like this."""
    return Reply(text="", finish_reason="length", choice_probabilities=dict(zip("12345", shares, strict=True)))
