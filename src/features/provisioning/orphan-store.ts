import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Database, Queries } from '../../database/database.ts';

/** Stands for the embedded host, which has no id. */
export const EMBEDDED = 'embedded';

/** An install on a host without a row in the database. */
export interface Orphan {
  /** Id of the host, or {@link EMBEDDED}. */
  host: string;
  id: string;
  name: string | null;
  hostnames: string[];
  /** Whether the host still serves it. */
  is_served: boolean;
  found_at: string;
}

const hostnames = Type.Array(Type.String());

/** The platform's id for its hosts. The first call stores `made`. */
export async function providePlatformId(
  database: Pick<Database, 'reader' | 'write'>,
  made: string,
): Promise<string> {
  const present = await findPlatformId(database.reader);
  if (present !== undefined) return present;
  return database.write(async ({ queries }) => {
    await queries
      .insertInto('platform_identity')
      .values({ one: 1, id: made })
      .onConflict((conflict) => conflict.column('one').doNothing())
      .execute();
    const { id } = await queries.selectFrom('platform_identity').select('id').executeTakeFirstOrThrow();
    return id;
  });
}

export async function findPlatformId(queries: Queries): Promise<string | undefined> {
  return (await queries.selectFrom('platform_identity').select('id').executeTakeFirst())?.id;
}

/** All orphans, by host and name. */
export async function allOrphans(queries: Queries): Promise<Orphan[]> {
  const rows = await queries
    .selectFrom('orphaned_installs')
    .selectAll()
    .orderBy('host')
    .orderBy('name')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, hostnames: Value.Parse(hostnames, row.hostnames) }));
}

/** The orphans of a host with this name. */
export function orphansNamed(queries: Queries, host: string, name: string) {
  return queries
    .selectFrom('orphaned_installs')
    .select(['id', 'is_served'])
    .where('host', '=', host)
    .where('name', '=', name)
    .execute();
}

/** The hosts on which another website than this install has its name. */
export async function hostsWithNamesake(
  queries: Queries,
  { id, name }: { id: string; name: string },
): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('orphaned_installs')
    .select('host')
    .where('name', '=', name)
    .where('id', '!=', id)
    .execute();
  return new Set(rows.map(({ host }) => host));
}

/** Replaces the orphans of a host with the latest findings; each keeps the time it was first found. */
export async function replaceOrphans(
  queries: Queries,
  host: string,
  found: readonly Omit<Orphan, 'host'>[],
): Promise<void> {
  const before = await queries
    .selectFrom('orphaned_installs')
    .select(['id', 'found_at'])
    .where('host', '=', host)
    .execute();
  if (before.length === 0 && found.length === 0) return;
  const since = new Map(before.map((row) => [row.id, row.found_at]));
  await queries.deleteFrom('orphaned_installs').where('host', '=', host).execute();
  for (let at = 0; at < found.length; at += ROWS_AT_ONCE) {
    const rows = found.slice(at, at + ROWS_AT_ONCE).map((orphan) => ({
      ...orphan,
      host,
      hostnames: JSON.stringify(orphan.hostnames),
      found_at: since.get(orphan.id) ?? orphan.found_at,
    }));
    await queries.insertInto('orphaned_installs').values(rows).execute();
  }
}

/** Databases limit the values in one statement. */
const ROWS_AT_ONCE = 500;

export async function deleteOrphan(queries: Queries, host: string, id: string): Promise<void> {
  await queries.deleteFrom('orphaned_installs').where('host', '=', host).where('id', '=', id).execute();
}

/** The known installs among these, on this host or not placed yet; on {@link EMBEDDED} any. */
export async function installsOf(queries: Queries, host: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return queries
    .selectFrom('installs')
    .select(['id', 'status'])
    .where('id', 'in', ids)
    .$if(host !== EMBEDDED, (query) =>
      query.where((of) => of.or([of('host_id', '=', host), of('host_id', 'is', null)])),
    )
    .execute();
}

/** The ids of the active installs of this host; on {@link EMBEDDED} all. */
export async function activeInstallsOf(queries: Queries, host: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('installs')
    .select('id')
    .where('status', '=', 'active')
    .$if(host !== EMBEDDED, (query) => query.where('host_id', '=', host))
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether a lane has an unfinished job. */
export async function isLaneBusy(queries: Queries, lane: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', lane)
    .where('state', 'in', ['queued', 'running'])
    .limit(1)
    .executeTakeFirst();
  return job !== undefined;
}
