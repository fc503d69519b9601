"""How fast Markdown becomes a tree, beside markdown-it-py on the same text: ``python bench/markdown_parse.py [FILE]``.

Prints megabytes per second of CPU time for both, their ratio, and the CPU seconds that the whole import (DOM, HTML parser) takes.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import markdown_to_blocks

SECTION: Final = """## Section {n} with *some* emphasis

A paragraph of ordinary prose, long enough to be one: it has **strong words**, `code`, a [link](https://example.com/{n} "t")
and a second line. 中文也有一些 text, and #a tag#, and ==marked== parts, ~~gone~~ ones too.

- first item
- second item with `code`
  - nested item
- [ ] not a task, an item of its own list

1. one
2. two

> A quote, with a second
> line and **strong** text.

| name | value | note |
| --- | :-: | --- |
| a | {n} | **b** |
| c | 2 | `d` |

```python
def f(x):
    return x * {n}
```

"""
COPIES: Final = 400
ROUNDS: Final = 3


def best_of(run: Callable[[], object]) -> float:
    """The fewest seconds that ``run`` took."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    from markdown_it import MarkdownIt

    if len(sys.argv) > 1:
        text = Path(sys.argv[1]).read_text("utf-8")
    else:
        text = "".join(SECTION.format(n=n) for n in range(COPIES))
    size = len(text.encode()) / 1e6
    numbers = itertools.count()
    context = MarkdownContext(lambda: f"20260101000000-{next(numbers):07d}")
    peer = MarkdownIt("gfm-like", {"linkify": False})
    ours_s = best_of(lambda: parse_markdown(text, context=context))
    peer_s = best_of(lambda: peer.parse(text))
    whole_s = best_of(lambda: markdown_to_blocks(text, context))
    print(f"{size:.2f} MB: ours {size / ours_s:.2f} MB/s, markdown-it-py {size / peer_s:.2f} MB/s")
    print(f"ratio {peer_s / ours_s:.2f}; the whole import takes {whole_s:.2f} s")


if __name__ == "__main__":
    main()
