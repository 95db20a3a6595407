import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';

/** The most installs in one statement. */
const CHUNK = 500;

function chunks<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, at) =>
    items.slice(at * CHUNK, (at + 1) * CHUNK),
  );
}

/** An incident that has not ended. */
export interface OpenIncident {
  id: string;
  install_id: string;
  cause: string;
  started_at: string;
  confirmed_at: string | null;
}

/** The incidents that have not ended, by install. */
export async function openIncidents(queries: Queries): Promise<Map<string, OpenIncident>> {
  const rows = await queries
    .selectFrom('uptime_incidents')
    .select(['id', 'install_id', 'cause', 'started_at', 'confirmed_at'])
    .where('ended_at', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.install_id, row]));
}

/** Begins an incident that the next check confirms or drops. Does nothing if the install has been deleted. */
export async function suspectIncident(
  queries: Queries,
  incident: { id: string; install_id: string; cause: string; message: string; started_at: string },
): Promise<void> {
  await queries
    .insertInto('uptime_incidents')
    .columns(['id', 'install_id', 'cause', 'message', 'started_at'])
    .expression((eb) =>
      eb
        .selectFrom('installs')
        .select((of) => [
          of.val(incident.id).as('id'),
          'id as install_id',
          of.val(incident.cause).as('cause'),
          of.val(incident.message).as('message'),
          of.val(incident.started_at).as('started_at'),
        ])
        .where('id', '=', incident.install_id),
    )
    .execute();
}

/** Makes suspicions incidents. Their triggers write the events. */
export async function confirmIncident(
  queries: Queries,
  id: string,
  fields: { cause: string; message: string; php_error: string | null; confirmed_at: string },
): Promise<void> {
  await queries.updateTable('uptime_incidents').set(fields).where('id', '=', id).execute();
}

/** Drops suspicions, and moves their beginning if the check before is too long ago. */
export async function dropSuspicions(queries: Queries, ids: readonly string[]): Promise<void> {
  for (const some of chunks(ids)) {
    await queries
      .deleteFrom('uptime_incidents')
      .where('id', 'in', some)
      .where('confirmed_at', 'is', null)
      .execute();
  }
}

/** Ends incidents. `unwatched`: no one knows whether the websites answer. */
export async function endIncidents(
  queries: Queries,
  ids: readonly string[],
  ended_at: string,
  end: 'recovered' | 'unwatched',
): Promise<void> {
  for (const some of chunks(ids)) {
    await queries
      .updateTable('uptime_incidents')
      .set({ ended_at, end_kind: end })
      .where('id', 'in', some)
      .execute();
  }
}

/** Kind of the latest span of each install, if its last check was at `since` or later. */
export async function presentSpans(queries: Queries, since: string): Promise<Map<string, boolean>> {
  const rows = await queries
    .selectFrom('uptime_spans')
    .select(['install_id', 'is_up'])
    .where('last_at', '>=', since)
    .orderBy('first_at')
    .execute();
  return new Map(rows.map(({ install_id, is_up }) => [install_id, is_up]));
}

/** Extends the latest span of each of these installs to `now`. */
export async function extendSpans(
  queries: Queries,
  installIds: readonly string[],
  { since, now }: { since: string; now: string },
): Promise<void> {
  for (const some of chunks(installIds)) {
    await queries
      .updateTable('uptime_spans')
      .set({ last_at: now })
      .where('install_id', 'in', some)
      .where('last_at', '>=', since)
      .where('first_at', '=', (eb) =>
        eb
          .selectFrom('uptime_spans as later')
          .select(({ fn }) => fn.max('later.first_at').as('first_at'))
          .whereRef('later.install_id', '=', 'uptime_spans.install_id'),
      )
      .execute();
  }
}

/** Begins spans of these installs, as far as they still exist. */
export async function beginSpans(
  queries: Queries,
  spans: readonly { install_id: string; first_at: string; last_at: string; is_up: boolean }[],
): Promise<void> {
  for (const some of chunks(spans)) {
    const present = await queries
      .selectFrom('installs')
      .select('id')
      .where(
        'id',
        'in',
        some.map(({ install_id }) => install_id),
      )
      .execute();
    const ids = new Set(present.map(({ id }) => id));
    const values = some.filter(({ install_id }) => ids.has(install_id));
    if (values.length === 0) continue;
    await queries
      .insertInto('uptime_spans')
      .values(values)
      .onConflict((conflict) =>
        conflict
          .columns(['install_id', 'first_at'])
          .doUpdateSet({ last_at: sql`excluded.last_at`, is_up: sql`excluded.is_up` }),
      )
      .execute();
  }
}

/** Deletes what is older than the history that users see. */
export async function deleteUptimeBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('uptime_spans').where('last_at', '<', before).execute();
  await queries.deleteFrom('uptime_incidents').where('ended_at', '<', before).execute();
}
