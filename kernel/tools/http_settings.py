"""What mcpHttpSettings says now, for guards that cannot wait: is the endpoint on, which pages may come."""

from __future__ import annotations

from collections.abc import Callable

from kernel.tools.configuration import Configuration, read_configuration


class HttpSettings:
    """Looks at the file whenever it is asked, but once in a moment (``kernel.host.base.NearHost.moment``).

    ``read``: the file's bytes, None where there is none. Raises OSError where it cannot be read: the defaults hold then.
    """

    def __init__(self, read: Callable[[], bytes | None], moment: Callable[[], object | None]) -> None:
        self._read = read
        self._moment_now = moment
        self._moment: object | None = None
        self._content: bytes | None = None
        self._known = Configuration()

    def __call__(self) -> Configuration:
        moment = self._moment_now()
        if moment is not None and moment == self._moment:
            return self._known
        try:
            content = self._read()
        except OSError:
            content = None
        if content != self._content:
            self._content, self._known = content, read_configuration(None, content)
        self._moment = moment
        return self._known
