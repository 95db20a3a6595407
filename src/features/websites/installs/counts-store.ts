import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';

/** Values that installs are counted by. */
export interface CountedValues {
  status?: string;
  /** Null: installs without one. */
  environment?: string | null;
  /** Installs with waiting updates alone. */
  waiting?: true;
}

/** Whether the number of installs in the scope is stored with its accounts. */
export function hasStoredCounts({ installIds, partial }: Scope): boolean {
  return installIds === null && partial.length === 0;
}

/** The number of installs in a scope of whole accounts, of all or of those with these values. Reads some rows for each account. */
export async function storedCount(queries: Queries, scope: Scope, values: CountedValues): Promise<number> {
  const { status, environment, waiting } = values;
  if (status === undefined && environment === undefined && waiting === undefined) {
    return scope.whole.reduce((sum, membership) => sum + membership.install_count, 0);
  }
  const rows = await queries
    .selectFrom('install_counts')
    .select(['status', 'environment', 'is_waiting', 'installs'])
    .where(
      'account_id',
      'in',
      scope.whole.map((membership) => membership.account_id),
    )
    .execute();
  return rows
    .filter((row) => status === undefined || row.status === status)
    .filter((row) => environment === undefined || row.environment === (environment ?? ''))
    .filter((row) => waiting === undefined || row.is_waiting)
    .reduce((sum, { installs }) => sum + installs, 0);
}
