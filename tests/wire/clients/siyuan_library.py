"""Calls one method of the PyPI package ``siyuan``: ``siyuan_library.py URL TOKEN METHOD ARGUMENT…``. Not a test."""

import json
import sys

from SiYuan import Client

base, token, method, *given = sys.argv[1:]
host, port = base.removeprefix("http://").split(":")
client = Client(token=token, ip=host, port=port)
try:
    print(json.dumps(getattr(client, method)(*given), ensure_ascii=False, sort_keys=True, indent=1))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(1)
