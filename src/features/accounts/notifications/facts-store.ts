import type { Queries } from '../../../database/database.ts';
import type { OperationFacts } from './notices.ts';

/** Facts of operations that their events do not have. */
export async function operationFacts(queries: Queries, ids: readonly string[]): Promise<OperationFacts[]> {
  if (ids.length === 0) return [];
  const rows = await queries
    .selectFrom('operations as operation')
    .innerJoin('jobs as job', 'job.id', 'operation.job_id')
    .select([
      'operation.id',
      'operation.kind',
      'operation.result',
      'operation.error_code',
      'operation.error_message',
      'operation.install_name',
      'job.reason',
      'job.reason_code',
      'job.request_id',
    ])
    .where('operation.id', 'in', ids)
    .execute();
  const requests = [...new Set(rows.flatMap(({ request_id }) => request_id ?? []))];
  const starters = requests.length === 0 ? [] : await startersOf(queries, requests);
  const byRequest = new Map(starters.map(({ request_id, user_id }) => [request_id, user_id]));
  const backups = rows.flatMap(({ kind, result }) =>
    kind === 'backup.create' ? (backupIdOf(result) ?? []) : [],
  );
  const checkpoints = new Set(backups.length === 0 ? [] : await checkpointsAmong(queries, backups));
  return rows.map((row) => ({
    id: row.id,
    starter: row.request_id === null ? null : (byRequest.get(row.request_id) ?? null),
    error_code: row.error_code ?? row.reason_code,
    reason: row.error_message ?? row.reason,
    install_name: row.install_name,
    is_checkpoint: row.kind === 'backup.create' && checkpoints.has(backupIdOf(row.result) ?? ''),
  }));
}

function startersOf(queries: Queries, requests: readonly string[]) {
  return queries
    .selectFrom('activity')
    .select(['request_id', 'user_id'])
    .distinct()
    .where('request_id', 'in', requests)
    .where('user_id', 'is not', null)
    .execute();
}

async function checkpointsAmong(queries: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('backups')
    .select('id')
    .where('id', 'in', ids)
    .where('checkpoint', '=', true)
    .execute();
  return rows.map(({ id }) => id);
}

function backupIdOf(result: unknown): string | undefined {
  const id: unknown =
    typeof result === 'object' && result !== null ? Reflect.get(result, 'backup_id') : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The names of installs by id. */
export async function installNames(queries: Queries, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.selectFrom('installs').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
