"""From what went wrong below HTTP (names, connections, TLS, timeouts) to an `LlmError` that says what to do."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import LlmError, LlmProtocol, LlmTimeout, LlmTls, LlmUnreachable

_EXPIRED, _OTHER_NAME, _UNKNOWN_SIGNER = 10, (62, 64), (18, 19, 20)  # OpenSSL's X509_V_ERR_…


class NothingListens(LlmUnreachable):
    """No program listens at a loopback address: trying again within seconds changes nothing."""


def from_exception(error: Exception, *, loopback: bool, answered: bool) -> LlmError:
    """The error for an exception of the HTTP client. `answered`: the answer had begun, so it was cut."""
    import httpx2
    import openai

    chain = list(_chain(error))
    for cause in chain:
        if isinstance(cause, ssl.SSLError):
            return _tls(cause)
    if any(isinstance(cause, (httpx2.TimeoutException, openai.APITimeoutError)) for cause in chain):
        return LlmTimeout(
            _("The model server did not accept a connection in time. Check the base URL and the network.")
        )
    if any(isinstance(cause, httpx2.ProxyError) for cause in chain):
        return LlmUnreachable(
            _("The proxy did not connect us to the model server. Check HTTPS_PROXY and NO_PROXY.")
        )
    if answered:
        return LlmProtocol(
            _("The connection broke in the middle of the answer. What came is kept; ask the model to go on.")
        )
    if any(isinstance(cause, socket.gaierror) for cause in chain):
        return LlmUnreachable(_("The address of the model server is unknown. Check the base URL and the network."))
    if any(isinstance(cause, ConnectionRefusedError) for cause in chain):
        if loopback:
            return NothingListens(_("No model server is running at this address. Start it, or check the base URL."))
        return LlmUnreachable(_("The model server refuses connections. Check the base URL and that it is running."))
    if any(isinstance(cause, (httpx2.InvalidURL, httpx2.UnsupportedProtocol)) for cause in chain):
        return LlmUnreachable(_("The base URL cannot be used. Check it in the settings."))
    if any(isinstance(cause, httpx2.RemoteProtocolError) for cause in chain):
        return LlmUnreachable(
            _("The model server closed the connection without an answer. If this repeats, check the base URL.")
        )
    return LlmUnreachable(_("The model server cannot be reached. Check the base URL and the network."))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _chain(inner)
        # httpcore2 hides the operating system's error by `from None`, and that is the one that tells.
        error = error.__cause__ or error.__context__


def _tls(error: ssl.SSLError) -> LlmError:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return LlmTls(
            _(
                "No secure connection to the model server is possible. If it speaks plain HTTP, "
                "the base URL has to begin with http://."
            )
        )
    if error.verify_code == _EXPIRED:
        return LlmTls(
            _(
                "The model server's certificate has expired. Its owner has to renew it. "
                "Check this computer's clock too."
            )
        )
    if error.verify_code in _OTHER_NAME:
        return LlmTls(
            _("The model server's certificate is for another name. Use the name it was made for in the base URL.")
        )
    if error.verify_code in _UNKNOWN_SIGNER:
        return LlmTls(
            _(
                "The model server's certificate is signed by somebody this computer does not know. "
                "If you trust it, put the certificate of its authority in a file and name that in SSL_CERT_FILE."
            )
        )
    return LlmTls(
        _(
            "The model server's certificate could not be checked. "
            "SSL_CERT_FILE can name a file of trusted authorities."
        )
    )
