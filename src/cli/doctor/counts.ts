import type { Database } from '../../database/database.ts';
import { miscountedAccounts } from '../../features/websites/installs/recount-store.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'counts';

/** Compares the numbers of sites and installs that accounts store with their rows. */
export async function checkCounts({ reader }: Pick<Database, 'reader'>): Promise<Finding> {
  const accounts = await miscountedAccounts(reader);
  return accounts.length === 0
    ? ok(CHECK, 'The stored numbers of sites and installs are right.')
    : problem(
        CHECK,
        `The stored numbers of sites and installs of ${accounts.length} account${accounts.length === 1 ? ' are' : 's are'} wrong.`,
        'homeport account recount',
      );
}
