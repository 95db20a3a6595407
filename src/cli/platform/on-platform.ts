import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createHostCallers } from '../../app/host-callers.ts';
import { createLazyFleet } from '../../app/lazy-fleet.ts';
import { openPlatform } from '../../app/open-platform.ts';
import { createServices, type Services } from '../../app/services.ts';
import { askForWordPress } from '../../app/serving-socket.ts';
import type { Config } from '../../config/config.ts';
import { SQLITE_FILE } from '../../database/open.ts';
import { isDatabaseFault, unusableDatabase } from '../../database/unusable.ts';
import { hasCode } from '../../lib/error-code.ts';
import { messageOf } from '../../lib/error-message.ts';
import { Conflict, InvalidRequest, UpstreamFailed } from '../../lib/failures.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { createQuietLog } from './quiet-log.ts';

/** The work of a command. */
export type PlatformWork = (platform: Platform, services: Services) => Promise<void>;

/** Opens the configured platform for a command, with or without a running server. */
export async function onPlatform(config: Config, work: PlatformWork): Promise<void> {
  requireSetUp(config);
  const platform = await openPlatform(config, { log: await createQuietLog(config), isCommand: true });
  const fleet = createLazyFleet(platform);
  try {
    const services = createServices(platform, {
      ...createHostCallers(platform, fleet.host),
      wordpressHere: () => askForWordPress(config),
    });
    await work(platform, services);
  } catch (error) {
    if (error instanceof InvalidRequest) throw new OperatorError(sentences(error), { cause: error });
    if (error instanceof Conflict) throw new OperatorError(error.message, { cause: error });
    if (error instanceof UpstreamFailed) {
      throw new OperatorError(messageOf(error.cause ?? error), { cause: error });
    }
    throw isDatabaseFault(error) ? unusableDatabase(config, error) : error;
  } finally {
    await fleet.close();
    await platform.database.close();
  }
}

/** Keeps a command in the wrong folder from creating a second, empty Homeport. Throws OperatorError. */
export function requireSetUp({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const needed = databaseUrl === null ? join(dataDir, SQLITE_FILE) : dataDir;
  try {
    statSync(needed);
    return;
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) {
      throw new OperatorError(
        `The data folder ${dataDir} cannot be read (${messageOf(error)}). ` +
          'Run this as the user that Homeport runs as.',
      );
    }
  }
  throw new OperatorError(
    `There is no Homeport in ${dataDir}. Name its data folder in HOMEPORT_DATA_DIR, ` +
      'or create one with "homeport serve" or "homeport migrate".',
  );
}

/** Joins the sentences of all faults, or uses that of the failure. */
function sentences({ message, faults }: InvalidRequest): string {
  const all = faults.length === 0 ? [message] : faults.map((fault) => fault.message);
  return all.map((sentence) => (sentence.endsWith('.') ? sentence : `${sentence}.`)).join(' ');
}
