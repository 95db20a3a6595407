import type { Database } from '../../database/database.ts';
import { lostFormerStates } from '../../features/backups/former-state-store.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

const CHECK = 'checkpoints';
/** As long as checkpoints are sure to be there. */
const REPORTED_MS = 14 * DAY_MS;

/** Finds websites that were not returned to the checkpoint of failed work. */
export async function checkCheckpoints(
  { reader }: Pick<Database, 'reader'>,
  clock: Clock,
): Promise<Finding[]> {
  const lost = await lostFormerStates(reader, timestamp(clock, -REPORTED_MS));
  if (lost.length === 0) return [ok(CHECK, 'Each website was returned to its checkpoint after failed work.')];
  return lost.map(({ install_name, backup_id, since, error }) =>
    problem(
      CHECK,
      `The website of ${install_name} was not returned to its checkpoint at ${since}: ${error === null ? 'the return was cancelled' : reasonOf(error)}.`,
      `Look at the website, and restore the backup ${backup_id} or another one if it is damaged.`,
    ),
  );
}
