import type { Queries } from '../../database/database.ts';

/** A host name that a host serves. */
export interface PlacedName {
  installId: string;
  hostId: string;
  name: string;
}

const select = (queries: Queries) =>
  queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .select(['install.id as installId', 'install.host_id as hostId', 'domain.name'])
    .where('install.host_id', 'is not', null)
    .where('domain.is_duplicate', '=', false)
    .orderBy('install.id')
    .orderBy('domain.name');

/** The names of all installs that other hosts than this one serve, by install. */
export async function namesElsewhere(queries: Queries, hostId: string): Promise<PlacedName[]> {
  return placed(await select(queries).where('install.host_id', '!=', hostId).execute());
}

/** The names of an install; empty if it is gone or on no host. */
export async function namesOfInstall(queries: Queries, installId: string): Promise<PlacedName[]> {
  return placed(await select(queries).where('install.id', '=', installId).execute());
}

/** The id of this platform; undefined before any host belongs to it. */
export async function platformIdOf(queries: Queries): Promise<string | undefined> {
  return (await queries.selectFrom('platform_identity').select('id').executeTakeFirst())?.id;
}

function placed(rows: { installId: string; hostId: string | null; name: string }[]): PlacedName[] {
  return rows.flatMap(({ hostId, ...row }) => (hostId === null ? [] : [{ ...row, hostId }]));
}
