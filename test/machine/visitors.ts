/**
 * Sends a few requests a second until SIGTERM. It reads a {@link Load} as JSON from standard input, and prints an {@link Outcome}. It is a
 * program, because it runs in the network of a machine.
 */
import { Agent as HttpAgent, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { hasCode } from '../../src/lib/error-code.ts';
import { messageOf } from '../../src/lib/error-message.ts';

const Visited = Type.Object({
  /** Its host name is that of the website; the connection goes to 127.0.0.1. */
  address: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  /** A text of each answer, whose status is 200. */
  contains: Type.String(),
});

const Written = Type.Object({
  address: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.Unknown(),
});

const Load = Type.Object({
  visited: Type.Array(Visited),
  /** `POST` requests that each make a row, which has an `id`. */
  written: Type.Optional(Written),
});

export const Outcome = Type.Object({
  requests: Type.Integer(),
  /** Sent again on a new connection, because a kept one was closed before it had an answer: RFC 9112, 9.3.1. */
  repeated: Type.Integer(),
  slowestMs: Type.Number(),
  /** How long this program stood still at most. Servers close connections that send nothing for seconds. */
  stalledMs: Type.Number(),
  failures: Type.Array(Type.String()),
  /** Ids of the rows. */
  written: Type.Array(Type.String()),
});

export type Load = Type.Static<typeof Load>;
export type Outcome = Type.Static<typeof Outcome>;
type Visited = Type.Static<typeof Visited>;
type Written = Type.Static<typeof Written>;

/** Between two requests of a visitor. Each address has two: one keeps its connection. */
const PAUSE_MS = 700;
const WRITE_PAUSE_MS = 1_500;
/** A request that waits longer has failed. */
const PATIENCE_MS = 300_000;
const MOST_FAILURES = 20;
const Row = Type.Object({ id: Type.String() });

interface Asked {
  address: string;
  headers: Record<string, string>;
  method: 'GET' | 'POST';
  body: string;
}

interface Answer {
  status: number;
  body: string;
}

/** An error on a connection that had an answer before. */
class KeptConnectionClosed extends Error {}

async function sendLoad(load: Load, signal: AbortSignal): Promise<Outcome> {
  const outcome: Outcome = {
    requests: 0,
    repeated: 0,
    slowestMs: 0,
    stalledMs: 0,
    failures: [],
    written: [],
  };
  const delays = monitorEventLoopDelay();
  delays.enable();

  async function timed(what: string, work: () => Promise<string | null>): Promise<void> {
    const began = performance.now();
    outcome.requests++;
    const failure = await work().catch(messageOf);
    const tookMs = performance.now() - began;
    outcome.slowestMs = Math.max(outcome.slowestMs, Math.round(tookMs));
    if (failure !== null && outcome.failures.length < MOST_FAILURES)
      outcome.failures.push(`${new Date().toISOString()} ${what} after ${Math.round(tookMs)} ms: ${failure}`);
  }

  async function visit(visited: Visited, keepAlive: boolean): Promise<void> {
    const { address, headers, contains } = visited;
    const agent = agentFor(address, keepAlive);
    const asked: Asked = { address, headers, method: 'GET', body: '' };
    while (!signal.aborted) {
      await timed(`${address}${keepAlive ? ' (kept)' : ''}`, async () => {
        const answer = await ask(asked, agent).catch((error: unknown) => {
          if (!(error instanceof KeptConnectionClosed)) throw error;
          outcome.repeated++;
          return ask(asked, agentFor(address, false));
        });
        if (answer.status === 200 && answer.body.includes(contains)) return null;
        return `status ${answer.status}, ${answer.body.slice(0, 200)}`;
      });
      await pause(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    agent.destroy();
  }

  async function write({ address, headers, body }: Written): Promise<void> {
    const asked: Asked = { address, headers, method: 'POST', body: JSON.stringify(body) };
    while (!signal.aborted) {
      await timed(`POST ${address}`, async () => {
        const answer = await ask(asked, agentFor(address, false));
        if (answer.status !== 201) return `status ${answer.status}, ${answer.body.slice(0, 200)}`;
        outcome.written.push(Value.Parse(Row, JSON.parse(answer.body)).id);
        return null;
      });
      await pause(WRITE_PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  await Promise.all([
    ...load.visited.flatMap((visited) => [visit(visited, false), visit(visited, true)]),
    ...(load.written === undefined ? [] : [write(load.written)]),
  ]);
  return { ...outcome, stalledMs: Math.round(delays.max / 1_000_000) };
}

function agentFor(address: string, keepAlive: boolean): HttpAgent | HttpsAgent {
  const options = { keepAlive, maxSockets: 1 };
  return address.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
}

async function ask(
  { address, headers, method, body }: Asked,
  agent: HttpAgent | HttpsAgent,
): Promise<Answer> {
  const { protocol, hostname, host, port, pathname } = new URL(address);
  const isSecure = protocol === 'https:';
  const sent = (isSecure ? overHttps : overHttp)({
    host: '127.0.0.1',
    port: port === '' ? (isSecure ? 443 : 80) : port,
    path: pathname,
    method,
    agent,
    headers: { ...headers, host, ...(body === '' ? {} : { 'content-length': Buffer.byteLength(body) }) },
    signal: AbortSignal.timeout(PATIENCE_MS),
    // The certificates are self-signed.
    ...(isSecure ? { servername: hostname, rejectUnauthorized: false } : {}),
  });
  sent.end(body);
  return new Promise((resolve, reject) => {
    sent.on('error', (error) => {
      const wasClosed = sent.reusedSocket && hasCode(error, 'ECONNRESET', 'EPIPE');
      reject(wasClosed ? new KeptConnectionClosed(error.message) : error);
    });
    sent.on('response', (response) => {
      text(response).then(
        (answered) => resolve({ status: response.statusCode ?? 0, body: answered }),
        reject,
      );
    });
  });
}

if (import.meta.main) {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  const load = Value.Parse(Load, JSON.parse(await text(process.stdin)));
  process.stdout.write(JSON.stringify(await sendLoad(load, stop.signal)));
}
