"""Whether a server is there, has the model, and takes what it will be sent: asked before any work."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

from ...errors import UnfitModelError
from .client import get, open_client, outside_of_loops, within
from .faults import BrokenAnswerError, LateError, LostError, RejectedError, ResponseError
from .keys import ServerKeys
from .rejections import NO_PATH
from .remedies import refusal, words
from .requests import SENDINGS
from .responses import BatchList, ModelList, read
from .tries import first_whole

# seconds that a server has to say which models it has, before any work
PATIENCE = 5.0
# models that an error names
MOST_NAMED = 8
# whose models those of vLLM's server are, as it says itself
VLLM = "vllm"
# statuses of a list of models that is not there, or that not everybody may see who may ask
NO_LIST = NO_PATH | {400, 403}


def refuse_unreachable(section: ServerKeys, model: str) -> None:
    """Ask the server which models it has, before any work; one that does not tell is believed.

    Raises:
        MissingExtra, UnfitModelError: as `open_client`.
        UnfitModelError: base_url is not the address below which answers are asked for, or takes no batches where these are.
        ModelError: it gives no answer, refuses the key, or lacks the model.
    """
    known: list[str] = []

    async def look() -> None:
        async with open_client(section) as client:
            known.extend(await _models(client, section))
            if section.batches:
                await _refuse_without_batches(client, section)

    try:
        outside_of_loops(lambda: asyncio.run(look()))
    except BrokenAnswerError as error:
        raise UnfitModelError(
            f"{section.base_url} answers, but not as an OpenAI-compatible server does: {error}"
        ) from error
    except ResponseError as error:
        raise refusal(error, section, model, remedy="start it, or mend server.base_url") from error
    wanted = section.model or model
    # Azure lists models and is asked for deployments; some write a folder before the name
    is_azure = str(urlsplit(section.base_url).hostname).endswith("azure.com")
    if known and not is_azure and not any(each == wanted or each.endswith(f"/{wanted}") for each in known):
        named = ", ".join(map(repr, known[:MOST_NAMED])) + (" and others" if len(known) > MOST_NAMED else "")
        raise UnfitModelError(
            f"{section.base_url} has no model {wanted!r}; it has {named}. Write one of them as server.model"
        )


async def _models(client: Any, section: ServerKeys) -> list[str]:
    """The models that the server lists; none where it has no list, but has what answers are asked for."""
    path = SENDINGS[section.prompts].path
    try:
        return [model.id for model in (await get(client, "/models", ModelList, PATIENCE)).models]
    except RejectedError as error:
        if error.said.status != 404:
            raise
    try:
        # no request: who has the path refuses it, and nothing is paid for
        await within(PATIENCE, client.post(path, body={}, cast_to=object))
    except RejectedError as error:
        if error.said.status in {401, 403}:
            raise
        said = words(error, section)
        # a path that is there may miss the model, which is not named
        if error.said.status in NO_PATH and "model" not in said.lower():
            raise UnfitModelError(
                f"{section.base_url} has neither /models nor {path} below it: {said}; write the address up to and with the "
                "version, and nothing that comes behind it, as server.base_url: http://localhost:8000/v1"
            ) from error
    except (LostError, LateError):
        # it was there a moment ago, and the first request will tell
        pass
    return []


async def takes_choices(client: Any, section: ServerKeys) -> bool:
    """Whether an open client's server can hold the answer to a chat to some choices: whether it says that it is vLLM's.

    Raises:
        ResponseError: it did not say it, and might at another time, so that some grades would be guided and others not.
    """
    try:
        content = await first_whole(
            section.retries, lambda: within(section.timeout, client.get("/models", cast_to=bytes))
        )
        return any(model.owned_by == VLLM for model in read(content, ModelList).models)
    except RejectedError as error:
        if error.said.status in NO_LIST:
            return False
        raise
    except BrokenAnswerError:
        # vLLM's server has a list, in the form that OpenAI's has
        return False


async def _refuse_without_batches(client: Any, section: ServerKeys) -> None:
    """Refuse a server that takes no requests as files: few do.

    Raises:
        UnfitModelError: it has no such address, or what is there has another form.
    """
    try:
        await get(client, "/batches?limit=1", BatchList, PATIENCE)
    except RejectedError as error:
        if error.said.status in {401, 403}:
            raise
        if error.said.status in NO_PATH:
            raise UnfitModelError(
                f"{section.base_url} has no /batches below it: {words(error, section)}; leave server.batches out, and requests "
                "are sent one by one"
            ) from error
    except BrokenAnswerError as error:
        raise unlike_batches(section) from error


def unlike_batches(section: ServerKeys) -> UnfitModelError:
    """What it means that a list of batches is read as none."""
    return UnfitModelError(
        f"{section.base_url} has /batches below it, but they are of another form than OpenAI's; leave server.batches out, and "
        "requests are sent one by one"
    )
