import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import type { BackupStatus } from '../../../database/tables/backups.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import { operationColumns, operationsOf } from './store.ts';

/** The latest operations of an install, while it belongs to this account; latest first. */
export function latestOperations(
  queries: Queries,
  { id, account_id }: { id: string; account_id: string },
  states: 'unfinished' | 'finished',
  { kinds, limit }: { kinds: readonly OperationKind[]; limit: number },
) {
  return operationsOf(queries)
    .select(operationColumns)
    .select([
      'operation.seq',
      'job.id as job_id',
      'job.kind as job_kind',
      'job.state',
      'job.payload',
      'job.attempt',
    ])
    .where('operation.install_id', '=', id)
    .where('operation.account_id', '=', account_id)
    .where('operation.kind', 'in', kinds)
    .where('job.state', states === 'unfinished' ? 'in' : 'not in', ['queued', 'running'])
    .orderBy('operation.seq', 'desc')
    .limit(limit)
    .execute();
}

/** The given backups whose install is in `scope`. */
export function findBackupsOfJobs(queries: Queries, scope: Scope, ids: readonly string[]) {
  return queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select(['backup.id', 'backup.description', 'backup.created_at'])
    .where('backup.id', 'in', ids)
    .where((eb) => inScope(eb, scope))
    .execute();
}

/** The given domains that still belong to the install. */
export function findDomainsOfJobs(queries: Queries, installId: string, ids: readonly string[]) {
  return queries
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('install_id', '=', installId)
    .where('id', 'in', ids)
    .execute();
}

/** The statuses of the given backups, by id. */
export async function statusesOfBackups(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, BackupStatus>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.selectFrom('backups').select(['id', 'status']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** The names of the given installs in `scope`, by id. */
export async function namesOfInstalls(
  queries: Queries,
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.name'])
    .where('install.id', 'in', ids)
    .where((eb) => inScope(eb, scope))
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
