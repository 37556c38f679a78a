"""A recipe's `server`: its keys, and the question whether the server is there."""

from .keys import ServerKeys
from .reachability import refuse_unreachable


class ServerSection(ServerKeys):
    """A server with an OpenAI-compatible interface."""

    def refuse_unreachable(self, model: str) -> None:
        """Ask the server, as `reachability` does."""
        refuse_unreachable(self, model)
