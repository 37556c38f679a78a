"""The client of a server: opened with a key that nobody sees; what it refuses is said in evenhand's words.

What it reads has a bound of size, whatever it is, and comes from the server's own address: a redirect elsewhere is refused, since
documents would go with it. It tries nothing twice: `tries` does, and counts what each costs.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from ...config.server import ServerSection
from ...errors import EvenhandError, ModelError, UnfitModelError
from ...extras import need
from .rejections import OWN_FAULTS, Rejection, rejection_of
from .requests import SENDINGS
from .responses import BatchList, BrokenAnswerError, ModelList, ResponseError, read
from .secrets import secrets_of, without

T = TypeVar("T")

FEATURE = "backend 'openai'"
# seconds that a server has to say which models it has, before any work
PATIENCE = 5.0
# letters of what a server said, in errors
MOST_SAID = 300
# what TLS raises and takes back within every connection
WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
CONTINUES = "what was answered is kept, and the same command continues"
OPENAI_VARIABLES = frozenset({"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"})
# the file of authorities whose certificates are trusted
CERTIFICATES = "SSL_CERT_FILE"
# OpenSSL's codes of certificates that are another host's or address's, and of those that are not yet or no longer valid
OTHER_NAME, OTHER_TIME = frozenset({62, 64}), frozenset({9, 10})
# statuses of a path that is not there, or is there for other purposes
NO_PATH = frozenset({404, 405, 501})
# statuses that may be others in a moment
PASSING = frozenset({408, 409, 425, 429})
# models that an error names
MOST_NAMED = 8
# bytes of a response that holds no answers, at most
MOST_BYTES = 32_000_000

_most_bytes: ContextVar[int] = ContextVar("most_bytes", default=MOST_BYTES)


class LateError(ResponseError):
    """It was not whole within its time.

    Args:
        seconds: that it had.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no whole answer within {seconds:g} seconds")
        self.seconds = seconds


class RedirectError(ResponseError):
    """It sends elsewhere; where, is the text of this."""


def open_client(section: ServerSection, timeout: float | None = None) -> Any:
    """An `openai.AsyncOpenAI` that waits so many seconds for each part of an answer; None: those of the section.

    Raises:
        MissingExtra: the library is not installed.
        UnfitModelError: the variable that is to hold the key is not set, or that of certificates names no file of any.
    """
    openai = need("openai", FEATURE)
    with _environment(section):
        return openai.AsyncOpenAI(
            base_url=section.base_url,
            api_key=_key(section),
            timeout=timeout or section.timeout,
            max_retries=0,
            # what is sent in few bytes may be large when it is unpacked
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_read_bounded]}),
        )


async def within(seconds: float, work: Awaitable[T], most_bytes: int = MOST_BYTES) -> T:
    """What the server says to one request, all of it in so many seconds and at most so many bytes.

    Raises:
        ResponseError: it takes longer, is longer, or sends elsewhere.
        openai.OpenAIError: the server refuses it, or cannot be reached.
    """
    token = _most_bytes.set(most_bytes)
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise LateError(seconds) from error
    except need("openai", FEATURE).APIConnectionError as error:
        # some versions of the library take what its hooks raise for a lost connection
        if isinstance(error.__cause__, ResponseError):
            raise error.__cause__ from None
        raise
    finally:
        _most_bytes.reset(token)


async def _read_bounded(response: Any) -> None:
    """Read a response as far as its bound, and refuse one that sends documents elsewhere."""
    if response.has_redirect_location:
        here, there = response.request.url, response.request.url.join(response.headers["location"])
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


@contextmanager
def _environment(section: ServerSection) -> Iterator[None]:
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


def _key(section: ServerSection) -> str:
    """The key; a word that is none for a server without: the library would take one from the environment unasked."""
    if section.api_key_env is None:
        return "none"
    key = os.environ.get(section.api_key_env, "").strip()
    if not key:
        raise UnfitModelError(
            f"the environment variable {section.api_key_env}, which server.api_key_env names, is not set; export it, or leave "
            "api_key_env out for a server without keys"
        )
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


def redacted(text: str, section: ServerSection) -> str:
    """The text without the server's key, which some servers repeat in a writing of their own."""
    return without(text, secrets_of([section]))


def refuse_unreachable(section: ServerSection, model: str) -> None:
    """Ask the server which models it has, before any work; one that does not tell is believed.

    Raises:
        MissingExtra, UnfitModelError: as `open_client`.
        UnfitModelError: base_url is not the address below which answers are asked for, or takes no batches where these are.
        ModelError: it gives no answer, refuses the key, or lacks the model.
    """
    known: list[str] = []

    async def look() -> None:
        async with open_client(section, PATIENCE) as client:
            known.extend(await _models(client, section))
            if section.batches:
                await _refuse_without_batches(client, section)

    openai = need("openai", FEATURE)
    try:
        outside_of_loops(lambda: asyncio.run(look()))
    except BrokenAnswerError as error:
        raise UnfitModelError(
            f"{section.base_url} answers, but not as an OpenAI-compatible server does: {error}"
        ) from error
    except (openai.OpenAIError, ResponseError) as error:
        raise refusal(error, section, model, remedy="start it, or mend server.base_url", waited=PATIENCE) from error
    wanted = section.model or model
    # Azure lists models and is asked for deployments; some write a folder before the name
    is_azure = str(urlsplit(section.base_url).hostname).endswith("azure.com")
    if known and not is_azure and not any(each == wanted or each.endswith(f"/{wanted}") for each in known):
        named = ", ".join(map(repr, known[:MOST_NAMED])) + (" and others" if len(known) > MOST_NAMED else "")
        raise UnfitModelError(
            f"{section.base_url} has no model {wanted!r}; it has {named}. Write one of them as server.model"
        )


async def _models(client: Any, section: ServerSection) -> list[str]:
    """The models that the server lists; none where it has no list, but has what answers are asked for."""
    openai, path = need("openai", FEATURE), SENDINGS[section.prompts].path
    try:
        content = await within(PATIENCE, client.get("/models", cast_to=bytes))
        return [each.id for each in read(content, ModelList).models]
    except openai.NotFoundError:
        pass
    try:
        # no request: who has the path refuses it, and nothing is paid for
        await within(PATIENCE, client.post(path, body={}, cast_to=object))
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        raise
    except openai.APIStatusError as error:
        said = words(error, section)
        # a path that is there may miss the model, which is not named
        if error.status_code in NO_PATH and "model" not in said.lower():
            raise UnfitModelError(
                f"{section.base_url} has neither /models nor {path} below it: {said}; write the address up to and with the "
                "version, and nothing that comes behind it, as server.base_url: http://localhost:8000/v1"
            ) from error
    except (openai.APIConnectionError, LateError):
        # it was there a moment ago, and the first request will tell
        pass
    return []


async def _refuse_without_batches(client: Any, section: ServerSection) -> None:
    """Refuse a server that takes no requests as files: few do.

    Raises:
        UnfitModelError: it has no such address, or what is there has another form.
    """
    openai = need("openai", FEATURE)
    try:
        read(await within(PATIENCE, client.get("/batches?limit=1", cast_to=bytes)), BatchList)
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        raise
    except openai.APIStatusError as error:
        if error.status_code in NO_PATH:
            raise UnfitModelError(
                f"{section.base_url} has no /batches below it: {words(error, section)}; leave server.batches out, and requests "
                "are sent one by one"
            ) from error
    except BrokenAnswerError as error:
        raise unlike_batches(section) from error


def unlike_batches(section: ServerSection) -> UnfitModelError:
    """What it means that a list of batches is read as none."""
    return UnfitModelError(
        f"{section.base_url} has /batches below it, but they are of another form than OpenAI's; leave server.batches out, and "
        "requests are sent one by one"
    )


def refusal(
    error: Exception,
    section: ServerSection,
    model: str,
    *,
    remedy: str = CONTINUES,
    waited: float | None = None,
    n_retries: int = 0,
) -> EvenhandError:
    """What a server's refusal means, and how to mend it; its words are the server's, without the key.

    Args:
        error: the library's, or one of this module.
        section: the server.
        model: name of its model in the recipe.
        remedy: what helps where the server is slow, gone or broken.
        waited: seconds for an answer; None for those of the section.
        n_retries: how often the request was sent again.
    """
    openai, place = need("openai", FEATURE), section.base_url
    said = words(error, section)
    if isinstance(error, openai.APIStatusError) and (mend := _mend(rejection_of(error), section, model)):
        return UnfitModelError(f"{place} {mend[0]}: {said}{mend[1]}")
    if isinstance(error, RedirectError):
        return UnfitModelError(
            f"{place} sends requests on to {error}, which is another server, and documents go to none but the one that "
            "is named; write the address up to and with the version as server.base_url if it is right"
        )
    if (fault := tls_fault(error)) is not None and not isinstance(error, openai.APITimeoutError):
        return UnfitModelError(f"{place}: {_tls(fault)[0]}: {said}; {_tls(fault)[1]}")
    what = f"gives no whole answer: {said}"
    if isinstance(error, openai.RateLimitError):
        tried = (
            f"still refuses after {n_retries} {'retry' if n_retries == 1 else 'retries'}" if n_retries else "refuses"
        )
        what = f"{tried}: {said}; wait, or lower server.concurrency or requests_per_minute"
    elif isinstance(error, openai.APITimeoutError | LateError):
        seconds = error.seconds if isinstance(error, LateError) else waited or section.timeout
        what = f"gives no answer within {seconds:g} seconds"
        what += "" if waited else "; raise server.timeout or lower server.concurrency"
    if proxy := _proxy(section):
        advice = f"requests go through the proxy {proxy[1]} that {proxy[0]} names"
        if _is_local(section):
            return UnfitModelError(
                f"{place} {what}; {advice}, and this server is on a machine of yours: name its host in NO_PROXY "
                f"(export NO_PROXY={urlsplit(place).hostname})"
            )
        what += f"; {advice}"
    return ModelError(f"{place} {what}; {remedy}")


def _mend(said: Rejection, section: ServerSection, model: str) -> tuple[str, str] | None:
    """What a server does that rejects so, and what helps; None where another try may."""
    if said.is_of_credit:
        return "wants to be paid first", "; add to what the key's account may spend"
    if said.is_of_key:
        if section.api_key_env:
            return f"refuses the key in {section.api_key_env}", "; mend it"
        return "refuses a request without key", "; write the name of its variable as server.api_key_env"
    if said.is_of_model:
        return f"does not know model {section.model or model!r}, or is not the address of its version (…/v1)", ""
    is_refused = 400 <= said.status < OWN_FAULTS and said.status not in PASSING
    if not is_refused and said.status not in NO_PATH:
        return None
    mend = "; it will refuse it again, so mend what it names, in the recipe (model, plans, engine) or in the server's options"
    return "refuses a request for what it is", mend


def _is_local(section: ServerSection) -> bool:
    """Whether the server is on this machine or in a network of one's own."""
    host = str(urlsplit(section.base_url).hostname)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local"))
    return address.is_private or address.is_loopback


def _proxy(section: ServerSection) -> tuple[str, str] | None:
    """The variable that names a proxy for the server, and its address without a password; None where there is none."""
    place = urlsplit(section.base_url)
    if proxy_bypass(place.netloc):
        return None
    for name in (f"{place.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if address := os.environ.get(variable):
                return variable, address.rpartition("@")[2]
    return None


def words(error: Exception, section: ServerSection) -> str:
    """The first line of what was said, or of what caused it, without the server's key."""
    causes = [error]
    while (cause := causes[-1].__cause__) is not None and isinstance(cause, Exception):
        causes.append(cause)
    said = str(error) if isinstance(error, ResponseError) else ""
    if hasattr(error, "status_code"):
        said = rejection_of(error).words
    texts = [said, *(str(each) for each in reversed(causes))]
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    return shortened(lines[0], section) if lines else type(error).__name__


def shortened(text: str, section: ServerSection) -> str:
    """As much of the server's words as an error has, without its key: cut after the key is out, or a part would not be known."""
    return redacted(text, section)[:MOST_SAID]


def tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """The fault of TLS that caused the error; a connection that was lost, or is waited for, is none."""
    while error is not None and (not isinstance(error, ssl.SSLError) or isinstance(error, WAITING)):
        error = error.__cause__ or error.__context__
    return None if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) else error


def _tls(fault: ssl.SSLError) -> tuple[str, str]:
    """What the fault is, and what helps."""
    if not isinstance(fault, ssl.SSLCertVerificationError):
        return "no encrypted connection comes about", "write http:// in server.base_url if it is a server without TLS"
    if fault.verify_code in OTHER_NAME:
        return "its certificate is another host's", "write the name that it was made out to in server.base_url"
    if fault.verify_code in OTHER_TIME:
        return "its certificate is not valid today", "have it renewed, or set this machine's clock"
    return "its certificate is not trusted", f"name the authority's file in {CERTIFICATES}"
