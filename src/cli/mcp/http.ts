import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { isIP } from 'node:net';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { OperatorError } from '../../lib/operator-error.ts';

const MOST_SESSIONS = 100;
/** A session that is not used so long is closed. */
const IDLE_MS = 30 * 60_000;

export interface Credential {
  username: string;
  password: string;
}

interface Session {
  transport: StreamableHTTPServerTransport;
  /** Hash of the Authorization header that began the session. */
  owner: Buffer;
  usedAt: number;
}

/**
 * Serves MCP by streamable HTTP. Every request carries the API credential of its user as HTTP Basic, so the server holds no rights of
 * its own. Listens on a loopback address: a proxy in front of it provides HTTPS.
 */
export function createMcpHttpServer(
  address: { host: string; port: number },
  serverFor: (credential: Credential) => Server,
  isValid: (credential: Credential) => Promise<boolean>,
  now: () => number,
): HttpServer {
  requireLoopback(address.host);
  const sessions = new Map<string, Session>();

  return createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) refuse(response, 500, 'Internal server error');
      process.stderr.write(`homeport: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isOwnHost = isLoopbackHost(request.headers.host ?? '');
    // A page of another site could otherwise lead a browser here by DNS rebinding.
    if (request.headers.origin !== undefined || !isOwnHost)
      return refuse(response, 403, 'Not from a browser');
    const header = request.headers.authorization ?? '';
    const credential = readBasic(header);
    if (credential === null) {
      response.setHeader('www-authenticate', 'Basic realm="Homeport"');
      return refuse(response, 401, 'Send an API credential as HTTP Basic');
    }
    closeIdle();
    const owner = createHash('sha256').update(header).digest();
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? sessions.get(id) : undefined;
    if (session !== undefined && timingSafeEqual(session.owner, owner)) {
      session.usedAt = now();
      return session.transport.handleRequest(request, response);
    }
    if (id !== undefined) return refuse(response, 404, 'Session not found');
    if (sessions.size >= MOST_SESSIONS) return refuse(response, 503, 'Too many sessions');
    // Otherwise strangers could take up all sessions.
    if (!(await isValid(credential))) return refuse(response, 401, 'The API refuses this credential');
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (started) => {
        sessions.set(started, { transport, owner, usedAt: now() });
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    await serverFor(credential).connect(transport);
    await transport.handleRequest(request, response);
  }

  function closeIdle(): void {
    for (const [id, { transport, usedAt }] of sessions) {
      if (usedAt + IDLE_MS > now()) continue;
      sessions.delete(id);
      void transport.close();
    }
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

function readBasic(header: string): Credential | null {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header)?.[1];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 1 ? null : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const isLoopbackHost = (header: string) =>
  isLoopback(header.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));

function requireLoopback(host: string): void {
  if (isLoopback(host)) return;
  throw new OperatorError(
    `MCP listens on loopback addresses only, such as 127.0.0.1:8765, because it has no HTTPS of its own: ${host}`,
  );
}
