import { RefusedImportError } from '../../contract/errors.ts';
import { isNetwork, wordpressPrefixes } from '../../wordpress/core-tables.ts';
import type { LoadedDatabase } from './importable-website.ts';

/** The WordPress in a loaded dump. */
export interface ImportedDatabase {
  tablePrefix: string;
  /** The host names of its addresses, with their port if they have one, with and without `www.`. */
  hosts: string[];
}

const PREFIX = /^[A-Za-z0-9_]{1,40}$/;

/**
 * Finds the WordPress in a database. `configured`: the table prefix in the website's own configuration. Rejects with a
 * {@link RefusedImportError} if there is none, several, a network, or one below the root of its host name.
 */
export async function findWordPress(
  database: Pick<LoadedDatabase, 'query'>,
  configured: string | null,
): Promise<ImportedDatabase> {
  const rows = await database.query('SHOW TABLES');
  const tables = new Set(rows.flat());
  const tablePrefix = prefixOf(tables, configured);
  if (isNetwork(tables, tablePrefix)) {
    throw new RefusedImportError(
      'The dump has a network of websites (multisite). Export its websites one by one.',
    );
  }
  return { tablePrefix, hosts: await hostsOf(database, `${tablePrefix}options`) };
}

function prefixOf(tables: ReadonlySet<string>, configured: string | null): string {
  const prefixes = wordpressPrefixes(tables);
  if (configured !== null && prefixes.includes(configured)) return configured;
  const [only, ...others] = prefixes;
  if (only === undefined) {
    const named = configured === null ? '' : `, or they do not begin with ${configured}`;
    throw new RefusedImportError(
      `The dump has no WordPress: the tables options, posts and users are missing${named}. Export the whole database.`,
    );
  }
  if (others.length > 0) {
    throw new RefusedImportError(
      `The dump has several WordPress with the table prefixes ${prefixes.join(', ')}. Export the tables of one, or add its wp-config.php to the archive.`,
    );
  }
  if (PREFIX.test(only)) return only;
  throw new RefusedImportError('The table prefix of the WordPress may have letters, digits and _ only.');
}

async function hostsOf(database: Pick<LoadedDatabase, 'query'>, table: string): Promise<string[]> {
  // The prefix has letters, digits and _ only.
  const rows = await database.query(
    `SELECT option_value FROM \`${table}\` WHERE option_name IN ('siteurl', 'home')`,
  );
  const urls = rows.flatMap(([address = '']) => URL.parse(address) ?? []);
  const deeper = urls.find(({ pathname }) => pathname !== '/');
  if (deeper !== undefined) {
    throw new RefusedImportError(
      `The website is in the folder ${deeper.pathname} of ${deeper.hostname}. Move it to the root of its address first, and export it again.`,
    );
  }
  const hosts = urls.map(({ host }) => host).filter((host) => host !== '');
  if (hosts.length === 0) throw new RefusedImportError('The WordPress in the dump has no address (siteurl).');
  return [...new Set(hosts.flatMap((host) => [host, otherForm(host)]))];
}

const otherForm = (host: string) => (host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`);
