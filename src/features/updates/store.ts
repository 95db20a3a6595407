import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { WordPressUpdateStatus } from '../../database/tables/wordpress-updates.ts';
import type { AvailableUpdate, WantedUpdates } from '../../hosting/contract/wordpress-updates.ts';
import type { OperationErrorCode } from '../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';

const kinds = Type.Union([Type.Literal('core'), Type.Literal('plugin'), Type.Literal('theme')]);
const item = Type.Object({
  kind: kinds,
  id: Type.String(),
  name: Type.String(),
  from: Type.String(),
  to: Type.String(),
});
const items = Type.Union([Type.Literal('all'), Type.Array(Type.String())]);
const wantedSchema = Type.Object({
  core: Type.Union([Type.String(), Type.Null()]),
  plugins: items,
  themes: items,
});

const OPEN: WordPressUpdateStatus[] = ['requested', 'running'];

export interface NewUpdate {
  id: string;
  install_id: string;
  cause: 'request' | 'schedule';
  wanted: WantedUpdates;
  created_at: string;
}

/** An update of an install. */
export interface StoredUpdate {
  id: string;
  install_id: string;
  cause: 'request' | 'schedule';
  status: WordPressUpdateStatus;
  wanted: Static<typeof wantedSchema>;
  checkpoint_id: string | null;
  made: AvailableUpdate[];
  /** The update that was rolled back. */
  broken: AvailableUpdate | null;
  reason: string | null;
  reason_code: string | null;
  begun_at: string | null;
  restored: boolean;
  created_at: string;
  finished_at: string | null;
}

export async function insertUpdate(queries: Queries, update: NewUpdate): Promise<void> {
  await queries
    .insertInto('wordpress_updates')
    .values({
      ...update,
      status: 'requested',
      wanted: JSON.stringify(update.wanted),
      core_to: update.wanted.core,
      checkpoint_id: null,
      made: '[]',
      broken: null,
      reason: null,
      reason_code: null,
      begun_at: null,
      restored: false,
      finished_at: null,
    })
    .execute();
}

const select = (queries: Queries) =>
  queries
    .selectFrom('wordpress_updates')
    .select(['id', 'install_id', 'cause', 'status', 'wanted', 'checkpoint_id', 'made', 'broken', 'reason'])
    .select(['reason_code', 'begun_at', 'restored', 'created_at', 'finished_at']);

export async function findUpdate(queries: Queries, id: string): Promise<StoredUpdate | undefined> {
  const row = await select(queries).where('id', '=', id).executeTakeFirst();
  return row && stored(row);
}

/** The number of updates of the install that are requested or run. */
export async function countOpen(queries: Queries, installId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('wordpress_updates')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('install_id', '=', installId)
    .where('status', 'in', OPEN)
    .executeTakeFirstOrThrow();
  return count;
}

/** The updates of an install, newest first. */
export async function pageOfUpdates(
  queries: Queries,
  installId: string,
  { limit, offset }: PageRequest,
): Promise<PageOf<StoredUpdate>> {
  const mine = queries.selectFrom('wordpress_updates').where('install_id', '=', installId);
  const { count } = await mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const rows = await select(queries)
    .where('install_id', '=', installId)
    .orderBy('seq', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { count, results: rows.map(stored) };
}

/** Marks an update as running, with its checkpoint. False if it has ended. */
export async function runUpdate(queries: Queries, id: string, checkpointId: string): Promise<boolean> {
  const row = await queries
    .updateTable('wordpress_updates')
    .set({ status: 'running', checkpoint_id: checkpointId })
    .where('id', '=', id)
    .where('status', '=', 'requested')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that the host begins to change the website. */
export async function noteBegun(queries: Queries, id: string, now: string): Promise<void> {
  await queries
    .updateTable('wordpress_updates')
    .set({ begun_at: now })
    .where('id', '=', id)
    .where('begun_at', 'is', null)
    .execute();
}

export interface UpdateEnd {
  status: Exclude<WordPressUpdateStatus, 'requested' | 'running'>;
  made?: readonly AvailableUpdate[];
  broken?: AvailableUpdate | null;
  reason?: string | null;
  reason_code?: OperationErrorCode | null;
  restored?: boolean;
  finished_at: string;
}

/** Ends an update. Returns how far it was before; undefined if it has ended already. */
export async function endUpdate(
  queries: Queries,
  id: string,
  {
    status,
    made = [],
    broken = null,
    reason = null,
    reason_code = null,
    restored = false,
    finished_at,
  }: UpdateEnd,
): Promise<Pick<StoredUpdate, 'status' | 'begun_at'> | undefined> {
  const before = await queries
    .selectFrom('wordpress_updates')
    .select(['status', 'begun_at'])
    .where('id', '=', id)
    .where('status', 'in', OPEN)
    .executeTakeFirst();
  if (before === undefined) return undefined;
  await queries
    .updateTable('wordpress_updates')
    .set({
      status,
      made: JSON.stringify(made),
      broken: broken === null ? null : JSON.stringify(broken),
      reason,
      reason_code,
      restored,
      finished_at,
    })
    .where('id', '=', id)
    .execute();
  return before;
}

/** Notes that the checkpoint of an ended update is being restored. */
export async function noteRestored(queries: Queries, id: string): Promise<void> {
  await queries.updateTable('wordpress_updates').set({ restored: true }).where('id', '=', id).execute();
}

/** The updates of plugins and themes that were rolled back on an install, as `kind id version`. */
export async function rolledBackItems(queries: Queries, installId: string): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('wordpress_updates')
    .select('broken')
    .where('install_id', '=', installId)
    .where('status', '=', 'rolled_back')
    .execute();
  return new Set(
    rows.flatMap(({ broken }) => {
      const known = brokenItem(broken);
      return known === null ? [] : [itemKey(known)];
    }),
  );
}

/** The update that a stored rollback names; null if it names none. */
export function brokenItem(broken: unknown): AvailableUpdate | null {
  return Value.Check(item, broken) ? broken : null;
}

export const itemKey = ({ kind, id, to }: Pick<AvailableUpdate, 'kind' | 'id' | 'to'>) =>
  `${kind} ${id} ${to}`;

export async function deleteUpdatesBefore(queries: Queries, time: string): Promise<void> {
  await queries
    .deleteFrom('wordpress_updates')
    .where('created_at', '<', time)
    .where('status', 'not in', OPEN)
    .execute();
}

function stored<Row extends Pick<StoredUpdate, 'id'> & { wanted: unknown; made: unknown; broken: unknown }>(
  row: Row,
) {
  return {
    ...row,
    wanted: Value.Parse(wantedSchema, row.wanted),
    made: Value.Parse(Type.Array(item), row.made),
    broken: row.broken === null ? null : Value.Parse(item, row.broken),
  };
}
