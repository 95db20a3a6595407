import type { EdgeOptions } from './edge-options.ts';
import { startServer, type TestServer } from './nginx.fixture.ts';
import { createTableWebServer } from './table-web-server.ts';
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
  { edge: 'a table of rows', startServer: (changes) => startServer(changes, createTableWebServer) },
];
