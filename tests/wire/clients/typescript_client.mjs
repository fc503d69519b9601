// The official TypeScript client tells one story against a running kernel: read, safe write, dangerous call, cancel.
//
// node typescript_client.mjs PACKAGES BASE MODE DOCUMENT   (PACKAGES: the folder that holds node_modules; MODE: legacy
// or auto). Prints the negotiated revision; any surprise ends it with 1.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, base, mode, document] = process.argv.slice(2);
const resolved = createRequire(`${packages}/package.json`).resolve('@modelcontextprotocol/client');
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(resolved).href);

const HELD_MS = 500;
const PATIENCE_MS = 10_000;
const isModern = mode !== 'legacy';
const asked = [];

const client = new Client(
    { name: 'wire-test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
);
client.setRequestHandler('elicitation/create', async (request) => {
    asked.push(request.params.message);
    return { action: 'accept', content: { confirm: true } };
});

async function call(name, args, options) {
    const result = await client.callTool({ name, arguments: args }, options);
    assert.ok(!result.isError, JSON.stringify(result.structuredContent));
    return result.structuredContent;
}

async function preflight(name, args) {
    const issued = await call(name, { ...args, validateOnly: true });
    const field = issued.preconditionField;
    return { requestId: issued.requestId, ...(field ? { [field]: issued[field] } : {}) };
}

async function until(condition) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
        const { queue } = await (await fetch(`${base}/sisyphus/health`)).json();
        if (condition(queue)) return;
        assert.ok(Date.now() < end, JSON.stringify(queue));
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function writeSafely(path) {
    const write = { action: 'write', path, markdown: 'Written by the TypeScript client.' };
    const written = await call('fs', { ...write, ...(await preflight('fs', write)) });
    assert.equal(written.safety.transactionState, 'committed');
    assert.match(JSON.stringify(await call('fs', { action: 'read', path })), /TypeScript client/);
}

async function removeWithConsent(path) {
    const remove = { action: 'rm', path };
    const safety = await preflight('fs', remove);
    let removed;
    if (isModern) {
        removed = await call('fs', { ...remove, ...safety });
        assert.equal(asked.length, 1);
    } else {
        const refused = await client.callTool({ name: 'fs', arguments: { ...remove, ...safety } });
        assert.equal(refused.structuredContent.error.code, 'dangerous_action_requires_confirmation');
        assert.equal(asked.length, 0);
        removed = await call('fs', { ...remove, ...safety, confirm: true });
    }
    assert.equal(removed.safety.transactionState, 'committed');
}

async function cancelARead() {
    const signal = AbortSignal.timeout(HELD_MS);
    await assert.rejects(call('block', { action: 'get_kramdown', id: document }, { signal }));
    await until((queue) => queue.cancelledRunning === 1);
    await until((queue) => queue.inFlight === 0);
}

await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/sisyphus/mcp`)));
const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'fs'));
assert.match(JSON.stringify(await call('fs', { action: 'read', path: '/Box/Plan' })), /Alpha/);
const path = `/Box/By typescript ${mode}`;
await writeSafely(path);
await removeWithConsent(path);
await cancelARead();
assert.match(JSON.stringify(await call('fs', { action: 'read', path: '/Box/Plan' })), /Alpha/);
const version = client.getNegotiatedProtocolVersion();
assert.equal(version, isModern ? '2026-07-28' : '2025-11-25');
console.log(version);
await client.close();
