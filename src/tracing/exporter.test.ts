import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTraceCollector, type TraceCollector } from '../../test/servers/trace-collector.ts';
import { listeningLog } from '../hosting/embedded/embedded-host.fixture.ts';
import { eventually, type LogLine } from '../hosting/policy/edge.fixture.ts';
import { createExporter, type Exporter, MOST_IN_BATCH, MOST_WAITING } from './exporter.ts';
import { type EndedSpan, otlpRequest } from './otlp.ts';

let collector: TraceCollector;
let lines: LogLine[];
beforeEach(async () => {
  collector = await startTraceCollector();
  lines = [];
});
afterEach(() => collector.close());

const exporterTo = (url: string, times = {}): Exporter =>
  createExporter({
    url,
    headers: { 'api-key': 'a secret' },
    encode: (spans) => otlpRequest({ 'service.name': 'test' }, '1', spans),
    log: listeningLog(lines, 'info'),
    times: { delayMs: 1, longestPauseMs: 4, ...times },
  });

function span(name: string): EndedSpan {
  return {
    context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
    parentSpanId: undefined,
    name,
    kind: 'server',
    startedAt: 1_777_000_000_000.25,
    endedAt: 1_777_000_000_001,
    attributes: { text: 'x', number: 7, nothing: undefined },
    isError: false,
  };
}

function addMany(exporter: Exporter, count: number): void {
  for (let number = 0; number < count; number++) exporter.add(span(`span ${number}`));
}

const received = () => collector.spans.map(({ name }) => name);

it('sends spans in batches, and the rest at the stop', async () => {
  const exporter = exporterTo(`${collector.url}/v1/traces`, { delayMs: 3_600_000 });
  addMany(exporter, MOST_IN_BATCH + 3);
  await eventually(() => collector.spans.length === MOST_IN_BATCH);
  await exporter.stop();
  expect(received()).toEqual(Array.from({ length: MOST_IN_BATCH + 3 }, (_, number) => `span ${number}`));
  expect(collector.spans[0]).toMatchObject({
    kind: 2,
    startTimeUnixNano: '1777000000000250000',
    endTimeUnixNano: '1777000000001000000',
    attributes: { text: 'x', number: '7' },
    resource: { 'service.name': 'test' },
  });
  expect(Object.keys(collector.spans[0]?.attributes ?? {})).toEqual(['text', 'number']);
  expect(collector.requests[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'api-key': 'a secret', 'content-type': 'application/json' },
  });
  expect(lines).toEqual([]);
});

it('keeps a bounded number for a collector that is down, and warns once', async () => {
  collector.answer = () => 503;
  const exporter = exporterTo(collector.url);
  exporter.add(span('first'));
  await eventually(() => lines.length === 1);
  addMany(exporter, MOST_WAITING + 99);
  await eventually(() => collector.requests.length > 2);
  expect(lines).toMatchObject([
    { msg: 'could not send traces; spans are dropped if this goes on', status: 503 },
  ]);
  collector.answer = () => 200;
  await eventually(() => lines.length === 2);
  expect(new Set(received()).size).toBe(MOST_WAITING);
  expect(collector.spans).toHaveLength(MOST_WAITING);
  expect(lines[1]).toMatchObject({
    msg: 'the collector takes all spans again; that many were dropped',
    count: 100,
  });
  await exporter.stop();
});

it('drops what comes faster than a slow collector takes it', async () => {
  const slow = Promise.withResolvers<number>();
  collector.answer = () => slow.promise;
  const exporter = exporterTo(collector.url);
  addMany(exporter, MOST_WAITING + 5);
  expect(lines).toMatchObject([
    { msg: 'spans come faster than the collector takes them, so some are dropped' },
  ]);
  slow.resolve(200);
  await eventually(() => lines.length === 2);
  expect(lines[1]?.count).toBe(5);
  expect(received()).toEqual(Array.from({ length: MOST_WAITING }, (_, number) => `span ${number}`));
  await exporter.stop();
});

it.each([400, 401, 307])('drops a batch that the collector refuses with %d', async (status) => {
  collector.answer = () => status;
  const exporter = exporterTo(collector.url);
  exporter.add(span('refused'));
  await eventually(() => lines.length === 1);
  expect(lines[0]).toMatchObject({ status });
  collector.answer = () => 200;
  exporter.add(span('next'));
  await eventually(() => received().includes('next'));
  expect(received()).toEqual(['next']);
  expect(collector.requests.map(({ path }) => path)).toEqual(['/', '/']);
  await exporter.stop();
});

it('stops without a collector that answers', async () => {
  const mute = createServer(() => {}).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const address = mute.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const exporter = exporterTo(`http://127.0.0.1:${port}`, { answerMs: 3_600_000, lastMs: 1 });
  exporter.add(span('lost'));
  await once(mute, 'connection');
  await exporter.stop();
  expect(lines.map(({ msg, count }) => ({ msg, count }))).toEqual([
    { msg: 'spans were dropped at the stop, because the collector did not take them', count: 1 },
  ]);
  mute.close();
});
