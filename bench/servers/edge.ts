import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { createEmbeddedHost } from '../../src/hosting/embedded/embedded-host.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { DAY_MS } from '../../src/lib/durations.ts';
import { createSocketLimiters } from '../../src/network/connections/socket-limiters.ts';
import { createSealer } from '../../src/secrets/sealer.ts';

// The embedded host alone. Arguments: its folder (with the key for sealing in the file `sealing-key`), HTTP and HTTPS port.
const [folder = '', http, https] = process.argv.slice(2);
const noStorage = () => {
  throw new Error('the bench has no object storage');
};
const log = pino({ level: 'warn' }, pino.destination(2));
const host = createEmbeddedHost({
  folder,
  edgeHttp: { host: '127.0.0.1', port: Number(http) },
  edgeHttps: { host: '127.0.0.1', port: Number(https) },
  sshListen: { host: '127.0.0.1', port: 0 },
  siteDomain: 'bench.test',
  sealer: createSealer(readFileSync(join(folder, 'sealing-key'))),
  objectStorage: { get: noStorage, publicUrl: noStorage },
  questions: { sshLogin: async () => null },
  // Trusts the client as a proxy, because one machine sends the load of many.
  connections: createSocketLimiters({ isTrusted: () => true, log, clock: systemClock }),
  log,
  clock: systemClock,
  listen: true,
  logRules: { days: 14, wholeAddressMs: DAY_MS, mostBytes: 1024 ** 3 },
});
await host.start();
process.once('SIGTERM', () => host.stop());
