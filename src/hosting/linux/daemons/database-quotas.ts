import type { Logger } from 'pino';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import type { Databases } from './databases.ts';

/** Keeps each database below a size, so that no website fills the disk of all. */
export interface DatabaseQuotas {
  start(): void;
  stop(): Promise<void>;
  /** Lets the users of databases that are too large only read and delete, and those of others write again. */
  check(): Promise<void>;
}

const CHECK_EVERY_MS = 60_000;

export function createDatabaseQuotas({
  databases,
  names,
  mostBytes,
  log,
}: {
  databases: Pick<Databases, 'fileBytes' | 'dataBytes' | 'readOnly' | 'setReadOnly'>;
  /** The databases of websites. Others, such as those of a restore in progress, may be larger for a while. */
  names(): string[];
  /** Null: no limit. */
  mostBytes: number | null;
  log: Logger;
}): DatabaseQuotas {
  let repetition: Repetition | undefined;

  async function check(): Promise<void> {
    const files = await databases.fileBytes();
    const readOnly = await databases.readOnly();
    for (const database of names()) {
      const wasFull = readOnly.has(database);
      const isLarge = mostBytes !== null && (files.get(database) ?? 0) > mostBytes;
      if (!isLarge && !wasFull) continue;
      // The files of a database keep the room of deleted rows.
      const isFull = isLarge && (await databases.dataBytes(database)) > mostBytes;
      if (isFull === wasFull) continue;
      await databases.setReadOnly(database, isFull);
      if (isFull) log.warn(`the database ${database} is too large: its user may only read and delete`);
      else log.info(`the database ${database} takes writes again`);
    }
  }

  return {
    check,
    start() {
      repetition ??= repeatEvery(check, {
        delayMs: CHECK_EVERY_MS,
        onError: (err) => log.warn({ err }, 'could not check the sizes of databases'),
      });
    },
    async stop() {
      await repetition?.stop();
    },
  };
}
