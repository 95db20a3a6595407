import type { Queries } from '../../../database/database.ts';
import type { ImportKeyRow } from '../../../database/tables/import-keys.ts';

export function findImportKey(queries: Queries, installId: string): Promise<ImportKeyRow | undefined> {
  return queries.selectFrom('import_keys').selectAll().where('install_id', '=', installId).executeTakeFirst();
}

export async function insertImportKey(queries: Queries, row: ImportKeyRow): Promise<void> {
  await queries.insertInto('import_keys').values(row).execute();
}

/** Returns whether there was one. */
export async function deleteImportKey(queries: Queries, installId: string): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('import_keys')
    .where('install_id', '=', installId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
