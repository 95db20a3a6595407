import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openDatabase } from '../database/open.ts';
import { canPass } from '../database/unusable.ts';
import { type Announce, MAY_TAKE_LONG } from '../lib/start-steps.ts';

/** A restart of PostgreSQL, with its recovery, takes less. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1_000;

/**
 * Waits while PostgreSQL cannot be reached. A service that ended instead would look like a broken version to an upgrade. Resolves when the time
 * is over, too: what uses the database next reports the fault.
 */
export async function untilReachable(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Logger,
  announce: Announce,
  { patienceMs = PATIENCE_MS, retryMs = RETRY_MS } = {},
): Promise<void> {
  if (config.databaseUrl === null) return;
  const until = performance.now() + patienceMs;
  for (let tried = 0; ; tried++) {
    const fault = await faultOf(config, log);
    if (fault === null || !canPass(fault.error)) return;
    // Before the time, which the first attempt can take alone on a busy machine.
    if (tried === 0) {
      log.warn({ err: fault.error }, 'the database cannot be reached, so the start waits for it');
      await announce(`Waiting for the database ${MAY_TAKE_LONG}`);
    }
    if (performance.now() > until) return;
    await sleep(retryMs);
  }
}

/** Why the database does not answer; null if it does. */
async function faultOf(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Logger,
): Promise<{ error: unknown } | null> {
  const database = openDatabase(config, log);
  try {
    await database.ping();
    return null;
  } catch (error) {
    return { error };
  } finally {
    await database.close();
  }
}
