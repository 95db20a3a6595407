import type { Queries } from '../../database/database.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import { EMBEDDED, orphansNamed } from './orphan-store.ts';

/**
 * Rejects with a PermanentHostError if an orphan blocks the name of an install. A served orphan answers under its host
 * name. On a Linux host, an orphan set aside still has its Unix user.
 */
export async function requireNameFree(queries: Queries, host: string, install: InstallRef): Promise<void> {
  const named = await orphansNamed(queries, host, install.name);
  const inTheWay = named.find(
    (orphan) => orphan.id !== install.id && (host !== EMBEDDED || orphan.is_served),
  );
  if (inTheWay === undefined) return;
  throw new PermanentHostError(
    `The name ${install.name} belongs to an earlier website on its host. Choose another name, or ask your provider to remove that website.`,
  );
}
