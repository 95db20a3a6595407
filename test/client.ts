import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import type { IssuedCredential } from '../src/features/identity/credentials/service.ts';
import type { Conformance } from './conformance.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or undefined for an empty body. Read it with the matchers, or with {@link field}. */
  body: unknown;
}

export interface CallOptions {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

/** Calls one server as one user, over HTTPS. Every response is checked against the server's OpenAPI description. */
export interface Client {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  patch(path: string, json?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

/** By `Content-Encoding`. */
const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

/** The text of a body, after its content coding. */
export function decoded(headers: Answer['headers'], bytes: Buffer): string {
  const coding = String(headers['content-encoding'] ?? 'identity');
  return (bytes.length === 0 ? bytes : (DECODERS[coding]?.(bytes) ?? bytes)).toString();
}

export function createAgent(ca: string): Agent {
  return new Agent({ connect: { ca, servername: 'localhost' }, connections: 64 });
}

export function createClient(
  parts: { origin: string; agent: Agent; conformance: () => Conformance | undefined },
  credential?: IssuedCredential,
): Client {
  const authorization: Record<string, string> = credential
    ? {
        authorization: `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`,
      }
    : {};

  async function call(
    method: string,
    path: string,
    { json, raw, headers }: CallOptions = {},
  ): Promise<Answer> {
    const body = raw ?? (json === undefined ? null : JSON.stringify(json));
    const response = await request(`${parts.origin}/v1${path}`, {
      method,
      dispatcher: parts.agent,
      headers: {
        ...authorization,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body,
    });
    const text = decoded(response.headers, Buffer.from(await response.body.arrayBuffer()));
    if (method !== 'HEAD' && method !== 'OPTIONS') {
      parts.conformance()?.(method, new URL(`${parts.origin}/v1${path}`).pathname, response.statusCode, text);
    }
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.statusCode, headers: response.headers, body: parsed };
  }

  return {
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json) => call('POST', path, json === undefined ? {} : { json }),
    patch: (path, json) => call('PATCH', path, json === undefined ? {} : { json }),
    delete: (path) => call('DELETE', path),
  };
}

/** A nested member of a response, by its path: `field(answer.body, 'results', 0, 'id')`. */
export function field(value: unknown, ...path: (string | number)[]): unknown {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null) return undefined;
    inner = Reflect.get(inner, name);
  }
  return inner;
}

/** As {@link field}, but requires a string. */
export function text(value: unknown, ...path: (string | number)[]): string {
  const found = field(value, ...path);
  if (typeof found !== 'string') throw new Error(`${path.join('.')} is no text in ${JSON.stringify(value)}`);
  return found;
}
