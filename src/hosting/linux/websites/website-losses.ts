import { CORE_TABLES, isNetwork, NEEDED_TABLES, wordpressPrefixes } from '../../wordpress/core-tables.ts';
import type { SeenData } from '../machine/record.ts';

/** The customer's data of a website, as far as it shows whether any is lost. */
export interface WebsiteData {
  hasRoot: boolean;
  /** `prefix`: the table prefix that it sets; null if it sets none in the usual way. */
  config: { prefix: string | null } | null;
  hasContent: boolean;
  database: string;
  /** Null without the database. */
  tables: ReadonlySet<string> | null;
}

/** Data of a website that is lost. */
export interface Loss {
  /** One sentence, without paths of the machine: customers read it. */
  message: string;
  /** Whether WordPress cannot run without it. Visitors then see that the website is closed. */
  closes: boolean;
  /** Advice if a backup does not help; null if it does. */
  remedy: string | null;
}

export interface JudgedData {
  losses: Loss[];
  /** The data to remember of the website: its present data, if nothing is lost. */
  seen: SeenData | null;
  /** The prefix for a new `wp-config.php`, if that is all that is lost and the prefix is certain. */
  restorablePrefix: string | null;
}

/** Names what a website has lost. `seen`: what it had before; null if that is unknown or was replaced. */
export function judgeData(data: WebsiteData, seen: SeenData | null): JudgedData {
  const { config, tables } = data;
  const prefix = prefixOf(data, seen);
  const losses = [...lostFiles(data), ...lostTables(data, prefix, seen)];
  if (losses.length === 0 && config === null) {
    const isCertain = tables !== null && prefix !== null && !isNetwork(tables, prefix);
    return {
      losses: [{ message: 'wp-config.php is missing.', closes: true, remedy: null }],
      seen: null,
      restorablePrefix: isCertain ? prefix : null,
    };
  }
  if (config === null && data.hasContent) {
    losses.push({ message: 'wp-config.php is missing.', closes: true, remedy: null });
  }
  const isSeen = losses.length === 0 && tables !== null && prefix !== null;
  return { losses, seen: isSeen ? seenIn(tables, prefix) : null, restorablePrefix: null };
}

function seenIn(tables: ReadonlySet<string>, tablePrefix: string): SeenData {
  return { tablePrefix, tables: CORE_TABLES.filter((name) => tables.has(tablePrefix + name)) };
}

/** The prefix in the configuration, the one that was seen last, or the only one of the database. */
function prefixOf({ config, tables }: WebsiteData, seen: SeenData | null): string | null {
  if (config !== null && config.prefix !== null) return config.prefix;
  const prefixes = wordpressPrefixes(tables ?? new Set());
  if (seen !== null) return config !== null || prefixes.includes(seen.tablePrefix) ? seen.tablePrefix : null;
  return prefixes.length === 1 ? (prefixes[0] ?? null) : null;
}

function lostFiles({ hasRoot, hasContent, config }: WebsiteData): Loss[] {
  if (!hasRoot || (config === null && !hasContent)) {
    return [{ message: 'The files of the website are missing from htdocs.', closes: true, remedy: null }];
  }
  return hasContent ? [] : [{ message: 'The folder wp-content is missing.', closes: true, remedy: null }];
}

function lostTables(
  { database, tables, config }: WebsiteData,
  prefix: string | null,
  seen: SeenData | null,
): Loss[] {
  if (tables === null)
    return [{ message: `The database ${database} is missing.`, closes: true, remedy: null }];
  if (tables.size === 0) {
    return [{ message: `The database ${database} has no tables.`, closes: true, remedy: null }];
  }
  const others = config === null ? [] : otherPrefixes(tables, prefix, seen);
  if (others.length > 0) {
    const named = others.map((other) => `"${other}"`).join(' or ');
    return [
      {
        message: `wp-config.php sets the table prefix "${prefix}", which no table has. The tables of the website begin with ${named}.`,
        // Code that comes later, such as of an included file, can set another prefix.
        closes: false,
        remedy: `Set $table_prefix in wp-config.php to ${named} again.`,
      },
    ];
  }
  if (prefix === null) {
    // Its configuration sets the prefix in an unusual way, or is missing.
    if (config !== null || wordpressPrefixes(tables).length > 0) return [];
    return [{ message: `The database ${database} has no tables of WordPress.`, closes: true, remedy: null }];
  }
  // If its tables were not seen before, it may have its users in another one (CUSTOM_USER_TABLE).
  const expected = seen?.tablePrefix === prefix ? seen.tables : ['options', 'posts'];
  const lost = expected.filter((name) => !tables.has(prefix + name));
  if (lost.length === 0) return [];
  const names = lost.map((name) => prefix + name).join(', ');
  const needed: readonly string[] = NEEDED_TABLES;
  return [
    {
      message:
        lost.length === 1
          ? `The table ${names} is missing from the database ${database}.`
          : `These tables are missing from the database ${database}: ${names}.`,
      closes: lost.some((name) => needed.includes(name)),
      remedy: null,
    },
  ];
}

/** The prefixes of WordPress in the database, if it has no table with the configured prefix. The one that was seen comes alone. */
function otherPrefixes(tables: ReadonlySet<string>, prefix: string | null, seen: SeenData | null): string[] {
  if (prefix === null || CORE_TABLES.some((name) => tables.has(prefix + name))) return [];
  const others = wordpressPrefixes(tables);
  return seen !== null && others.includes(seen.tablePrefix) ? [seen.tablePrefix] : others;
}

/** The loss of all uploads. `attachments`: the number of files that the media library still has. */
export function lostUploads(attachments: number): Loss[] {
  if (attachments === 0) return [];
  const files = attachments === 1 ? '1 file' : `${attachments} files`;
  const message = `wp-content/uploads is empty, and the media library has ${files}.`;
  return [{ message, closes: false, remedy: null }];
}
