import type { Database } from '../../database/database.ts';
import { unsettledImports } from '../../features/backups/imports/unsettled-store.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

const CHECK = 'imports';
/** As long as checkpoints are sure to be there. */
const REPORTED_MS = 14 * DAY_MS;

/** Finds failed imports of which no host has said whether they had replaced the website. */
export async function checkImports({ reader }: Pick<Database, 'reader'>, clock: Clock): Promise<Finding[]> {
  const unsettled = await unsettledImports(reader, timestamp(clock, -REPORTED_MS));
  if (unsettled.length === 0) return [ok(CHECK, 'Each failed import has left the former website.')];
  return unsettled.map(({ install_name, checkpoint_id, since, error }) =>
    problem(
      CHECK,
      `A failed import may have replaced the website of ${install_name} since ${since}: ${reasonOf(error ?? 'the reason is unknown')}.`,
      `The server asks its host again for a day. Afterwards, look at the website, and restore the backup ${checkpoint_id} if it is not the former one.`,
    ),
  );
}
