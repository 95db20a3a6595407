import type { createServer, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';

/** A request to the authority: its path and signed payload. */
export interface Asked {
  path: string;
  payload: unknown;
}

export interface ScriptedAuthority {
  directoryUrl: string;
  /** The port of the directory. */
  port: number;
  ca: string;
  asked: Asked[];
  close(): Promise<void>;
}

const Jws = Type.Object({ payload: Type.String() });

/**
 * Starts an HTTPS server whose answers the test scripts, for answers that a real authority cannot be made to give.
 * `answer` gets every request except those for the directory (`/dir`) and nonces.
 */
export async function startScriptedAuthority(
  answer: (asked: Asked, response: ServerResponse, count: number) => void,
  directory: (base: string) => object = () => ({}),
): Promise<ScriptedAuthority> {
  const own = await createSelfSigned({
    names: ['localhost'],
    notBefore: new Date(Date.now() - 60_000),
    days: 7,
  });
  const asked: Asked[] = [];
  const server = createHttpsServer({ cert: own.chain, key: own.key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? '';
    response.setHeader('replay-nonce', `nonce-${asked.length}`);
    if (path === '/nonce') response.end();
    else if (path === '/dir') sendJson(response, 200, { ...resources(base), ...directory(base) });
    else {
      const one = { path, payload: payloadOf(Buffer.concat(chunks).toString()) };
      asked.push(one);
      answer(one, response, asked.length);
    }
  });
  const port = await listen(server);
  const base = `https://localhost:${port}`;
  return {
    directoryUrl: `${base}/dir`,
    port,
    ca: own.chain,
    asked,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function resources(base: string): object {
  return { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function sendProblem(
  response: ServerResponse,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): void {
  sendJson(
    response,
    status,
    { type: `urn:ietf:params:acme:error:${type}`, detail: `It is ${type}.` },
    headers,
  );
}

function payloadOf(body: string): unknown {
  if (body === '') return null;
  const jws: unknown = JSON.parse(body);
  if (!Value.Check(Jws, jws)) throw new Error('the request is not signed');
  return jws.payload === '' ? null : JSON.parse(Buffer.from(jws.payload, 'base64url').toString());
}

/** Listens on a free port of 127.0.0.1. Resolves to the port. */
export async function listen(
  server: ReturnType<typeof createServer | typeof createHttpsServer>,
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
