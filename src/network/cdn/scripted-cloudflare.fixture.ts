import { createServer, type ServerResponse } from 'node:http';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { freePort } from '../../../test/servers/free-port.ts';

/** A received call. */
export interface AskedPurge {
  method: string;
  path: string;
  authorization: string;
  hosts: string[];
}

/** The answer to a refused call. */
export type Refusal =
  | { status: number; errors: { code: number; message: string }[] }
  | { status: number; page: string }
  | { status: number; location: string }
  | 'silence';

export interface ScriptedCloudflare {
  api: string;
  asked: AskedPurge[];
  /** The names of all accepted calls. */
  purged(): string[];
  /** Scripts refusals of later calls. The script returns null to accept a call. */
  refuse(script: (hosts: string[]) => Refusal | null): void;
  reset(): void;
  close(): Promise<void>;
}

const Body = Type.Object({ hosts: Type.Array(Type.String()) });

/** Starts an HTTP server that answers purges like Cloudflare's API, or as scripted by the test. */
export async function startScriptedCloudflare(): Promise<ScriptedCloudflare> {
  const asked: AskedPurge[] = [];
  const purged: string[] = [];
  let script: (hosts: string[]) => Refusal | null = () => null;

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const text = Buffer.concat(chunks).toString();
    const hosts = text === '' ? [] : Value.Parse(Body, JSON.parse(text)).hosts;
    asked.push({ method, path, authorization: headers.authorization ?? '', hosts });
    const refusal = script(hosts);
    if (refusal !== null) return refuse(response, refusal);
    purged.push(...hosts);
    send(response, 200, { success: true, errors: [], messages: [], result: { id: 'purge' } });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  return {
    api: `http://127.0.0.1:${port}/client/v4`,
    asked,
    purged: () => [...purged],
    refuse: (wanted) => {
      script = wanted;
    },
    reset() {
      asked.length = 0;
      purged.length = 0;
      script = () => null;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  if (refusal === 'silence') return;
  if ('location' in refusal) {
    response.writeHead(refusal.status, { location: refusal.location }).end();
  } else if ('page' in refusal) {
    response.writeHead(refusal.status, { 'content-type': 'text/html' }).end(refusal.page);
  } else {
    send(response, refusal.status, { success: false, errors: refusal.errors, messages: [], result: null });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
