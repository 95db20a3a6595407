import { Agent, request } from 'undici';

/** One kind of request, sent repeatedly. */
export interface Load {
  origin: string;
  ca?: string;
  /** Creates the next request; called once for each. */
  next(): { method: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: string };
  expect: number;
  connections?: number;
  /** Processor time that the server has used so far, if it should be counted. */
  cpuMs?: () => number;
}

export interface LoadResult {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of the server's processor time for a request; 0 if not counted. */
  cpuMicros: number;
}

const WARM_UP_MS = 1_500;

/** Keeps `connections` requests in flight for `seconds` and counts the responses. Throws on any unexpected response. */
export async function run(load: Load, seconds: number): Promise<LoadResult> {
  const connections = load.connections ?? 32;
  const agent = new Agent({
    connections,
    pipelining: 1,
    connect: { ...(load.ca === undefined ? {} : { ca: load.ca }), servername: 'localhost' },
  });
  const times: number[] = [];
  const send = async () => {
    const started = performance.now();
    const { statusCode, body } = await agent.request({ origin: load.origin, ...load.next() });
    const text = await body.text();
    if (statusCode !== load.expect)
      throw new Error(`${statusCode} instead of ${load.expect}: ${text.slice(0, 200)}`);
    times.push(performance.now() - started);
  };
  const sendFor = async (milliseconds: number) => {
    const started = performance.now();
    const until = started + milliseconds;
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (performance.now() < until) await send();
      }),
    );
    return (performance.now() - started) / 1000;
  };
  // Warm-up: handshakes and uncompiled code must not be measured.
  await sendFor(WARM_UP_MS);
  times.length = 0;
  const cpuBefore = load.cpuMs?.() ?? 0;
  const elapsed = await sendFor(seconds * 1000);
  const cpuMicros = (((load.cpuMs?.() ?? 0) - cpuBefore) * 1000) / times.length;
  await agent.close();
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99), cpuMicros };
}

/** Runs loads in turn for several rounds, so that all see the same machine load; returns each median. */
export async function interleaved(loads: Load[], { rounds = 3, seconds = 3 } = {}): Promise<LoadResult[]> {
  const results: LoadResult[][] = loads.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, load] of loads.entries()) results[index]?.push(await run(load, seconds));
  }
  return results.map((own) => {
    own.sort((a, b) => a.perSecond - b.perSecond);
    const median = own[Math.floor(own.length / 2)];
    if (!median) throw new Error('no round was run');
    return median;
  });
}

export const shownLoad = ({ perSecond, p50, p99 }: LoadResult) =>
  `${Math.round(perSecond)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

/** A server, as a load or a single request needs it. */
interface Target {
  origin: string;
  ca?: string;
  cpuMs(): number;
}

/** A load of GET requests. `path` may choose another path for each. */
export const get = (server: Target, path: string | (() => string), authorization?: string): Load => ({
  origin: server.origin,
  ...(server.ca === undefined ? {} : { ca: server.ca }),
  expect: 200,
  cpuMs: server.cpuMs,
  next: () => ({
    method: 'GET',
    path: typeof path === 'string' ? path : path(),
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  }),
});

/** The JSON of one answer. */
export async function answerOf(
  server: Pick<Target, 'origin'> & { ca: string },
  path: string,
  authorization: string,
): Promise<unknown> {
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  const { body } = await request(`${server.origin}${path}`, { dispatcher, headers: { authorization } });
  const answer = await body.json();
  await dispatcher.close();
  return answer;
}
