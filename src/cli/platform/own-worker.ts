import { trustsAddress } from '../../api/client-address.ts';
import { createHomeportWorker, createHost } from '../../app/homeport-worker.ts';
import type { Services } from '../../app/services.ts';
import { createShutdown } from '../../app/shutdown.ts';
import { compareWebsites } from '../../features/hosts/websites-folder.ts';
import { createSocketLimiters } from '../../network/connections/socket-limiters.ts';
import type { Platform } from '../../platform/platform.ts';
import type { StartedWorker } from '../terminal/follow-job.ts';
import { tryToLockWebsites } from './websites-lock.ts';

/** The system chooses a port that no visitor knows. */
const PRIVATE = { host: '127.0.0.1', port: 0 };
/** Bound of a stop beyond the grace of jobs. Both together are shorter than a server waits for the websites (websites-lock.ts). */
const STOP_MS = 8_000;
/** Time to print the outcome of a command whose work does not stop. */
const OUTCOME_MS = 5_000;

/**
 * A worker in this process, for commands without a running server. Jobs wait until the edge serves a change, so a hosting process
 * runs an edge too. Its ports are unknown to visitors, because the operator may have stopped the server to hide the sites. Null if another
 * process uses the websites: the PHP of two processes would damage the databases of websites.
 */
export async function startOwnWorker(platform: Platform, services: Services): Promise<StartedWorker | null> {
  const lock = platform.config.host === 'embedded' ? tryToLockWebsites(platform.config) : undefined;
  if (lock === null) return null;
  const config = { ...platform.config, edgeHttp: PRIVATE, edgeHttps: PRIVATE, sshListen: PRIVATE };
  const { log, clock } = platform;
  const isTrusted = (address: string) => trustsAddress(config.trustProxy, address);
  const connections = createSocketLimiters({ isTrusted, log, clock });
  const websites = createHost({ ...platform, config }, compareWebsites, connections);
  const { host, objectStorage } = websites;
  const shutdown = createShutdown(log);
  /** Another process must not use the websites while part of this one goes on, so only its end unlocks them then. */
  async function stop(graceMs: number): Promise<boolean> {
    const failed = await shutdown.run(graceMs, graceMs + STOP_MS);
    if (failed.length === 0) {
      lock?.release();
      return true;
    }
    process.stderr.write(`homeport: stopped with errors: ${failed.join(', ')}. The log has the reasons.\n`);
    // Running work keeps the process alive. The command prints its outcome first.
    setTimeout(() => process.exit(), OUTCOME_MS).unref();
    return false;
  }
  shutdown.add('object storage', () => objectStorage.close());
  try {
    await host.start();
  } catch (error) {
    await stop(0);
    throw error;
  }
  shutdown.add('host', () => host.stop());
  const { worker } = createHomeportWorker(platform, services, websites);
  shutdown.add('worker', (graceMs) => worker.stop(graceMs));
  worker.start();
  return { stop };
}
