import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { pendingMigrations, schemaOfNewerProgram } from './migrate.ts';
import { isSchemaChanging } from './schema-change.ts';

const LOOK_MS = 2_000;

/**
 * Resolves with a sentence for the operator once the database belongs to another version, or is about to: a program must not write to a schema
 * that it does not know. Never resolves after `signal`. Until the database is closed, the process that changes the schema sees this one.
 */
export async function untilOtherProgram(
  database: Database,
  signal: AbortSignal,
  lookMs = LOOK_MS,
): Promise<string> {
  // With the API alone, a process follows changes only while users look at the portal.
  if (database.dialect === 'postgres') database.changes.subscribe({ changed() {}, resync() {} });
  for (;;) {
    await sleep(lookMs, undefined, { ref: false });
    if (signal.aborted) return new Promise(() => {});
    try {
      if (await isSchemaChanging(database)) {
        return 'Another machine brings the database to the schema of another version. This process leaves it meanwhile.';
      }
      const newer = await schemaOfNewerProgram(database);
      if (newer !== null) return `${newer.message} ${newer.remedy}`;
      if ((await pendingMigrations(database)).length > 0) {
        return 'The database was put back to the schema of a former version. Run that version, or start this one to migrate it again.';
      }
    } catch {
      // The database is away. Requests and jobs report that.
    }
  }
}
