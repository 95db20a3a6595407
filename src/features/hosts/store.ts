import type { Updateable } from 'kysely';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Database, Queries } from '../../database/database.ts';
import { OPEN_MOVE } from '../../database/tables/moves.ts';
import type { Tables } from '../../database/tables.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import { descriptionSchema } from '../../hosting/contract/message-values.ts';
import { storedLabels } from './labels.ts';

/** A host as the control plane knows it. */
export interface KnownHost {
  id: string;
  name: string;
  /** `unix:` and a path, or `https://address:port`. */
  address: string;
  /** Host name or IP address for SFTP and SSH; null: not set. */
  public_name: string | null;
  /** The addresses of its edge, for A and AAAA records. Empty: those from the settings. */
  edge_addresses: string[];
  /** Words by which accounts choose hosts. */
  labels: string[];
  /** Whether it takes only installs of accounts that want its labels. */
  reserved: boolean;
  accepting: boolean;
  /** Its latest description; null before the first. */
  description: HostDescription | null;
  seen_at: string | null;
  /** Why it does not answer; null while it does. */
  reason: string | null;
  /** When the operator gave it up; null: it was not. */
  lost_at: string | null;
}

const select = (queries: Queries) =>
  queries
    .selectFrom('hosts')
    .select([
      'id',
      'name',
      'address',
      'public_name',
      'edge_addresses',
      'labels',
      'reserved',
      'accepting',
      'description',
      'seen_at',
      'reason',
      'lost_at',
    ])
    .orderBy('seq');

/** Every host, oldest first. */
export async function allHosts(queries: Queries): Promise<KnownHost[]> {
  return (await select(queries).execute()).map(known);
}

/** The public names of all hosts. */
export async function publicNamesOfHosts(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('hosts')
    .select('public_name')
    .where('public_name', 'is not', null)
    .execute();
  return rows.flatMap(({ public_name }) => (public_name === null ? [] : [public_name]));
}

/** What decides about the capabilities of an install; undefined if there is none with that id. */
export function findHosted(queries: Queries, installId: string) {
  return queries
    .selectFrom('installs')
    .select(['host_id', 'runtime'])
    .where('id', '=', installId)
    .executeTakeFirst();
}

export async function findHost(
  queries: Queries,
  by: { id: string } | { name: string },
): Promise<KnownHost | undefined> {
  const query = select(queries);
  const row = await ('id' in by
    ? query.where('id', '=', by.id)
    : query.where('name', '=', by.name)
  ).executeTakeFirst();
  return row && known(row);
}

const addresses = Type.Array(Type.String());

function known<Row extends { description: unknown; edge_addresses: unknown; labels: unknown }>(row: Row) {
  const { description, edge_addresses, labels } = row;
  return {
    ...row,
    edge_addresses: Value.Parse(addresses, edge_addresses),
    labels: storedLabels(labels),
    // A description in an older version's format is replaced at the next status check.
    description: Value.Check(descriptionSchema, description) ? description : null,
  };
}

/** Adds a host without a description. */
export async function insertHost(
  queries: Queries,
  {
    edge_addresses,
    ...host
  }: Pick<KnownHost, 'id' | 'name' | 'address' | 'public_name' | 'edge_addresses'> & { created_at: string },
): Promise<void> {
  await queries
    .insertInto('hosts')
    .values({
      ...host,
      edge_addresses: JSON.stringify(edge_addresses),
      description: null,
      seen_at: null,
      reason: null,
    })
    .execute();
}

export type HostChange = Omit<Updateable<Tables['hosts']>, 'edge_addresses' | 'labels'> &
  Partial<Pick<KnownHost, 'edge_addresses' | 'labels'>>;

export async function updateHost(
  queries: Queries,
  id: string,
  { edge_addresses, labels, ...change }: HostChange,
): Promise<void> {
  const told = {
    ...(edge_addresses === undefined ? {} : { edge_addresses: JSON.stringify(edge_addresses) }),
    ...(labels === undefined ? {} : { labels: JSON.stringify(labels) }),
  };
  await queries
    .updateTable('hosts')
    .set({ ...change, ...told })
    .where('id', '=', id)
    .execute();
}

/** What a host says about itself, and that it answers. A host that was given up stays so. */
export async function noteAnswer(
  queries: Queries,
  { description, at }: { description: HostDescription; at: string },
): Promise<void> {
  await queries
    .updateTable('hosts')
    .set({ description: JSON.stringify(description), seen_at: at, reason: null })
    .where('id', '=', description.id)
    .where('lost_at', 'is', null)
    .execute();
}

/** Why a host does not answer. A host that was given up keeps that reason. */
export async function noteSilence(queries: Queries, id: string, reason: string): Promise<void> {
  await queries
    .updateTable('hosts')
    .set({ reason })
    .where('id', '=', id)
    .where('lost_at', 'is', null)
    .execute();
}

/** The name of a host, and when it was given up; undefined without such a host. */
export function findLoss(queries: Queries, id: string) {
  return queries.selectFrom('hosts').select(['name', 'lost_at']).where('id', '=', id).executeTakeFirst();
}

export async function deleteHost(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('hosts').where('id', '=', id).execute();
}

/** The payloads of the unfinished jobs of a kind. */
export async function payloadsOf(
  queries: Queries,
  kind: string,
  states: readonly ('queued' | 'running')[],
): Promise<unknown[]> {
  const jobs = await queries
    .selectFrom('jobs')
    .select('payload')
    .where('kind', '=', kind)
    .where('state', 'in', states)
    .execute();
  return jobs.map(({ payload }) => payload);
}

/** The name of an install's host; undefined if it has none. */
export async function hostNameOf(queries: Queries, installId: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('installs as install')
    .innerJoin('hosts as host', 'host.id', 'install.host_id')
    .select('host.name')
    .where('install.id', '=', installId)
    .executeTakeFirst();
  return row?.name;
}

/** The id of an install's host; null if it has none. */
export async function servingHostId(queries: Queries, installId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('installs')
    .select('host_id')
    .where('id', '=', installId)
    .executeTakeFirst();
  return row?.host_id ?? null;
}

/** The installs with their hosts, newest first. Failed ones are left out. */
export function placedInstalls(queries: Queries) {
  return queries
    .selectFrom('installs')
    .select(['id', 'name', 'host_id'])
    .where('status', '!=', 'failed')
    .orderBy('seq', 'desc')
    .execute();
}

/** Whether an install has this name. */
export async function hasInstall(queries: Queries, name: string): Promise<boolean> {
  const install = await queries
    .selectFrom('installs')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  return install !== undefined;
}

/** How many installs each host has; hosts without any are left out. */
export async function installCounts(queries: Queries): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('installs')
    .select((eb) => ['host_id', eb.fn.countAll<number>().as('count')])
    .where('host_id', 'is not', null)
    .groupBy('host_id')
    .execute();
  return new Map(rows.flatMap(({ host_id, count }) => (host_id === null ? [] : [[host_id, count]])));
}

/** The host of an install, or of the backups of a deleted one. `hostId` is null before placement; undefined if there is neither. */
/** Whether an install is being moved to or from a host. Without the host, the move could go neither forward nor back. */
export async function hasOpenMoves(queries: Queries, hostId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('moves')
    .select('id')
    .where('step', 'in', [...OPEN_MOVE])
    .where((of) => of.or([of('from_host', '=', hostId), of('to_host', '=', hostId)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function placeOf(
  queries: Queries,
  installId: string,
): Promise<{ hostId: string | null } | undefined> {
  const present = await queries
    .selectFrom('installs')
    .select('host_id as hostId')
    .where('id', '=', installId)
    .executeTakeFirst();
  if (present !== undefined) return present;
  return queries
    .selectFrom('deleted_installs')
    .select('host_id as hostId')
    .where('id', '=', installId)
    .executeTakeFirst();
}

/** The host of the install that serves a host name; exact names go before wildcards. Null if no install serves it. */
export async function hostServing(queries: Queries, hostname: string): Promise<string | null> {
  const wildcard = `*.${hostname.split('.').slice(1).join('.')}`;
  const rows = await queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select(['domain.name', 'install.host_id'])
    .where('domain.name', 'in', [hostname, wildcard])
    .where('domain.is_duplicate', '=', false)
    .execute();
  const row = rows.find(({ name }) => name === hostname) ?? rows[0];
  return row?.host_id ?? null;
}

/** Removes a failed install from its host's count once nothing is left of it there. */
export async function freeFailed(database: Pick<Database, 'write'>, installId: string): Promise<void> {
  await database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ host_id: null })
      .where('id', '=', installId)
      .where('status', '=', 'failed')
      .execute(),
  );
}

/** Whether a host has backups of deleted installs. */
export async function hasDeletedInstalls(queries: Queries, hostId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('deleted_installs')
    .select('id')
    .where('host_id', '=', hostId)
    .executeTakeFirst();
  return row !== undefined;
}
