import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { schemaOfNewerProgram } from './migrate.ts';
import { isSchemaChanging } from './schema-change.ts';

const LOOK_MS = 2_000;

/**
 * Resolves with a sentence for the operator once the database belongs to a newer program, or is about to: a program must not write to a schema
 * that it does not know. Never resolves after `signal`.
 */
export async function untilNewerProgram(
  database: Database,
  signal: AbortSignal,
  lookMs = LOOK_MS,
): Promise<string> {
  for (;;) {
    await sleep(lookMs, undefined, { ref: false });
    if (signal.aborted) return new Promise(() => {});
    try {
      if (await isSchemaChanging(database)) {
        return 'Another machine brings the database up to date for another version. This process leaves it meanwhile.';
      }
      const newer = await schemaOfNewerProgram(database);
      if (newer !== null) return `${newer.message} ${newer.remedy}`;
    } catch {
      // The database is away. Requests and jobs report that.
    }
  }
}
