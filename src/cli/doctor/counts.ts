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
    ? ok(CHECK, 'The stored numbers and lists of sites, installs, traffic and operations are right.')
    : problem(
        CHECK,
        `The stored numbers or lists of ${accounts.length} account${accounts.length === 1 ? ' are' : 's are'} wrong: of sites, installs, traffic or operations.`,
        'homeport account recount',
      );
}
