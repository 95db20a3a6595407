import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import type { Hostname, InstallState, ServedCertificate } from '../contract/install-state.ts';

/** What the tests of both edges, the embedded one and nginx, need: websites as they should be, and requests for them. */

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** As they came. */
  bytes: Buffer;
  /** Decompressed. */
  readonly text: string;
}

export type Ask = (hostname: string, path: string, asked?: Asked) => Promise<Answer>;

/** One request on a connection of its own, the path and the Host header just as given. */
export async function ask(
  scheme: 'http' | 'https',
  port: number,
  hostname: string,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Answer> {
  const options = {
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { Host: hostname, ...headers },
    agent: false,
  } as const;
  const servername = hostname.replace(/\.?(:\d*)?$/, '');
  const request =
    scheme === 'http'
      ? httpRequest(options)
      : httpsRequest({ ...options, servername, rejectUnauthorized: false });
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('no response');
  const bytes = await buffer(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    get text() {
      return decoded(bytes, response.headers['content-encoding']).toString();
    },
  };
}

/** Content without its coding. */
export function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === 'gzip') return gunzipSync(bytes);
  if (coding === 'br') return brotliDecompressSync(bytes);
  return coding === 'zstd' ? zstdDecompressSync(bytes) : bytes;
}

/** Sends bytes as they are, and gives what comes until the other side closes. */
export async function sendRaw(port: number, content: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write(content, 'latin1');
  return text(socket);
}

/** Waits until something holds. */
export async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`still not so: ${holds}`);
    await sleep(5);
  }
}

/** What an install that serves files alone should be; `hostnames` are names served plainly, or more. */
export function siteState(
  name: string,
  hostnames: (string | (Partial<Hostname> & { name: string }))[] = [],
  changes: Partial<InstallState> = {},
): InstallState {
  return {
    id: randomUUID(),
    name,
    phpVersion: null,
    wordpressVersion: null,
    primaryHostname: name,
    hostnames: hostnames.map((hostname) => ({
      redirectTo: null,
      forceHttps: false,
      certificate: null,
      ...(typeof hostname === 'string' ? { name: hostname } : hostname),
    })),
    offload: null,
    ...changes,
  };
}

/** One that is valid from a second before `now`. */
export async function certificateFor(
  name: string,
  { now = new Date(), days = 30 }: { now?: Date; days?: number } = {},
): Promise<ServedCertificate> {
  const notBefore = new Date(now.getTime() - 1000);
  const { chain, key, notAfter } = await createSelfSigned({ names: [name], notBefore, days });
  return { chain, key, notAfter: notAfter.toISOString() };
}
