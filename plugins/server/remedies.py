"""What a server's refusal, or a fault on the way, means and how to mend it, in evenhand's words; a key is never in them."""

import os
import ssl
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from ...errors import EvenhandError, ModelError, UnfitModelError
from ...text.secrets import redacted as without_keys
from .client import CERTIFICATES
from .faults import LateError, LongWaitError, LostError, RedirectError, RejectedError, ResponseError
from .keys import ServerKeys
from .rejections import NO_PATH, TOO_MANY, Rejection

# letters of what a server said, in errors
MOST_SAID = 300
CONTINUES = "what was answered is kept, and the same command continues"
# OpenSSL's codes of certificates that are another host's or address's, and of those that are not yet or no longer valid
OTHER_NAME, OTHER_TIME = frozenset({62, 64}), frozenset({9, 10})


def refusal(error: ResponseError, section: ServerKeys, model: str, remedy: str = CONTINUES) -> EvenhandError:
    """What it means that a request has no answer, and how to mend it; its words are the server's, without the key.

    Args:
        error: of the last try.
        section: the server.
        model: name of its model in the recipe.
        remedy: what helps where the server is slow, gone or broken.
    """
    place, said = section.base_url, words(error, section)
    if isinstance(error, RejectedError) and (mend := _mend(error.said, section, model)):
        return UnfitModelError(f"{place} {mend[0]}: {said}{mend[1]}")
    if isinstance(error, RedirectError):
        return UnfitModelError(
            f"{place} sends requests on to {error}, which is another server, and documents go to none but the one that "
            "is named; write the address up to and with the version as server.base_url if it is right"
        )
    if isinstance(error, LostError) and error.tls is not None:
        fault, remedy = _tls(error.tls)
        return UnfitModelError(f"{place}: {fault}: {said}; {remedy}")
    if isinstance(error, LongWaitError):
        return ModelError(f"{place} {said}; {CONTINUES} then")
    what = f"gives no whole answer: {said}"
    if isinstance(error, RejectedError) and error.said.status == TOO_MANY:
        n = error.n_retries
        tried = f"still refuses after {n} {'retry' if n == 1 else 'retries'}" if n else "refuses"
        what = f"{tried}: {said}; wait, or lower server.concurrency or requests_per_minute"
    elif isinstance(error, LateError):
        what = f"gives no answer within {error.seconds:g} seconds"
        what += "; raise server.timeout or lower server.concurrency" if remedy == CONTINUES else ""
    if proxy := _proxy(section):
        advice = f"requests go through the proxy {proxy[1]} that {proxy[0]} names"
        if _is_local(section):
            return UnfitModelError(
                f"{place} {what}; {advice}, and this server is on a machine of yours: name its host in NO_PROXY "
                f"(export NO_PROXY={urlsplit(place).hostname})"
            )
        what += f"; {advice}"
    return ModelError(f"{place} {what}; {remedy}")


def _mend(said: Rejection, section: ServerKeys, model: str) -> tuple[str, str] | None:
    """What a server does that rejects so, and what helps; None where another try may."""
    if said.is_of_credit:
        return "wants to be paid first", "; add to what the key's account may spend"
    if said.is_of_key:
        if section.api_key_env:
            return f"refuses the key in {section.api_key_env}", "; mend it"
        return "refuses a request without key", "; write the name of its variable as server.api_key_env"
    if said.is_of_model:
        return f"does not know model {section.model or model!r}, or is not the address of its version (…/v1)", ""
    if said.status not in NO_PATH and (said.may_pass or said.status < 400):
        return None
    mend = "; it will refuse it again, so mend what it names, in the recipe (model, plans, engine) or in the server's options"
    return "refuses a request for what it is", mend


def _is_local(section: ServerKeys) -> bool:
    """Whether the server is on this machine or in a network of one's own."""
    host = str(urlsplit(section.base_url).hostname)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local"))
    return address.is_private or address.is_loopback


def _proxy(section: ServerKeys) -> tuple[str, str] | None:
    """The variable that names a proxy for the server, and its address without a password; None where there is none."""
    place = urlsplit(section.base_url)
    if proxy_bypass(place.netloc):
        return None
    for name in (f"{place.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if address := os.environ.get(variable):
                return variable, address.rpartition("@")[2]
    return None


def words(error: ResponseError, section: ServerKeys) -> str:
    """The first line of what was said, without the server's key."""
    return shortened(next(iter(str(error).strip().splitlines()), type(error).__name__), section)


def shortened(text: str, section: ServerKeys) -> str:
    """As much of the server's words as an error has, without its key, which some servers repeat in a writing of their own.

    It is cut after the key is out, or a part would not be known.
    """
    return without_keys(text, section.secrets)[:MOST_SAID]


def _tls(fault: ssl.SSLError) -> tuple[str, str]:
    """What the fault is, and what helps."""
    if not isinstance(fault, ssl.SSLCertVerificationError):
        return "no encrypted connection comes about", "write http:// in server.base_url if it is a server without TLS"
    if fault.verify_code in OTHER_NAME:
        return "its certificate is another host's", "write the name that it was made out to in server.base_url"
    if fault.verify_code in OTHER_TIME:
        return "its certificate is not valid today", "have it renewed, or set this machine's clock"
    return "its certificate is not trusted", f"name the authority's file in {CERTIFICATES}"
