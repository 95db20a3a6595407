import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';
import type { MoveStep } from '../../database/tables/moves.ts';

/** A host name that a host serves. */
export interface PlacedName {
  installId: string;
  /** The host to ask for it. */
  hostId: string;
  /** The name of the install. */
  user: string;
  name: string;
  /** Changes with its certificate; null without one. */
  certificate: string | null;
}

/** A sealed key begins with a random number, so that this much of it tells keys apart. */
const DISTINCT = sql<string | null>`substr(certificate.sealed_key, 1, 64)`;

/** In these steps, the former machine may have handed the website over already. Its own website goes first until then. */
const BEFORE_SWITCH: readonly MoveStep[] = ['copying', 'handing_over'];

/** `movesTo`: the machine that a website goes to while it is on this one. */
const select = (queries: Queries, at: string) =>
  queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('moves as move', (join) =>
      join
        .onRef('move.install_id', '=', 'install.id')
        .onRef('move.from_host', '=', 'install.host_id')
        .on('move.from_host', '=', at)
        .on('move.step', 'in', BEFORE_SWITCH),
    )
    .select([
      'install.id as installId',
      'install.name as user',
      'install.host_id as hostId',
      'move.to_host as movesTo',
      'domain.name',
    ])
    .select(DISTINCT.as('certificate'))
    .where('install.host_id', 'is not', null)
    .where('domain.is_duplicate', '=', false)
    .orderBy('install.id')
    .orderBy('domain.name');

/** The names of all installs that this host forwards to others, by install. */
export async function namesElsewhere(queries: Queries, at: string): Promise<PlacedName[]> {
  const rows = await select(queries, at)
    .where((of) => of.or([of('install.host_id', '!=', at), of('move.to_host', 'is not', null)]))
    .execute();
  return placed(rows);
}

/** The names of an install, as this host sees them; empty if it is gone or on no host. */
export async function namesOfInstall(queries: Queries, installId: string, at: string): Promise<PlacedName[]> {
  return placed(await select(queries, at).where('install.id', '=', installId).execute());
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

function placed(
  rows: (Omit<PlacedName, 'hostId'> & { hostId: string | null; movesTo: string | null })[],
): PlacedName[] {
  return rows.flatMap(({ hostId, movesTo, ...row }) => {
    const to = movesTo ?? hostId;
    return to === null ? [] : [{ ...row, hostId: to }];
  });
}
