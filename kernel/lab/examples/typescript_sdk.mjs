// The careful story on the official TypeScript SDK's client: what the laboratory finds is the SDK's way.
//
// lab run all -- node typescript_sdk.mjs PACKAGES [legacy|auto]   (PACKAGES: the folder that holds node_modules).
// LAB_MCP and LAB_BLOCK are set by the laboratory.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, mode = 'auto'] = process.argv.slice(2);
const resolved = createRequire(`${packages}/package.json`).resolve('@modelcontextprotocol/client');
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(resolved).href);

const TIMEOUT_MS = 4_000;
const PATIENCE_MS = 40_000;
const PAUSE_MS = 500;
const TRIES = 8;
const IN_DOUBT = ['outcome_unknown', 'readback_mismatch', 'idempotency_unavailable'];
const STALE = ['state_changed', 'preflight_lease_invalid', 'request_id_expired'];
const AGAIN = ['queue_full', 'request_cancelled', 'write_ledger_unavailable', 'write_safety_failed', 'host_unavailable'];
const block = process.env.LAB_BLOCK;

class GaveUp extends Error {}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// One call on a connection of its own; throws whatever the SDK throws.
async function tool(args) {
    const client = new Client({ name: 'lab', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
    try {
        await client.connect(new StreamableHTTPClientTransport(new URL(process.env.LAB_MCP)), { timeout: TIMEOUT_MS });
        const result = await client.callTool({ name: 'block', arguments: args }, { timeout: TIMEOUT_MS });
        return result.structuredContent ?? {};
    } finally {
        await client.close().catch(() => {});
    }
}

// Until there is an answer: for a commit the same requestId tells what became of it.
async function patiently(args) {
    const end = Date.now() + PATIENCE_MS;
    let tries = 0;
    let last = '';
    while (Date.now() < end && tries < TRIES) {
        let told;
        try {
            told = await tool(args);
        } catch (error) {
            last = `${error.name}: ${error.message}`;
            if (/401|403|Unauthorized|Forbidden/.test(last)) break;
            await sleep(PAUSE_MS);
            continue;
        }
        const error = told.error ?? {};
        if (!AGAIN.includes(error.code)) return told;
        tries += 1;
        last = error.code;
        await sleep(error.retryAfterMs ?? PAUSE_MS);
    }
    throw new GaveUp(last);
}

async function read() {
    const told = await patiently({ action: 'get_kramdown', id: block });
    return String(told.kramdown ?? '').split('\n{:')[0];
}

async function write(text) {
    const call = { action: 'update', id: block, dataType: 'markdown', data: text };
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const preflight = await patiently({ ...call, validateOnly: true });
        if (preflight.requestId === undefined) throw new GaveUp(JSON.stringify(preflight.error));
        const field = preflight.preconditionField;
        const told = await patiently({ ...call, requestId: preflight.requestId, [field]: preflight[field] });
        const code = told.error?.code;
        if (code === undefined || (await read()) === text) return;
        if (![...IN_DOUBT, ...STALE].includes(code)) throw new GaveUp(code);
    }
    throw new GaveUp('the block would not be written');
}

try {
    await read();
    await write('First change');
    await write('Second change');
    console.log('done');
} catch (error) {
    if (!(error instanceof GaveUp)) throw error;
    console.log(`gave up: ${error.message}`);
    process.exitCode = 1;
}
