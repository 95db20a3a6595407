import type { Queries } from '../../../database/database.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import { findRequiringAccounts } from './store.ts';

/** Throws InvalidRequest if an account requires a second factor of the user, who is about to lose the last one. */
export async function requireNoAccountNeedsFactor(queries: Queries, userId: string): Promise<void> {
  const [requiring] = await findRequiringAccounts(queries, userId);
  if (requiring !== undefined) {
    throw new InvalidRequest(`${requiring} requires a second factor of all its users`);
  }
}
