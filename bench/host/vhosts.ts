import { join } from 'node:path';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { createSupervisor } from '../../src/hosting/linux/daemons/supervisor.ts';
import { makeHostFolders } from '../../src/hosting/linux/machine/host-folders.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { createWebServer, type WebServer } from '../../src/hosting/linux/nginx/web-server.ts';
import { createUsageLedger } from '../../src/hosting/policy/usage/ledger.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silent } from '../../test/database.ts';
import type { TestMachine } from '../../test/host/machine.ts';
import { plainState } from '../../test/host/state.ts';
import { median, timed } from '../measure/units.ts';
import { createBenchMachine, removeTraces } from './bench-host.ts';
import { withCleanup } from './cleanup.ts';
import { memoryOf } from './footprint.ts';
import { timeTest } from './nginx-test.ts';

/** The web server of a host, without the rest of it. */
export interface VhostServer {
  web: WebServer;
  machine: TestMachine;
  layout: LinuxLayout;
}

/** Cost of nginx with that many websites. */
export interface VhostCosts {
  count: number;
  /** Milliseconds of `nginx -t`. */
  test: number;
  /** Milliseconds until a change of one website is served. */
  change: number;
  /** Memory in bytes. */
  nginx: number;
}

const REPEATED = 3;

export async function withVhosts<Result>(work: (server: VhostServer) => Promise<Result>): Promise<Result> {
  const machine = await createBenchMachine();
  const { instance, runFolder, folder, config } = machine;
  const layout = linuxLayout(folder, runFolder);
  const cgroups = createCgroups({ instance, log: silent });
  const daemons = createSupervisor({ runFolder, cgroups, log: silent, clock: systemClock });
  const usage = createUsageLedger({ file: layout.usage, clock: systemClock, log: silent });
  const web = createWebServer({
    usage,
    layout,
    daemons,
    edgeHttp: config.edgeHttp,
    edgeHttps: config.edgeHttps,
    trustedProxies: [],
    resolvers: [],
    s3: { endpoint: null, pathStyle: false },
    log: silent,
    clock: systemClock,
    instance,
  });
  const cleanup = async () => {
    await web.stop();
    await usage.stop();
    await daemons.stop();
    await removeTraces(machine);
  };
  return withCleanup(cleanup, async () => {
    await makeHostFolders(layout);
    usage.start();
    return work({ web, machine, layout });
  });
}

/** Configures that many websites, whose PHP need not run. */
export async function measureVhosts(
  { web, machine, layout }: VhostServer,
  count: number,
): Promise<VhostCosts> {
  const { first: uid } = machine.config.hostUids;
  const vhosts = Array.from({ length: count }, (_, n) => ({
    state: plainState(`bench-vhost-${n}`),
    uid,
    wordpressVersion: '6.8',
  }));
  await web.start(vhosts);
  const [vhost] = vhosts;
  const [name] = vhost?.state.hostnames ?? [];
  if (vhost === undefined || name === undefined) throw new Error('no website to change');
  const changes: number[] = [];
  for (let n = 1; n <= REPEATED; n++) {
    const hostnames = [name, { ...name, name: `more-${n}.${name.name}` }];
    changes.push(await timed(() => web.put({ ...vhost, state: { ...vhost.state, hostnames } })));
  }
  const test = await timeTest(join(layout.nginx, 'current', 'nginx.conf'));
  const { nginx } = await memoryOf(machine);
  return { count, test, change: median(changes), nginx };
}
