import { expect, it } from 'vitest';
import { silent } from '../../test/database.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { type ReceivedSpan, startTraceCollector } from '../../test/servers/trace-collector.ts';
import { readConfig } from '../config/config.ts';
import { systemRandomness } from '../lib/ids.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** The spans of what `work` does. */
async function spansOf(
  work: (tracing: Tracing) => Promise<void>,
  environment: Record<string, string> = {},
  suffix = '',
): Promise<ReceivedSpan[]> {
  const collector = await startTraceCollector();
  try {
    const tracing = createTracing({
      url: `${collector.url}/v1/traces`,
      config: readConfig(environment),
      version: '1.2.3',
      suffix,
      clock: manualClock(new Date('2026-05-01T00:00:00.000Z')),
      random: systemRandomness,
      log: silent,
    });
    await work(tracing);
    await tracing.stop();
    return collector.spans;
  } finally {
    await collector.close();
  }
}

const job = { id: 'job-1', kind: 'backup', attempt: 2, requestId: 'request-1', traceparent: null };
const apply = { command: 'apply', host: 'web1' };

it.each([
  ['homeport-host', {}],
  ['acme-host', { OTEL_SERVICE_NAME: 'acme' }],
  ['acme-host', { OTEL_SERVICE_NAME: 'acme-host' }],
  ['web-host', { OTEL_RESOURCE_ATTRIBUTES: 'service.name=web,service.namespace=fleet' }],
])('tells a host from its control plane, which may share its settings: %s', async (name, environment) => {
  const run = async (tracing: Tracing) => void (await tracing.attempt(job, async () => ({ is: 'done' })));
  const [host] = await spansOf(run, environment, '-host');
  const [control] = await spansOf(run, environment);
  expect(host?.resource['service.name']).toBe(name);
  expect(host?.resource['service.namespace']).toBe(control?.resource['service.namespace']);
  expect(host?.resource['service.instance.id']).not.toBe(control?.resource['service.instance.id']);
});

it('gives hosts the span of their command, and records failures without their messages', async () => {
  let sent: string | undefined;
  const spans = await spansOf(async (tracing) => {
    await tracing.attempt(job, async () => {
      const failing = tracing.callHost(apply, async ({ traceparent }) => {
        sent = traceparent;
        throw new RangeError('the password is hidden');
      });
      await expect(failing).rejects.toThrow('hidden');
      return { is: 'failed', error: new TypeError('hidden, too') };
    });
  });
  const [call, attempt] = spans;
  expect(sent).toBe(`00-${attempt?.traceId}-${call?.spanId}-01`);
  expect(call).toMatchObject({
    name: 'host apply',
    parentSpanId: attempt?.spanId,
    startTimeUnixNano: '1777593600000000000',
    status: { code: 2 },
    attributes: { 'error.type': 'RangeError' },
  });
  expect(attempt).toMatchObject({
    name: 'job backup',
    status: { code: 2 },
    attributes: { 'homeport.job.attempt': '2', 'homeport.job.outcome': 'failed', 'error.type': 'TypeError' },
    resource: { 'service.name': 'homeport', 'service.version': '1.2.3' },
  });
  expect(JSON.stringify(spans)).not.toContain('hidden');
});

it('records no commands outside of requests and jobs, and none after their end', async () => {
  const headers: object[] = [];
  const note = async (given: object) => void headers.push(given);
  const spans = await spansOf(async (tracing) => {
    await tracing.callHost(apply, note);
    const ended = Promise.withResolvers<void>();
    let later: Promise<void> | undefined;
    await tracing.attempt(job, async () => {
      later = ended.promise.then(() => tracing.callHost(apply, note));
      return { is: 'done' };
    });
    ended.resolve();
    await later;
  });
  expect(headers).toEqual([{}, {}]);
  expect(spans.map(({ name }) => name)).toEqual(['job backup']);
});

it('passes on that a trace is not recorded, to hosts and to jobs of the request', async () => {
  let sent: string | undefined;
  let queued: string | null = null;
  const spans = await spansOf(
    async (tracing) => {
      const id = crypto.randomUUID();
      tracing.request({ id, traceparent: undefined });
      queued = tracing.traceparentOf(id);
      expect(queued).toMatch(new RegExp(`^00-${id.replaceAll('-', '')}-[0-9a-f]{16}-00$`));
      await tracing.attempt({ ...job, traceparent: queued }, async () => {
        await tracing.callHost(apply, async ({ traceparent }) => {
          sent = traceparent;
        });
        return { is: 'done' };
      });
    },
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  );
  expect(sent).toMatch(/-00$/);
  expect(spans).toEqual([]);
});
