import { type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectableHost } from '../../lib/connectable-host.ts';
import { messageOf } from '../../lib/error-message.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { type Marker, markerPath, markerText } from './marker.ts';

/** Where the edge answers HTTP. */
export interface ProbedAddress {
  host: string;
  port: number;
}

const PROBE_MS = 15_000;
const REQUEST_MS = 5_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 500;

/**
 * Asks the edge, as a visitor would, until it says that it serves an install in the state of the marker. Rejects with the
 * last thing that it said if it does not within 15 seconds, and when `signal` is aborted.
 */
export async function probe(
  address: ProbedAddress,
  hostname: string,
  marker: Marker,
  signal?: AbortSignal,
): Promise<void> {
  const until = performance.now() + PROBE_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted();
    const problem = await ask(address, hostname, marker, signal);
    if (problem === null) return;
    if (performance.now() + pause > until) {
      throw new Error(
        `the edge at http://${hostAndPort(address)} does not serve ${hostname} as it should: ${problem}`,
      );
    }
    await sleep(pause, undefined, signal === undefined ? {} : { signal });
  }
}

/** A path, and the text that must be answered there. */
export interface Expected {
  path: string;
  text: string;
}

/** One request; null if it was answered as it should, otherwise what happened instead. */
export async function ask(
  { host, port }: ProbedAddress,
  hostname: string,
  marker: Marker,
  signal?: AbortSignal,
): Promise<string | null> {
  const authority = port === 80 ? hostname : `${hostname}:${port}`;
  const expected = { path: markerPath(marker), text: markerText(marker) };
  return tell({ host: connectableHost(host), port }, authority, expected, signal);
}

/** The same at a Unix socket, for any path. */
export async function askSocket(socketPath: string, expected: Expected): Promise<string | null> {
  return tell({ socketPath }, 'localhost', expected);
}

async function tell(
  place: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>,
  authority: string,
  { path, text: expected }: Expected,
  signal?: AbortSignal,
): Promise<string | null> {
  const deadline = AbortSignal.timeout(REQUEST_MS);
  try {
    const { status, body } = await get({
      ...place,
      path,
      headers: { Host: authority },
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    return status === 200 && body === expected ? null : `it answered with status ${status}`;
  } catch (error) {
    return messageOf(error);
  }
}

interface Got {
  status: number;
  body: string;
}

function get(options: RequestOptions): Promise<Got> {
  return new Promise((resolve, reject) => {
    request({ ...options, agent: false })
      .on('error', reject)
      .on('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      })
      .end();
  });
}
