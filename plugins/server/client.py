"""The client of a server: opened with a key that nobody sees.

What it reads has a bound of size, whatever it is, and comes from the server's own address: a redirect elsewhere is refused, since
documents would go with it. It tries nothing twice: `tries` does, and counts what each costs.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ...errors import UnfitModelError
from ...extras import need
from ...text.secrets import remember
from .faults import FEATURE, BrokenAnswerError, LateError, RedirectError, fault_of
from .keys import ServerKeys
from .responses import F, read

T = TypeVar("T")
OPENAI_VARIABLES = frozenset({"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"})
# the file of authorities whose certificates are trusted
CERTIFICATES = "SSL_CERT_FILE"
# bytes of a response that holds no answers, at most
MOST_BYTES = 32_000_000
_most_bytes: ContextVar[int] = ContextVar("most_bytes", default=MOST_BYTES)


def open_client(section: ServerKeys) -> Any:
    """An `openai.AsyncOpenAI`; its requests are made by `within`, which has the clock.

    Raises:
        MissingExtra: the library is not installed.
        UnfitModelError: the variable that is to hold the key is not set, or that of certificates names no file of any.
    """
    openai = need("openai", FEATURE)
    with _environment(section):
        return openai.AsyncOpenAI(
            base_url=section.base_url,
            api_key=_key(section),
            timeout=None,
            max_retries=0,
            # what is sent in few bytes may be large when it is unpacked
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_read_bounded]}),
        )


async def within(seconds: float, work: Awaitable[T], most_bytes: int = MOST_BYTES) -> T:
    """What the server says to one request, all of it in so many seconds and at most so many bytes.

    Raises:
        ResponseError: it takes longer, is longer, sends elsewhere, is refused, or does not come about.
    """
    token = _most_bytes.set(most_bytes)
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise LateError(seconds) from error
    except need("openai", FEATURE).OpenAIError as error:
        raise fault_of(error, seconds) from None
    finally:
        _most_bytes.reset(token)


async def get(client: Any, path: str, form: type[F], seconds: float) -> F:
    """What is at a path of the server; it raises as `within` and `read` do."""
    return read(await within(seconds, client.get(path, cast_to=bytes)), form)


async def _read_bounded(response: Any) -> None:
    """Read a response as far as its bound, and refuse one that sends documents elsewhere."""
    if (there := redirected_to(response)) is not None:
        here = response.request.url
        is_secured = (here.scheme, here.port, there.scheme, there.port) == ("http", None, "https", None)
        is_here = here.host == there.host and (is_secured or (here.scheme, here.port) == (there.scheme, there.port))
        # stores of files are often elsewhere, and nothing is sent with what asks for one: the library keeps the key back
        is_file = response.request.method == "GET" and "/files/" in here.path
        if not (is_here or is_file):
            raise RedirectError(
                f"{there.scheme}://{there.netloc.decode(errors='replace').rpartition('@')[2]}{there.path}"
            )
    most, parts, size = _most_bytes.get(), [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > most:
            raise BrokenAnswerError(f"the response is longer than {most} bytes, which no whole one is")
    # as `aread` has it, which knows no bound
    response._content = b"".join(parts)


def redirected_to(response: Any) -> Any:
    """The address that a response sends on to; None where it sends nowhere.

    Raises:
        BrokenAnswerError: it is none.
    """
    if response is None or not response.has_redirect_location:
        return None
    location = response.headers["location"]
    # the library has one of two HTTP clients
    invalid = import_module(type(response).__module__.partition(".")[0]).InvalidURL
    try:
        return response.request.url.join(location)
    except invalid as error:
        raise BrokenAnswerError(f"it sends requests on to {location!r}, which is no address") from error


@contextmanager
def _environment(section: ServerKeys) -> Iterator[None]:
    """Keep OpenAI's variables of the environment (organisation, project, headers) from other servers while a client is made.

    Raises:
        UnfitModelError: SSL_CERT_FILE names no file of certificates.
    """
    names = (
        []
        if str(urlsplit(section.base_url).hostname).endswith("openai.com")
        else [*OPENAI_VARIABLES & os.environ.keys()]
    )
    kept = {name: os.environ.pop(name) for name in names}
    try:
        yield
    except OSError as error:
        # a client reads no other file that is the user's
        if not os.environ.get(CERTIFICATES):
            raise
        raise UnfitModelError(
            f"the environment variable {CERTIFICATES} names {os.environ[CERTIFICATES]!r}, and no certificates can be read "
            f"there: {error.strerror or error}; name a file that has them, or unset the variable"
        ) from error
    finally:
        os.environ.update(kept)


def _key(section: ServerKeys) -> str:
    """The key; a word that is none for a server without: the library would take one from the environment unasked."""
    if section.api_key_env is None:
        return "none"
    key = os.environ.get(section.api_key_env, "").strip()
    if not key:
        raise UnfitModelError(
            f"the environment variable {section.api_key_env}, which server.api_key_env names, is not set; export it, or leave "
            "api_key_env out for a server without keys"
        )
    remember(key)
    return key


def outside_of_loops(work: Callable[[], object]) -> None:
    """Do what runs a loop of events, in another thread where one runs in this: a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work()
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, work).result()
