import { join } from 'node:path';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { type Ask, ask, type LogLine } from '../../policy/edge.fixture.ts';
import { createUsageLedger, type UsageLedger } from '../../policy/usage/ledger.ts';
import type { LoggedRequest } from '../../websites/logs/access-logs.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createTestInstalls, startTestMachine, type TestInstalls } from './test-installs.fixture.ts';
import { createWebServer, type WebServer, type WebServerOptions } from './web-server.ts';

export { siteState, startPhp } from './test-installs.fixture.ts';

/** A real nginx with separate ports and folders, and installs with real PHP. Needs root. */
export interface TestServer extends TestInstalls {
  web: WebServer;
  /** As `web` was made with. */
  options: WebServerOptions & { edgeForward: ListenAddress };
  layout: LinuxLayout;
  clock: ManualClock;
  log: LogLine[];
  daemons: Daemons;
  usage: UsageLedger;
  /** For the access logs. */
  requests: LoggedRequest[];
  http: Ask;
  https: Ask;
  close(): Promise<void>;
}

type Changes = Partial<WebServerOptions> & { edgeForward?: ListenAddress };

export async function startServer(changes: Changes = {}): Promise<TestServer> {
  const machine = await startTestMachine();
  const { layout, daemons, log, instance } = machine;
  const clock = manualClock(new Date());
  const usage = createUsageLedger({ file: join(layout.folder, 'usage.sqlite'), clock, log });
  usage.start();
  const requests: LoggedRequest[] = [];
  const options: TestServer['options'] = {
    layout,
    daemons,
    edgeHttp: { host: '127.0.0.1', port: await freePort() },
    edgeHttps: { host: '127.0.0.1', port: await freePort() },
    edgeForward: { host: '127.0.0.1', port: await freePort() },
    trustedProxies: [],
    resolvers: null,
    s3: { endpoint: null, pathStyle: false },
    log,
    clock,
    instance,
    siteDomain: 'hosting.test',
    readUsageEveryMs: 100,
    accessLogs: { append: async (lines) => void requests.push(...lines) },
    ...changes,
    usage,
  };
  const web = createWebServer(options);

  return {
    ...createTestInstalls(machine),
    web,
    options,
    layout,
    clock,
    log: machine.lines,
    daemons,
    usage,
    requests,
    http: (hostname, path, asked) => ask('http', options.edgeHttp.port, hostname, path, asked),
    https: (hostname, path, asked) => ask('https', options.edgeHttps.port, hostname, path, asked),
    async close() {
      await web.stop();
      await usage.stop();
      await machine.close();
    },
  };
}
