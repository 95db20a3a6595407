import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import {
  type ReceivedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../../test/servers/trace-collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SECRET = 'collector-token-1234';

let homeport: TestHomeport;
let collector: TraceCollector;
let installName: string;
let siteName: string;
let together: string[];
let requestIds: Record<'create' | 'trusted' | 'stranger' | 'unsampled' | 'unknown', string>;

/** A homeport works, and stops. */
beforeAll(async () => {
  collector = await startTraceCollector();
  homeport = await startTestHomeport({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'hosting',
      HOMEPORT_TRUST_PROXY: '127.0.0.1',
    },
  });
  const { accountId, owner } = await homeport.ownedAccount();
  const { username, password } = owner.credential;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  /** Sends a request from an address, and returns its id. */
  async function send(
    path: string,
    more: { from?: string; flags?: string; body?: object } = {},
  ): Promise<string> {
    const agent = new Agent({
      connect: { ca: homeport.ca, servername: 'localhost' },
      localAddress: more.from ?? '127.0.0.2',
    });
    const { headers, body } = await request(`https://127.0.0.1:${homeport.api?.port}${path}`, {
      dispatcher: agent,
      method: more.body === undefined ? 'GET' : 'POST',
      headers: {
        authorization,
        traceparent: `00-${TRACE}-${PARENT}-${more.flags ?? '01'}`,
        ...(more.body && { 'content-type': 'application/json' }),
      },
      ...(more.body && { body: JSON.stringify(more.body) }),
    });
    await body.text();
    await agent.close();
    return String(headers['x-request-id']);
  }
  installName = `traced${process.pid}`;
  const create = await send('/v1/installs', { body: { name: installName, account_id: accountId } });
  await homeport.idle();
  siteName = `Traced site ${process.pid}`;
  // Their transactions are committed together on SQLite.
  together = await Promise.all(
    [1, 2, 3].map(() => send('/v1/sites', { body: { name: siteName, account_id: accountId } })),
  );
  requestIds = {
    create,
    trusted: await send('/v1/installs', { from: '127.0.0.1' }),
    stranger: await send(`/v1/installs/${crypto.randomUUID()}`),
    unsampled: await send('/v1/installs', { from: '127.0.0.1', flags: '00' }),
    unknown: await send('/v1/nothing/of/that/name?secret=1'),
  };
  await send('/healthz');
  await homeport.stop(2_000, 60_000);
});
afterAll(async () => {
  await homeport?.remove();
  await collector?.close();
});

const spanOf = (id: string): ReceivedSpan | undefined =>
  collector.spans.find(({ kind, attributes }) => kind === 2 && attributes['homeport.request_id'] === id);

it('records requests by route and status, with the id of the request as that of the trace', () => {
  expect(spanOf(requestIds.stranger)).toMatchObject({
    traceId: requestIds.stranger.replaceAll('-', ''),
    name: 'GET /v1/installs/:install_id',
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/v1/installs/:install_id',
      'http.response.status_code': '404',
      'url.scheme': 'https',
    },
    status: {},
    resource: {
      'service.name': 'hosting',
      'service.namespace': 'homeport',
      'deployment.environment.name': 'test',
    },
  });
  expect(spanOf(requestIds.unknown)).toMatchObject({ name: 'GET', status: {} });
  expect(collector.spans.filter(({ name }) => name.includes('healthz'))).toEqual([]);
});

it('continues the trace of a trusted proxy, and of no one else', () => {
  expect(spanOf(requestIds.trusted)).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
  expect(spanOf(requestIds.unsampled)).toBeUndefined();
  expect(spanOf(requestIds.stranger)?.parentSpanId).toBeUndefined();
});

it('records the job that a request queued, and its calls to the host', () => {
  const created = spanOf(requestIds.create);
  expect(created?.name).toBe('POST /v1/installs');
  expect(created?.parentSpanId).toBeUndefined();
  const ofTrace = collector.spans.filter(({ traceId }) => traceId === created?.traceId);
  const call = ofTrace.find(({ name }) => name === 'host apply');
  expect(call).toMatchObject({ kind: 3, attributes: { 'homeport.host': 'embedded' } });
  const job = ofTrace.find(({ spanId }) => spanId === call?.parentSpanId);
  expect(job).toMatchObject({
    parentSpanId: created?.spanId,
    kind: 5,
    attributes: {
      'homeport.job.attempt': '1',
      'homeport.job.outcome': 'done',
      'homeport.request_id': requestIds.create,
    },
  });
  expect(job?.name).toBe(`job ${job?.attributes['homeport.job.kind']}`);
  expect(Number(call?.endTimeUnixNano)).toBeGreaterThanOrEqual(Number(call?.startTimeUnixNano));
});

it('records each statement in the transaction of its request, without values', () => {
  for (const id of together) {
    const ofTrace = collector.spans.filter(({ traceId }) => traceId === id.replaceAll('-', ''));
    const statement = ofTrace.find(({ name }) => name === 'INSERT sites');
    const transaction = ofTrace.find(({ spanId }) => spanId === statement?.parentSpanId);
    expect(transaction).toMatchObject({ name: 'transaction', kind: 3, parentSpanId: spanOf(id)?.spanId });
    expect(statement?.kind).toBe(3);
    expect(statement?.attributes).toEqual({
      'db.system.name': homeport.platform.database.dialect === 'sqlite' ? 'sqlite' : 'postgresql',
      'db.query.summary': 'INSERT sites',
      'db.query.text': expect.stringMatching(/^insert into "sites" \(.*\) values \((\+\?|\$\d+)/),
    });
    expect(ofTrace.filter(({ name }) => name === 'INSERT sites')).toHaveLength(1);
  }
  // A worker that looks for jobs belongs to no request.
  const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots.filter(({ attributes }) => attributes['db.system.name'] !== undefined)).toEqual([]);
});

it('names no websites, queries or secrets', () => {
  const sent = collector.requests.map(({ text }) => text).join('\n');
  expect(sent).toContain('homeport.job.kind');
  for (const hidden of [installName, siteName, 'secret', 'nothing/of', SECRET])
    expect(sent).not.toContain(hidden);
  expect(collector.requests.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true);
});
