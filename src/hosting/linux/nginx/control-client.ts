import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { hasCode } from '../../../lib/error-code.ts';
import type { ServedCertificate } from '../../contract/install-state.ts';

/** Tells nginx about changes. Each call resolves once the change is active in every worker. */
export interface EdgeControl {
  /** The row of this install has changed. */
  installChanged(installId: string): Promise<void>;
  /** Other names lead to rows; nginx reads every row again. */
  namesChanged(): Promise<void>;
  /** Other hosts serve other names, or are reached elsewhere; nginx reads every route again. */
  routesChanged(): Promise<void>;
  /** No page of the install that was made before is served. */
  purge(installId: string): Promise<void>;
  /** Like {@link purge}, for these paths under every name and with every query. */
  purgePages(installId: string, paths: readonly string[]): Promise<void>;
  /** Ids of the certificates that nginx holds. */
  certificates(): Promise<string[]>;
  addCertificate(id: string, certificate: Pick<ServedCertificate, 'chain' | 'key'>): Promise<void>;
  removeCertificate(id: string): Promise<void>;
  /** Any other call. Rejects unless the answer has status 200. */
  call(method: string, path: string, body?: string): Promise<string>;
}

const DEADLINE_MS = 5_000;
/** nginx is between two processes, or has just been killed. */
const RETRIED = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'];
const NO_ROOM = 507;
/** Bytes of one list of paths. */
const LONGEST_LIST = 60_000;

/** nginx has no memory left for a certificate. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

export function createEdgeControl(socketPath: string): EdgeControl {
  /** Every change may be repeated, so one retry is safe. */
  async function call(method: string, path: string, body = ''): Promise<string> {
    const { status, answer } = await send(method, path, body).catch((error: unknown) => {
      if (!hasCode(error, ...RETRIED)) throw error;
      return send(method, path, body);
    });
    if (status === 200) return answer;
    if (status === NO_ROOM) throw new NoRoomError('nginx has no memory left for another certificate');
    throw new Error(`nginx answered ${method} ${path} with status ${status}`);
  }

  async function send(method: string, path: string, body: string) {
    const length = { 'Content-Length': Buffer.byteLength(body) };
    const headers = { Host: 'localhost', ...length };
    const signal = AbortSignal.timeout(DEADLINE_MS);
    return new Promise<{ status: number; answer: string }>((resolve, reject) => {
      request({ socketPath, method, path, headers, signal, agent: false })
        .on('error', reject)
        .on('response', (response) => {
          text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
        })
        .end(body);
    });
  }

  const change = async (method: string, path: string, body?: string): Promise<void> => {
    await call(method, path, body);
  };
  return {
    call,
    installChanged: (id) => change('POST', `/install/${id}`),
    namesChanged: () => change('POST', '/names'),
    routesChanged: () => change('POST', '/routes'),
    purge: (id) => change('POST', `/purge/${id}`),
    async purgePages(id, paths) {
      for (const body of listsOf(paths)) await change('POST', `/purge-pages/${id}`, body);
    },
    certificates: async () => (await call('GET', '/certificates')).split('\n').filter((id) => id !== ''),
    addCertificate: (id, { chain, key }) =>
      change('POST', `/certificate/${id}`, JSON.stringify({ chain, key })),
    removeCertificate: (id) => change('DELETE', `/certificate/${id}`),
  };
}

/** The paths as lists in JSON that nginx accepts. */
function* listsOf(paths: readonly string[]): Generator<string> {
  let items: string[] = [];
  let length = 0;
  for (const item of paths.map((path) => JSON.stringify(path))) {
    const bytes = Buffer.byteLength(item) + 1;
    if (length + bytes > LONGEST_LIST) {
      yield `[${items.join(',')}]`;
      [items, length] = [[], 0];
    }
    items.push(item);
    length += bytes;
  }
  if (items.length > 0) yield `[${items.join(',')}]`;
}
