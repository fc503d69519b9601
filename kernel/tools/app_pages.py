"""The views of the MCP Apps: one self-contained HTML page each, without a network of its own. Does no I/O.

A page talks to its host by JSON-RPC over postMessage (Apps 2026-01-26). What it shows is text, never markup, so that a
note cannot become a script; what it changes it preflights first, as any caller does.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

MIME: Final = "text/html;profile=mcp-app"
# Nothing may be fetched, framed or based elsewhere.
CSP: Final[dict[str, list[str]]] = {
    "connectDomains": [],
    "resourceDomains": [],
    "frameDomains": [],
    "baseUriDomains": [],
}


def ui_meta() -> dict[str, Any]:
    """``_meta`` of a page's resource: what its host may let it do."""
    return {"ui": {"csp": {name: list(domains) for name, domains in CSP.items()}, "prefersBorder": True}}


_STYLE: Final = """
:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}body{margin:0;padding:12px}
h1{font-size:1rem;margin:0 0 8px}ul{list-style:none;margin:0;padding:0}
li{display:flex;gap:8px;align-items:baseline;padding:6px 0;border-top:1px solid #8884}
li span{flex:1;overflow-wrap:anywhere;white-space:pre-wrap}small{opacity:.7}p{margin:8px 0}
button{font:inherit;padding:2px 10px;cursor:pointer}[role=status]{min-height:1.5em}
"""

_SHELL: Final = """
const waiting = new Map(); let last = 0;
const send = message => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
const request = (method, params) => new Promise((done, failed) => {
  const id = ++last; waiting.set(id, [done, failed]); send({id, method, params});
});
addEventListener("message", event => {
  const message = event.data;
  if (event.source !== parent || !message || message.jsonrpc !== "2.0") return;
  if (!message.method) {
    const [done, failed] = waiting.get(message.id) || []; waiting.delete(message.id);
    if (message.error) { if (failed) failed(new Error(message.error.message)); } else if (done) done(message.result);
  } else if (message.method === "ui/notifications/tool-result") show(message.params.structuredContent || {});
  else if (message.id !== undefined) send({id: message.id, result: {}});
});
const say = text => { document.querySelector("[role=status]").textContent = text; };
const node = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  made.append(...children); return made;
};
const button = (text, act) => {
  const made = node("button", text);
  made.onclick = async () => { made.disabled = true; try { await act(); } catch (error) { say(error.message); }
    made.disabled = false; };
  return made;
};
const twice = (text, act) => {
  let sure = false;
  const made = button(text, async () => {
    if (!sure) { sure = true; made.textContent = "Sure? " + text; return; }
    sure = false; made.textContent = text; await act();
  });
  return made;
};
const called = async (name, args) => {
  const result = await request("tools/call", {name, arguments: args});
  const told = result.structuredContent || {};
  if (result.isError) throw Object.assign(new Error((told.error || {}).message || "It did not work."), {told});
  return told;
};
const changed = async (name, args) => {
  let real = {...args};
  try {
    const seen = await called(name, {...args, validateOnly: true});
    real.requestId = seen.requestId;
    if (seen.preconditionField) real[seen.preconditionField] = seen[seen.preconditionField];
  } catch (error) {
    if (((error.told || {}).error || {}).code !== "strict_mode_disabled") throw error;
  }
  return called(name, {...real, confirm: true});
};
const fill = rows => document.querySelector("ul").replaceChildren(...rows);
request("ui/initialize", {protocolVersion: "2026-01-26", appInfo: {name: "sisyphus-kernel", version: "1"},
  appCapabilities: {}}).then(() => send({method: "ui/notifications/initialized"}));
"""

_TIMELINE: Final = """
const tool = "timeline_app_action"; let place = {};
const show = told => {
  place = {documentId: told.documentId};
  say(told.nodes.length ? "" : "There is no point of history yet.");
  fill(told.nodes.map(point => node("li", undefined, node("span", point.name),
    node("small", new Date(point.created).toLocaleString()),
    ...(place.documentId ? [button("Compare", () => compare(point)), twice("Go back", () => back(point))] : []))));
};
const compare = async point => {
  const told = await called(tool, {action: "compare_node", ...place, tag: point.tag});
  say(told.noChanges ? "Nothing has changed since." : told.stats.changedBlocks + " blocks have changed.");
  fill(told.changes.map(change => node("li", undefined, node("small", change.status),
    node("span", (change.old || {}).markdown || ""), node("span", (change.current || {}).markdown || ""),
    twice("Take back", () => take(point, change)))));
};
const back = async point => {
  await changed(tool, {action: "rollback_document", ...place, tag: point.tag}); say("The document is as it was.");
};
const take = async (point, change) => {
  await changed(tool, {action: "rollback_block", ...place, tag: point.tag, changeKey: change.changeKey});
  await compare(point);
};
"""

_FLASHCARDS: Final = """
const tool = "flashcard_review_app_action"; let left = [];
const grades = ["Again", "Hard", "Good", "Easy"];
const show = told => { left = [...told.cards]; next(told.selectionReason || ""); };
const next = text => {
  say(text || left.length + " cards to go.");
  const card = left[0];
  if (!card) { fill([node("li", "All reviewed.")]); return; }
  fill([node("li", undefined, node("span", card.content || card.blockID || card.cardID)), node("li", undefined,
    ...grades.map((grade, index) => button(grade, async () => {
      await changed(tool, {action: "review_card", deckID: card.deckID, cardID: card.cardID, rating: index + 1});
      left.shift(); next();
    })))]);
};
"""

_SHOP: Final = """
const tool = "mascot_shop_app_action";
const show = told => {
  say("Balance: " + told.balance);
  fill(told.items.map(item => node("li", undefined, node("span", item.emoji + " " + item.label),
    node("small", String(item.cost)), button("Buy", async () => {
      const bought = await changed(tool, {action: "buy", item_id: item.id});
      show({...told, balance: bought.balance});
    }))));
};
"""

_SCRIPTS: Final = {"timeline": _TIMELINE, "flashcard": _FLASHCARDS, "shop": _SHOP}
PAGES: Final = tuple(_SCRIPTS)
_POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@cache
def page(name: str, title: str) -> str:
    """The HTML of one view."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1>{title}</h1><p role="status"></p><ul></ul>\n'
        f"<script>{_SCRIPTS[name]}{_SHELL}</script></body></html>\n"
    )
