import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';

/** A host name that a host serves. */
export interface PlacedName {
  installId: string;
  hostId: string;
  name: string;
  /** Changes with its certificate; null without one. */
  certificate: string | null;
}

/** A sealed key begins with a random number, so that this much of it tells keys apart. */
const DISTINCT = sql<string | null>`substr(certificate.sealed_key, 1, 64)`;

const select = (queries: Queries) =>
  queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select(['install.id as installId', 'install.host_id as hostId', 'domain.name'])
    .select(DISTINCT.as('certificate'))
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

/** The certificates of these installs, by name. */
export async function certificatesOfNames(queries: Queries, installIds: readonly string[]) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select(['domain.name', 'certificate.chain', 'certificate.sealed_key'])
    .where('domain.install_id', 'in', installIds)
    .where('domain.is_duplicate', '=', false)
    .execute();
}

/** The id of this platform; undefined before any host belongs to it. */
export async function platformIdOf(queries: Queries): Promise<string | undefined> {
  return (await queries.selectFrom('platform_identity').select('id').executeTakeFirst())?.id;
}

function placed(rows: (Omit<PlacedName, 'hostId'> & { hostId: string | null })[]): PlacedName[] {
  return rows.flatMap(({ hostId, ...row }) => (hostId === null ? [] : [{ ...row, hostId }]));
}
