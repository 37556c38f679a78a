"""Backend `openai`: a server that speaks OpenAI's protocol, as the door of backends has it."""

from pathlib import Path

from ... import models
from ...config import BackendSection, ModelSection, without_speed
from ...config.model import BackendTraits
from ...generate.backend import Backend
from ...generate.backends import BackendKind, prompt_parts
from ...text.digests import digest
from .kept import ANSWERS
from .section import ServerSection

# fields of a server's requests that a recipe must not set -> where it says so, or why not
OWNED_KEYS: dict[str, str] = {
    **dict.fromkeys(
        ("max_completion_tokens", "max_tokens", "seed", "temperature", "top_p"),
        "write it in 'plans', or leave it to evenhand",
    ),
    **dict.fromkeys(("messages", "n", "best_of", "prompt", "stream", "stream_options"), "evenhand writes it"),
    **dict.fromkeys(
        ("logprobs", "top_logprobs", "prompt_logprobs", "allowed_token_ids", "logprob_token_ids", "return_token_ids"),
        "evenhand asks for them where it reads them",
    ),
    **dict.fromkeys(
        ("authorization", "extra_body", "extra_headers", "extra_query", "headers", "max_output_tokens"),
        "it is not a field of a request",
    ),
    "model": "write server.model",
}


def _open(section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> Backend:
    from .backend import ServerBackend

    return ServerBackend(section, model, adapter, signature)


def _signature(section: BackendSection, model: ModelSection, adapter: Path | None) -> str:
    """Another server's model of that name counts as the same; fields of its requests change what it says."""
    server, fields = section.server, without_speed(section.model_dump(mode="json"))["engine"]
    assert isinstance(server, ServerSection)
    name = models.signature(model.name, model.revision, adapter) if server.sends_tokens else server.model or model.name
    parts = [
        name,
        server.model if server.sends_tokens else None,
        "openai",
        f"request:{digest(fields, 8)}" if fields else None,
        *prompt_parts(section, model),
    ]
    return "|".join(filter(None, parts))


OPENAI = BackendKind(
    _open,
    BackendTraits(("openai", "aiolimiter"), on_gpus=False, owned_keys=OWNED_KEYS, server=ServerSection, cache=ANSWERS),
    _signature,
)
