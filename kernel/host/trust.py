"""Whom a TLS connection is believed: this machine's authorities (``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name others) and
the usual ones of the web, for a machine that has none."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit


def context_for(url: str) -> ssl.SSLContext | bool:
    """What httpx takes as ``verify``. Plain HTTP needs no context, and making one costs more than a short call."""
    return trusted() if urlsplit(url).scheme == "https" else False


def trusted() -> ssl.SSLContext:
    """A client's context."""
    import httpx

    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
