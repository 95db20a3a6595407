import type { Queries } from '../../database/database.ts';

/** The public names of all hosts. */
export async function publicNamesOfHosts(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('hosts')
    .select('public_name')
    .where('public_name', 'is not', null)
    .execute();
  return rows.flatMap(({ public_name }) => (public_name === null ? [] : [public_name]));
}
