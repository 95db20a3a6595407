import { type ExpressionBuilder, sql } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import { boundedPage, countBounded } from '../../../database/bounded-page.ts';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasWithoutIndex } from '../../../database/without-index.ts';
import type { OperationStatus } from '../../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

export interface OperationFilters {
  install_id?: string | undefined;
  status?: string | undefined;
  kind?: string | undefined;
}

type Joined = { operation: Tables['operations']; job: Tables['jobs'] };
type Expressions = ExpressionBuilder<Tables & Joined, 'operation'>;

/** The state of its present job, except that an operation can fail although the job did its work. */
const status = sql<OperationStatus>`case when job.state = 'succeeded' and operation.error_code is not null then 'failed' else job.state end`;

/**
 * Operations with their jobs. Unfinished jobs are few and have separate indexes, so their operations are read from them: the portal asks
 * for these every few seconds. SQLite reads the tables of a cross join in this order. Failed and cancelled operations have an index.
 */
function withStatus(queries: Queries, wanted: string | undefined) {
  switch (wanted) {
    case undefined:
      return operationsOf(queries);
    case 'queued':
    case 'running':
      return queries
        .selectFrom('jobs as job')
        .crossJoin('operations as operation')
        .whereRef('operation.job_id', '=', 'job.id')
        .where('job.state', '=', sql.lit(wanted));
    case 'succeeded':
      return operationsOf(queries)
        .where('operation.outcome', 'is', null)
        .where(hasWithoutIndex('job.state', wanted));
    default:
      return operationsOf(queries).where(sql<boolean>`operation.outcome = ${wanted}`);
  }
}

export const operationsOf = (queries: Queries) =>
  queries.selectFrom('operations as operation').innerJoin('jobs as job', 'job.id', 'operation.job_id');

export const operationColumns = [
  'operation.id',
  'operation.kind',
  'operation.account_id',
  'operation.install_id',
  'operation.install_name',
  'operation.progress_done',
  'operation.progress_total',
  'operation.progress_unit',
  'operation.progress_step',
  'operation.result',
  'operation.error_code',
  'operation.error_message',
  'operation.created_at',
  'job.started_at',
  'job.finished_at',
  'job.reason',
  'job.reason_code',
  status.as('status'),
] as const;

/** The operations that a scope shows: of whole accounts, or of granted installs. */
function inScope(eb: Expressions, { userId, whole, partial, installIds }: Scope) {
  const idsOf = (memberships: Scope['whole']) => memberships.map(({ account_id }) => account_id);
  const shown = [];
  if (whole.length > 0) shown.push(eb('operation.account_id', 'in', idsOf(whole)));
  if (partial.length > 0) {
    shown.push(
      eb.and([
        eb('operation.account_id', 'in', idsOf(partial)),
        eb(
          'operation.install_id',
          'in',
          eb
            .selectFrom('install_grants')
            .select('install_id')
            .where('user_id', '=', userId)
            .where('account_id', 'in', idsOf(partial)),
        ),
      ]),
    );
  }
  const own = eb.or(shown);
  if (installIds === null) return own;
  return installIds.length === 0
    ? eb.lit(false)
    : eb.and([own, eb('operation.install_id', 'in', installIds)]);
}

/** The operations in a scope, oldest first. */
export async function pageOfOperations(
  queries: Queries,
  scope: Scope,
  { install_id, status: wanted, kind }: OperationFilters,
  page: PageRequest,
): Promise<PageOf<OperationRecord>> {
  const matching = (eb: Expressions) =>
    eb.and([
      inScope(eb, scope),
      ...(install_id === undefined ? [] : [eb('operation.install_id', '=', install_id)]),
      ...(kind === undefined ? [] : [eb('operation.kind', '=', kind)]),
    ]);
  // Each operation has a job.
  const all = queries.selectFrom('operations as operation');
  const found = withStatus(queries, wanted).where(matching);
  const isOfOperation = wanted === undefined || wanted === 'failed' || wanted === 'cancelled';
  const [count, rows] = await Promise.all([
    countBounded(
      queries,
      isOfOperation
        ? all
            .where(matching)
            .$if(wanted !== undefined, (query) => query.where(sql<boolean>`operation.outcome = ${wanted}`))
        : found,
    ),
    found
      .select(operationColumns)
      .orderBy('operation.seq')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ]);
  return boundedPage(count, rows, page);
}

/** One operation, if the scope shows it. */
export function findOperation(
  queries: Queries,
  scope: Scope,
  id: string,
): Promise<OperationRecord | undefined> {
  return operationsOf(queries)
    .select(operationColumns)
    .where('operation.id', '=', id)
    .where((eb) => inScope(eb, scope))
    .executeTakeFirst();
}

/** Those of the given operations that the scope shows. */
export function findOperations(
  queries: Queries,
  scope: Scope,
  ids: readonly string[],
): Promise<OperationRecord[]> {
  return operationsOf(queries)
    .select(operationColumns)
    .where('operation.id', 'in', ids)
    .where((eb) => inScope(eb, scope))
    .execute();
}

/** The job of an operation, for its cancellation. */
export function findJobOf(queries: Queries, operationId: string) {
  return operationsOf(queries)
    .select(['job.id', 'job.kind', 'job.state', 'job.started_at', 'job.payload'])
    .where('operation.id', '=', operationId)
    .executeTakeFirst();
}

/** Whether an install exists in an account. */
export async function isInstallOf(queries: Queries, installId: string, accountId: string): Promise<boolean> {
  const install = await queries
    .selectFrom('installs')
    .select('id')
    .where('id', '=', installId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return install !== undefined;
}

/** Whether an operation of a kind waits or runs on an install. */
export async function isKindUnderWay(queries: Queries, installId: string, kind: string): Promise<boolean> {
  const found = await operationsOf(queries)
    .select('operation.id')
    .where('operation.install_id', '=', installId)
    .where('operation.kind', '=', kind)
    .where('job.state', 'in', ['queued', 'running'])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Those of the given operations that have ended, or do not exist any more. */
export async function endedOperations(queries: Queries, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await operationsOf(queries)
    .select('operation.id')
    .where('operation.id', 'in', ids)
    .where('job.state', 'in', ['queued', 'running'])
    .execute();
  const unfinished = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !unfinished.has(id));
}

export type OperationRecord = Awaited<ReturnType<typeof anyOperation>>;
const anyOperation = (queries: Queries) =>
  operationsOf(queries).select(operationColumns).executeTakeFirstOrThrow();
