import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent, temporaryFolder } from '../../test/database.ts';
import { startTraceCollector, type TraceCollector } from '../../test/servers/trace-collector.ts';
import { readConfig } from '../config/config.ts';
import { connectHost, type RemoteHost } from '../hosting/remote/client.ts';
import { startMachine, type TestMachine } from '../hosting/remote/embedded-machine.fixture.ts';
import { me } from '../hosting/remote/host-server.fixture.ts';
import { createHostServer, type HostServer } from '../hosting/remote/server.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandomness } from '../lib/ids.ts';
import { programs, runCommand } from '../lib/run-command.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** Of a website. Its name is the program that the host runs for it. */
const id = randomUUID();

let folder: ReturnType<typeof temporaryFolder>;
let collector: TraceCollector;
let machine: TestMachine;
let server: HostServer;
let remote: RemoteHost;
let platform: Tracing;
let host: Tracing;

/** A control plane and a host, each with traces, behind a socket. */
beforeEach(async () => {
  folder = temporaryFolder();
  collector = await startTraceCollector();
  machine = await startMachine();
  const tracing = (suffix: string, sampler: string) =>
    createTracing({
      url: collector.url,
      config: readConfig({ OTEL_TRACES_SAMPLER: sampler }),
      version: '1',
      suffix,
      clock: systemClock,
      random: systemRandomness,
      log: silent,
    });
  [platform, host] = [tracing('', 'parentbased_always_on'), tracing('-host', 'parentbased_always_off')];
  const purge = async ({ name }: { name: string }) => void (await runCommand(`/bin/${name}`, ['secret']));
  server = createHostServer({ host: { ...machine.machine, purge }, log: silent, trace: host.command });
  const socket = join(folder.path, 'host.sock');
  await server.listenUnix(socket, me);
  remote = connectHost({ name: 'web1', socket }, {}, platform.callHost);
});
afterEach(async () => {
  await remote.close();
  await server.close(0);
  await machine.close();
  await collector.close();
  folder.remove();
});

/** The spans of a job that lets the host run a program, by service and name. */
async function spansOf(program: string) {
  const job = { id: 'job-1', kind: 'purge', attempt: 1, requestId: null, traceparent: null };
  await platform.attempt(job, async () => {
    await remote.purge({ id, name: program }, 'page').catch(() => {});
    return { is: 'done' };
  });
  await host.stop();
  await platform.stop();
  return new Map(collector.spans.map((span) => [`${span.resource['service.name']}: ${span.name}`, span]));
}

it('shows the work of a host in the trace of the job: its command, and the programs that it ran', async () => {
  const spans = await spansOf('true');
  const [job, call, command, program] = [
    'homeport: job purge',
    'homeport: host purge',
    'homeport-host: host purge',
    'homeport-host: run true',
  ].map((name) => spans.get(name));
  expect(spans.size).toBe(4);
  expect(call).toMatchObject({ traceId: job?.traceId, parentSpanId: job?.spanId, kind: 3 });
  expect(command).toMatchObject({ traceId: job?.traceId, parentSpanId: call?.spanId, kind: 2, status: {} });
  expect(program).toMatchObject({
    traceId: job?.traceId,
    parentSpanId: command?.spanId,
    kind: 1,
    status: {},
    attributes: { 'process.executable.name': 'true' },
  });
});

it('records what failed on the host, without messages and arguments', async () => {
  const spans = await spansOf('false');
  for (const name of ['host purge', 'run false']) {
    expect(spans.get(`homeport-host: ${name}`)).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'CommandError' },
    });
  }
  expect(collector.requests.map(({ text }) => text).join()).not.toMatch(new RegExp(`secret|${id}`));
});

it('records nothing on the host for callers without traces, and watches no programs afterwards', async () => {
  await remote.purge({ id, name: 'true' }, 'page');
  await remote.describe();
  expect(programs.hasSubscribers).toBe(true);
  await host.stop();
  await platform.stop();
  expect(collector.spans).toEqual([]);
  expect(programs.hasSubscribers).toBe(false);
});
