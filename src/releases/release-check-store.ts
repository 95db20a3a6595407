import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../database/database.ts';
import type { Release } from '../lib/releases/release-index.ts';

/** Of a release, what people see. */
const KnownReleases = Type.Array(
  Type.Object({
    version: Type.String(),
    date: Type.String(),
    security: Type.Boolean(),
    notes: Type.String(),
  }),
);
export type KnownRelease = Pick<Release, 'version' | 'date' | 'security' | 'notes'>;

/** The last look for releases. */
export interface ReleaseCheck {
  checked_at: string;
  /** Why it failed; null if it did not. */
  reason: string | null;
  /** Those that were read last, newest first. */
  releases: KnownRelease[];
}

/** Undefined before the first look. */
export async function findReleaseCheck(queries: Queries): Promise<ReleaseCheck | undefined> {
  const row = await queries
    .selectFrom('release_check')
    .select(['checked_at', 'reason', 'releases'])
    .executeTakeFirst();
  return row && { ...row, releases: Value.Check(KnownReleases, row.releases) ? row.releases : [] };
}

/** Stores a look. A failed one keeps the releases that are known. */
export async function storeReleaseCheck(
  queries: Queries,
  { checked_at, reason, releases }: Omit<ReleaseCheck, 'releases'> & { releases: KnownRelease[] | null },
): Promise<void> {
  const known = releases === null ? {} : { releases: JSON.stringify(releases) };
  await queries
    .insertInto('release_check')
    .values({ one: 1, checked_at, reason, releases: '[]', ...known })
    .onConflict((conflict) => conflict.column('one').doUpdateSet({ checked_at, reason, ...known }))
    .execute();
}
