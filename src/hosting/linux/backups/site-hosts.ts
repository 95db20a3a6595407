import type { Databases } from '../daemons/databases.ts';
import { identifier, textLiteral } from '../daemons/sql.ts';

/** Host names in the addresses of the WordPress in a database, with their port if they have one, whatever its table prefix. */
export async function siteHosts(databases: Pick<Databases, 'query'>, database: string): Promise<string[]> {
  const tables = await databases.query(
    database,
    `SELECT TABLE_NAME FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_NAME LIKE '%options' AND COLUMN_NAME IN ('option_name', 'option_value')
      GROUP BY TABLE_NAME HAVING COUNT(*) = 2`,
  );
  const hosts: string[] = [];
  for (const [table = ''] of tables) {
    const rows = await databases.query(
      database,
      `SELECT option_value FROM ${identifier(table)} WHERE option_name IN ('siteurl', 'home')`,
    );
    for (const [address = ''] of rows) {
      const host = URL.parse(address)?.host;
      if (host) hosts.push(host);
    }
  }
  return [...new Set(hosts)];
}
