// A peer: one trivial tool on the official TypeScript SDK behind node:http, stateless: typescript_sdk.mjs PORT.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

function made() {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  const version = { version: '3.7.3' };
  const answer = { content: [{ type: 'text', text: JSON.stringify(version) }], structuredContent: version };
  server.registerTool('get_version', { description: 'The version.' }, async () => answer);
  return server;
}

createServer(toNodeHandler(createMcpHandler(made))).listen(Number(process.argv[2]), '127.0.0.1');
