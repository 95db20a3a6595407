import type { Queries } from '../../../database/database.ts';

/** When the authority was asked to validate a name, after a time. */
export async function validationsSince(queries: Queries, name: string, since: string): Promise<Date[]> {
  const rows = await queries
    .selectFrom('acme_validations')
    .select('at')
    .where('name', '=', name)
    .where('at', '>', since)
    .execute();
  return rows.map((row) => new Date(row.at));
}

export async function insertValidation(
  queries: Queries,
  validation: { name: string; at: string },
): Promise<void> {
  await queries.insertInto('acme_validations').values(validation).execute();
}

/** Deletes those of all names up to a time. */
export async function deleteValidationsUntil(queries: Queries, until: string): Promise<void> {
  await queries.deleteFrom('acme_validations').where('at', '<=', until).execute();
}
