"""Databases that point at each other: relations, rollups, and templates for new rows."""

from __future__ import annotations

from typing import Any, Final

from kernel.canonical import digest
from kernel.tools.av_base import carrier, change, database, key_of, on_database, pending, refresh_of, shows, value_of
from kernel.tools.av_guards import known_template, related_rows, relation_to, rollup_over, templates_of
from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level


async def set_relation(context: ToolContext, arguments: Arguments) -> Written:
    av_id, item, key_id = arguments["avID"], arguments["itemID"], arguments["keyID"]
    related: list[str] = arguments["relatedItemIDs"]
    operation = {
        "action": "updateAttrViewCell",
        "avID": av_id,
        "keyID": key_id,
        "rowID": item,
        "id": context.ids.node_id(context.clock.local()),
        "data": {"type": "relation", "relation": {"blockIDs": related}},
    }

    def as_asked(found: dict[str, Any]) -> bool:
        stored = ((value_of(found, item, key_id) or {}).get("relation") or {}).get("blockIDs") or []
        return list(stored) == related

    facts = {"itemID": item, "keyID": key_id, "relatedItemIDs": related}
    return await _changed(context, "set_relation", arguments, operation, as_asked, facts)


async def configure_two_way_relation(context: ToolContext, arguments: Arguments) -> Written:
    av_id, key_id, target = arguments["avID"], arguments["keyID"], arguments["destinationAvID"]
    back = arguments["backRelationKeyID"]
    operation = {
        "action": "updateAttrViewColRelation",
        "avID": av_id,
        "keyID": key_id,
        "id": target,
        "backRelationKeyID": back,
        "isTwoWay": True,
        "name": arguments["destinationName"],
        "format": arguments["sourceName"],
    }

    def as_asked(found: dict[str, Any]) -> bool:
        relation = (key_of(found, key_id) or {}).get("relation") or {}
        return (relation.get("avID"), relation.get("backKeyID")) == (target, back)

    facts = {"keyID": key_id, "destinationAvID": target, "backRelationKeyID": back}
    return await _changed(context, "configure_two_way_relation", arguments, operation, as_asked, facts)


async def configure_rollup(context: ToolContext, arguments: Arguments) -> Written:
    av_id, key_id = arguments["avID"], arguments["keyID"]
    relation, target = arguments["relationKeyID"], arguments["destinationKeyID"]
    operation = {
        "action": "updateAttrViewColRollup",
        "avID": av_id,
        "id": key_id,
        "parentID": relation,
        "keyID": target,
        "data": {"calc": arguments["calc"]},
    }

    def as_asked(found: dict[str, Any]) -> bool:
        rollup = (key_of(found, key_id) or {}).get("rollup") or {}
        return (rollup.get("relationKeyID"), rollup.get("keyID")) == (relation, target)

    facts = {"keyID": key_id, "relationKeyID": relation, "destinationKeyID": target}
    return await _changed(context, "configure_rollup", arguments, operation, as_asked, facts)


async def set_new_item_templates(context: ToolContext, arguments: Arguments) -> Written:
    templates, default = arguments["templates"], arguments["defaultTemplateID"]
    operation = {
        "action": "setAttrViewNewItemTemplates",
        "avID": arguments["avID"],
        "data": {"templates": templates, "defaultTemplateID": default},
    }

    def as_asked(found: dict[str, Any]) -> bool:
        stored = [template.get("id") for template in templates_of(found)]
        return stored == [template["id"] for template in templates]

    facts = {"templateCount": len(templates), "defaultTemplateID": default}
    return await _changed(context, "set_new_item_templates", arguments, operation, as_asked, facts)


async def create_from_template(context: ToolContext, arguments: Arguments) -> Written:
    av_id, block_id = arguments["avID"], arguments["blockID"]
    shown = await carrier(context, av_id, block_id)
    optional = {name: arguments.get(name) for name in ("viewID", "previousID", "groupID")}
    data = await context.call(
        "/api/av/createAttributeViewItem", avID=av_id, blockID=block_id, templateID=arguments["templateID"], **optional
    )
    row = (data or {}).get("itemID") or (data or {}).get("id")
    payload = {
        "success": True,
        "action": "create_from_template",
        "avID": av_id,
        "blockID": block_id,
        "templateID": arguments["templateID"],
        "itemID": row,
        "result": data,
    }
    return Written(payload, refresh_of(shown), changed=True)


async def _changed(
    context: ToolContext,
    action: str,
    arguments: Arguments,
    operation: dict[str, Any],
    as_asked: Any,
    facts: dict[str, Any],
) -> Written:
    """Send one operation and look whether it took; the answer says what the database was before and is after."""
    av_id = arguments["avID"]
    shown = await carrier(context, av_id, arguments["blockID"])
    before = digest(await database(context, av_id))
    await change(context, shown, operation)
    after = await shows(context, av_id, as_asked)
    if after is None:
        raise pending(action, av_id, "The database does not show the change.", **facts)
    digests = {"beforeDigest": _short(context, before), "afterDigest": _short(context, digest(after))}
    payload = {"success": True, "action": action, "avID": av_id, "blockID": arguments["blockID"], **facts, **digests}
    return Written(payload, refresh_of(shown))


def _short(context: ToolContext, full: str) -> str:
    """Digests for people are short ones of the common pool (R55); without a pool they stay whole."""
    shorten = context.parts.get("shorten")
    return str(shorten(full)) if shorten is not None else full


async def _guard_templates(context: ToolContext, arguments: Arguments) -> None:
    """The default is one of them: a preflight must not promise what the commit will refuse."""
    default = arguments["defaultTemplateID"]
    if default and default not in {template["id"] for template in arguments["templates"]}:
        raise refusal("defaultTemplateID must be one of the templates, or empty.", "invalid_arguments")
    await _WRITE(context, arguments)


_WRITE: Final = on_database(Level.WRITE)

HANDLERS: Final[dict[str, Handling]] = {
    "av.set_new_item_templates": Handling(set_new_item_templates, _guard_templates),
    "av.create_from_template": Handling(create_from_template, known_template),
    "av.configure_two_way_relation": Handling(configure_two_way_relation, relation_to),
    "av.configure_rollup": Handling(configure_rollup, rollup_over),
    "av.set_relation": Handling(set_relation, related_rows),
}
