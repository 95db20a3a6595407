import { manualClock } from '../../../../test/manual-clock.ts';
import { createChallengeFiles } from './challenge-files.ts';
import type { EdgeOptions } from './edge-options.ts';
import { startEdge } from './edge-table.fixture.ts';
import { checkNames } from './names.ts';
import { startServer, type TestServer } from './nginx.fixture.ts';
import type { WebServer } from './web-server.ts';

/** What the cases of both edges use: the one with a configuration for each website, and the one with a table. */
export interface CommonServer
  extends Pick<
    TestServer,
    'layout' | 'clock' | 'http' | 'https' | 'makeInstall' | 'write' | 'link' | 'close'
  > {
  web: Pick<WebServer, 'start' | 'put' | 'publish' | 'withdraw' | 'sweepProofs'>;
  options: Pick<TestServer['options'], 's3' | 'edgeHttp' | 'edgeHttps'>;
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
  const proofs = createChallengeFiles({ folder: edge.layout.proofs, clock });
  const put: WebServer['put'] = async (vhost) => {
    checkNames(vhost.state);
    await edge.serve(vhost);
  };
  return {
    ...edge,
    clock,
    web: {
      async start(vhosts) {
        for (const vhost of vhosts) await put(vhost);
      },
      put,
      publish: (proof) => proofs.publish(proof),
      withdraw: (proof) => proofs.withdraw(proof),
      sweepProofs: () => proofs.sweep(),
    },
  };
}
