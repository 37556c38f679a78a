"""A server that speaks OpenAI's protocol: where it is, what it is sent, how fast, and at what price."""

import os
import re
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from ...config.remote import RemoteSection
from ...config.section import Section
from ...records import Sampling
from ...text.secrets import remember

# what a variable of the environment is called; keys hold lower-case letters or hyphens
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
# what users write a key under
KEYS = frozenset({"apikey", "key", "token", "authorization", "bearer", "headers", "password", "secret"})


class PriceSection(Section):
    """What a million tokens cost, in any currency, which is that of limits.cost."""

    # of prompts
    input: float = Field(ge=0)
    # of answers
    output: float = Field(ge=0)
    # input that the server had cached; None: as other input
    cached: float | None = Field(default=None, ge=0)

    def cost(self, n_input: int, n_cached: int, n_output: int) -> float:
        """The cost of some tokens; cached ones are part of the input."""
        cached = self.input if self.cached is None else self.cached
        return ((n_input - n_cached) * self.input + n_cached * cached + n_output * self.output) / 1e6


class ServerKeys(RemoteSection):
    """What a recipe says of a server with an OpenAI-compatible interface."""

    example: ClassVar[str] = "{base_url: http://localhost:8000/v1}"
    only_where: ClassVar[frozenset[str]] = frozenset(
        "base_url api_key_env concurrency timeout retries batches requests_per_minute tokens_per_minute price".split()
    )

    # up to and with the version: "https://api.openai.com/v1", "http://localhost:8000/v1"
    base_url: str
    # "messages": any server; it writes the prompt by the model's chat template. "tokens": vLLM; it gets the token ids that
    # backend: vllm would, made with the tokenizer of model.name, so that replies are the same and can be trained on, grades are
    # exact, and adapters of rounds are served (vllm serve --enable-lora with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True)
    prompts: Literal["messages", "tokens"] = "messages"
    # what the server calls the model; None: model.name
    model: str | None = None
    # name of the environment variable that holds the key; None: the server asks for none
    api_key_env: str | None = None
    # requests that are under way at a time
    concurrency: int = Field(default=16, ge=1)
    # seconds for one answer, from the connection to its last byte
    timeout: float = Field(default=300, gt=0)
    # how often a request is sent again after 408, 409, 429, 5xx, a broken or late answer or a lost connection: the server's
    # Retry-After is waited for up to 120 seconds, else .5 to 8 seconds
    retries: int = Field(default=10, ge=0)
    # whether requests are submitted as files (/v1/batches), which hosted APIs answer within a day at half the price: the command
    # submits and ends with exit code 5, and the same command continues; requests_per_batch should be the number of requests
    batches: bool = False
    # requests are sent at even intervals, or from 1,200 a minute on several each tenth of a second; this many tokens may be asked
    # for at once, and then this many a minute. None: no limit. Repeated requests do not count
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    # needed for limits.cost
    price: PriceSection | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_no_key(cls, values: Any) -> Any:
        """Refuse keys before anything is said of their values."""
        named = [str(key) for key in values] if isinstance(values, dict) else []
        if secrets := [key for key in named if "".join(filter(str.isalnum, key.lower())) in KEYS]:
            raise ValueError(
                f"{secrets[0]}: secrets do not belong in a recipe; put the key into a variable of the environment, and write the "
                "variable's name as api_key_env"
            )
        variable = values.get("api_key_env") if isinstance(values, dict) else None
        if isinstance(variable, str) and not VARIABLE.fullmatch(variable):
            raise ValueError(
                "api_key_env is the name of a variable of the environment, in capitals (OPENAI_API_KEY), not a key; if it was "
                "one, take it out of the recipe"
            )
        return values

    def refuse(self) -> None:
        """The address must be one, and hold no secret."""
        place = urlsplit(self.base_url)
        if place.scheme not in {"http", "https"} or not place.hostname:
            raise ValueError("base_url must begin with http:// or https:// and name a host: http://localhost:8000/v1")
        if place.username or place.password or place.query:
            raise ValueError("base_url must hold no user, password or query; name the key's variable as api_key_env")

    @property
    def address(self) -> str:
        """The server's."""
        return self.base_url

    @property
    def sends_tokens(self) -> bool:
        """Whether it is vLLM's, and sent token ids."""
        return self.prompts == "tokens"

    @property
    def choice_tokens(self) -> int:
        """As what is sent has it."""
        from .requests import SENDINGS

        return SENDINGS[self.prompts].choice_tokens

    @property
    def is_deferred(self) -> bool:
        """Whether requests are submitted as files."""
        return self.batches

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, from the environment alone; no text that leaves this process has one."""
        key = os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""
        if not key:
            return ()
        remember(key)
        return (key,)

    def cost(self, n_input: int, n_output: int) -> float | None:
        """What so many tokens cost, of which none was cached; None where the price is not known."""
        return None if self.price is None else self.price.cost(n_input, 0, n_output)

    def refuse_drawing(self, drawing: Sampling) -> None:
        """Refuse more than temperature and nucleus, or what vLLM's server has not."""
        if drawing.no_repeat_ngram_size:
            raise ValueError("no server bans repeated n-grams; leave no_repeat_ngram_size out, or write backend: vllm")
        settings = {
            "top_k": drawing.top_k,
            "min_p": drawing.min_p,
            "repetition_penalty": drawing.repetition_penalty - 1,
        }
        beyond = [key for key, value in settings.items() if value]
        if beyond and self.prompts == "messages":
            raise ValueError(
                f"{' and '.join(beyond)}: OpenAI's protocol has temperature and top_p alone; leave the others out, or write "
                "server.prompts: tokens for vLLM, or engine: {top_k: 40} for a server that is known to take it"
            )
        if drawing.repetition_penalty != 1 and not drawing.include_prompt:
            raise ValueError(
                "repetition_penalty: a server penalises the prompt's words as well; write include_prompt: true, or backend: vllm"
            )
