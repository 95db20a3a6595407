import { join } from 'node:path';
import { manualClock } from '../../../../test/manual-clock.ts';
import { createUsageLedger } from '../../policy/usage/ledger.ts';
import { createAccessLogs } from './access-logs.ts';
import { createChallengeFiles } from './challenge-files.ts';
import type { EdgeOptions } from './edge-options.ts';
import { startEdge } from './edge-table.fixture.ts';
import { runFiles } from './machine-options.ts';
import { checkNames } from './names.ts';
import { startServer, type TestServer } from './nginx.fixture.ts';
import { createUsageLogReader } from './usage-log-reader.ts';
import type { WebServer } from './web-server.ts';

/** What the cases of both edges use: the one with a configuration for each website, and the one with a table. */
export interface CommonServer
  extends Pick<
    TestServer,
    | 'layout'
    | 'clock'
    | 'log'
    | 'daemons'
    | 'usage'
    | 'http'
    | 'https'
    | 'makeInstall'
    | 'write'
    | 'link'
    | 'close'
  > {
  web: Pick<
    WebServer,
    'start' | 'put' | 'remove' | 'collectUsage' | 'publish' | 'withdraw' | 'sweepProofs' | 'stop'
  >;
  options: Pick<TestServer['options'], 's3' | 'edgeHttp' | 'edgeHttps' | 'log'>;
}

export type StartCommon = (
  changes?: Partial<Pick<EdgeOptions, 's3' | 'trustedProxies'>>,
) => Promise<CommonServer>;

/** Both edges, for `describe.each`. */
export const EDGES: { edge: string; startServer: StartCommon }[] = [
  { edge: 'a configuration for each website', startServer },
  { edge: 'a table of rows', startServer: startTableServer },
];

async function startTableServer(changes: Parameters<StartCommon>[0] = {}): Promise<CommonServer> {
  const edge = await startEdge(changes);
  const clock = manualClock(new Date());
  const { layout, logger: log } = edge;
  const usage = createUsageLedger({ file: join(layout.folder, 'usage.sqlite'), clock, log });
  usage.start();
  const accessLogs = createAccessLogs({ folder: layout.accessLogs, log });
  const reader = createUsageLogReader({
    folder: runFiles(layout).usageLogs,
    ledger: usage,
    accessLogs,
    reopen: edge.running.reopenLog,
    log,
    everyMs: 100,
  });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock });
  const put: WebServer['put'] = async (vhost) => {
    checkNames(vhost.state);
    await edge.serve(vhost);
  };
  return {
    ...edge,
    clock,
    usage,
    options: { ...edge.options, log },
    async close() {
      await reader.stop();
      await usage.stop();
      await edge.close();
    },
    web: {
      async start(vhosts) {
        for (const vhost of vhosts) await put(vhost);
        reader.start();
      },
      put,
      remove: (installId) => accessLogs.remove(installId),
      collectUsage: () => reader.collect(),
      stop: () => reader.stop(),
      publish: (proof) => proofs.publish(proof),
      withdraw: (proof) => proofs.withdraw(proof),
      sweepProofs: () => proofs.sweep(),
    },
  };
}
