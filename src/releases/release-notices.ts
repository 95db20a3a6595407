import type { Config } from '../config/config.ts';
import type { Queries } from '../database/database.ts';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import type { Role } from '../lib/roles.ts';
import { type NewerRelease, newerRelease } from './newer-release.ts';
import { findReleaseCheck } from './release-check-store.ts';

/** A signed-in user, as far as it says whether they operate the platform. */
interface Reader {
  email: string;
  accounts: readonly { role: Role }[];
}

/** The newer release that the portal shows to a user; null if there is none, or the user does not operate the platform. */
export async function releaseNoticeFor(
  queries: Queries,
  { updateCheck, operatorEmail }: Pick<Config, 'updateCheck' | 'operatorEmail'>,
  reader: Reader,
): Promise<NewerRelease | null> {
  if (updateCheck === 'off' || reader.accounts.length === 0) return null;
  const newer = newerRelease((await findReleaseCheck(queries))?.releases ?? [], PROGRAM_VERSION);
  return newer !== null && (await operates(queries, operatorEmail, reader)) ? newer : null;
}

/** The user with the address of the operator. Without such a setting, the owners of the only account of the platform. */
async function operates(
  queries: Queries,
  operatorEmail: string | null,
  { email, accounts }: Reader,
): Promise<boolean> {
  if (operatorEmail !== null) return email.toLowerCase() === operatorEmail.toLowerCase();
  if (accounts.length !== 1 || accounts[0]?.role !== 'owner') return false;
  const some = await queries.selectFrom('accounts').select('id').limit(2).execute();
  return some.length === 1;
}
