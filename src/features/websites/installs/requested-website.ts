import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { InvalidRequest, NotFound } from '../../../lib/failures.ts';
import { findInstallAccess } from './store.ts';
import { findWebsite } from './website-store.ts';

/** The website of an install, as requests to change it read it. */
export type Website = NonNullable<Awaited<ReturnType<typeof findWebsite>>>;

/** Finds an install by name, for the command line. Throws InvalidRequest. */
export async function requireNamed(queries: Queries, name: string): Promise<Website> {
  const website = await findWebsite(queries, { name });
  if (website) return website;
  throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
}

/** Finds and locks an install by name, for the command line. Throws InvalidRequest. */
export async function lockNamed(transaction: Transaction, name: string): Promise<Website> {
  const { id } = await requireNamed(transaction.queries, name);
  await lockRow(transaction, 'installs', id);
  return requireNamed(transaction.queries, name);
}

/** Locks an install that the caller may work on. Throws NotFound and Forbidden. */
export async function lockWorkable(
  transaction: Transaction,
  caller: Caller,
  installId: string,
): Promise<Website> {
  const { queries } = transaction;
  await lockRow(transaction, 'installs', installId);
  authorize('install.work', 'install.read', await findInstallAccess(queries, caller, installId));
  const website = await findWebsite(queries, { id: installId });
  if (!website) throw new NotFound();
  return website;
}
