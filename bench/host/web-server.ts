import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { createSupervisor } from '../../src/hosting/linux/daemons/supervisor.ts';
import { makeHostFolders } from '../../src/hosting/linux/machine/host-folders.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { createEdgeControl, type EdgeControl } from '../../src/hosting/linux/nginx/control-client.ts';
import { runFiles } from '../../src/hosting/linux/nginx/machine-options.ts';
import { createWebServer, type WebServer } from '../../src/hosting/linux/nginx/web-server.ts';
import { createUsageLedger } from '../../src/hosting/policy/usage/ledger.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silent } from '../../test/database.ts';
import type { TestMachine } from '../../test/host/machine.ts';
import { createBenchMachine, removeTraces } from './bench-host.ts';
import { withCleanup } from './cleanup.ts';

/** The web server of a host, without the rest of it. */
export interface BenchWebServer {
  web: WebServer;
  machine: TestMachine;
  layout: LinuxLayout;
  /** Calls nginx as the host does. */
  control: EdgeControl;
}

export async function withWebServer<Result>(
  work: (server: BenchWebServer) => Promise<Result>,
): Promise<Result> {
  const machine = await createBenchMachine();
  const { instance, runFolder, folder, config } = machine;
  const layout = linuxLayout(folder, runFolder);
  const cgroups = createCgroups({ instance, log: silent });
  const daemons = createSupervisor({ runFolder, cgroups, log: silent, clock: systemClock });
  const usage = createUsageLedger({ file: layout.usage, clock: systemClock, log: silent });
  const web = createWebServer({
    usage,
    accessLogs: { append: async () => {} },
    layout,
    daemons,
    edgeHttp: config.edgeHttp,
    edgeHttps: config.edgeHttps,
    edgeForward: { host: '127.0.0.1', port: 0 },
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
    return work({ web, machine, layout, control: createEdgeControl(runFiles(layout).controlSocket) });
  });
}
