"""What a server's refusal, or a fault on the way, means and how to mend it, in evenhand's words; a key is never in them."""

import os
import ssl
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from ...config.server import ServerSection
from ...errors import EvenhandError, ModelError, UnfitModelError
from ...extras import need
from ...text.secrets import redacted as without_keys
from .client import CERTIFICATES, FEATURE, LateError, RedirectError
from .keys import secrets_of
from .rejections import OWN_FAULTS, Rejection, rejection_of
from .responses import ResponseError

# letters of what a server said, in errors
MOST_SAID = 300
# what TLS raises and takes back within every connection
WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
CONTINUES = "what was answered is kept, and the same command continues"
# OpenSSL's codes of certificates that are another host's or address's, and of those that are not yet or no longer valid
OTHER_NAME, OTHER_TIME = frozenset({62, 64}), frozenset({9, 10})
# statuses of a path that is not there, or is there for other purposes
NO_PATH = frozenset({404, 405, 501})
# statuses that may be others in a moment
PASSING = frozenset({408, 409, 425, 429})


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


def redacted(text: str, section: ServerSection) -> str:
    """The text without the server's key, which some servers repeat in a writing of their own."""
    return without_keys(text, secrets_of([section]))


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
