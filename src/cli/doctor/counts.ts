import type { Database } from '../../database/database.ts';
import { miscountedAccounts } from '../../features/websites/installs/recount-store.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'counts';

/**
 * Compares the numbers that accounts store with their rows: sites, installs and traffic. Also the tags of sites, primary domains and
 * outcomes of operations, as lists read them.
 */
export async function checkCounts(database: Pick<Database, 'withoutTimeLimit'>): Promise<Finding> {
  const accounts = await database.withoutTimeLimit(miscountedAccounts);
  return accounts.length === 0
    ? ok(CHECK, 'What accounts store about their sites, installs, traffic and operations is right.')
    : problem(
        CHECK,
        `What ${accounts.length === 1 ? 'an account stores' : `${accounts.length} accounts store`} about sites, installs, traffic or operations is wrong, so lists are, too.`,
        'homeport account recount',
      );
}
