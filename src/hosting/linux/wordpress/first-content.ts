import { textLiteral } from '../daemons/sql.ts';

/** What stands in a golden database wherever a website has something of its own. */
export const PLACEHOLDER = {
  hostname: 'website.homeport.invalid',
  origin: 'http://website.homeport.invalid',
  email: 'admin@website.homeport.invalid',
  title: 'homeport-title-of-the-website',
  user: 'admin',
} as const;

/** What is a new website's own. */
export interface FirstContent {
  /** `https://example.com`. */
  origin: string;
  email: string;
  title: string;
  /** As WordPress keeps it. */
  passwordHash: string;
  now: Date;
}

/** Of a dump, what would only take time in an empty database that nobody else uses. */
const SUPERFLUOUS = [
  /^(UN)?LOCK TABLES/,
  /^DROP TABLE IF EXISTS /,
  /^\/\*!40000 ALTER TABLE .* KEYS \*\/$/,
  /^\/\*!40101 SET (@saved_cs_client|character_set_client) /,
];

/**
 * Pure: the dump of a new WordPress as statements that fill an empty database quickly: tables first, then all rows in one
 * transaction, whose end is left to {@link firstContentSql}.
 *
 * @throws Error if a placeholder stands where it cannot be replaced: within a value whose length stands beside it
 */
export function goldenStatements(dump: string): string {
  const statements = dump
    .split(/;\n/)
    .map(withoutComments)
    .filter((statement) => statement !== '' && !SUPERFLUOUS.some((pattern) => pattern.test(statement)));
  const rows = statements.filter((statement) => statement.startsWith('INSERT INTO '));
  const tables = statements
    .slice(0, statements.findLastIndex(isTable) + 1)
    .filter((one) => !rows.includes(one));
  const text = `${[...tables, 'START TRANSACTION', ...rows].join(';\n')};\n`;
  requireReplaceable(text);
  return text;
}

const isTable = (statement: string) => statement.startsWith('CREATE TABLE ');

function withoutComments(statement: string): string {
  return statement
    .split('\n')
    .filter((line) => !/^(--|\/\*M?!999999)/.test(line))
    .join('\n')
    .trim();
}

/** Pure: the statements that take away what a filling that was broken off has left. */
export function undoFilling(golden: string): string {
  const tables = [...golden.matchAll(/^CREATE TABLE (`\w+`) \($/gm)].map(([, name]) => name);
  return `DROP TABLE IF EXISTS ${tables.join(', ')};\n`;
}

/** PHP's serialisation counts bytes: `s:5:"hello"`, in which a dump escapes the quotes. */
function requireReplaceable(text: string): void {
  if (
    text.replaceAll(PLACEHOLDER.email, '').replaceAll(PLACEHOLDER.origin, '').includes(PLACEHOLDER.hostname)
  ) {
    throw new Error(`WordPress keeps ${PLACEHOLDER.hostname} in another form than an address`);
  }
  for (const placeholder of [PLACEHOLDER.hostname, PLACEHOLDER.title]) {
    const name = placeholder.replaceAll('.', '\\.');
    if (new RegExp(`s:\\d+:\\\\"[^"\\\\]*${name}`).test(text)) {
      throw new Error(
        `WordPress keeps ${placeholder} in a serialised value, which a new website could not replace`,
      );
    }
  }
}

/** Pure: the statements that make a golden database's content a website's own, in the same transaction. */
export function firstContentSql(golden: string, content: FirstContent): string {
  const { origin, email, title, passwordHash, now } = content;
  const own = golden
    .replaceAll(PLACEHOLDER.email, quoted(email))
    .replaceAll(PLACEHOLDER.origin, quoted(origin))
    .replaceAll(PLACEHOLDER.title, quoted(escapeHtml(title)));
  const time = textLiteral(now.toISOString().slice(0, 19).replace('T', ' '));
  return `${own}${[
    `UPDATE wp_users SET user_pass = ${textLiteral(passwordHash)}, user_registered = ${time}`,
    `UPDATE wp_posts SET post_date = ${time}, post_date_gmt = ${time}, post_modified = ${time}, post_modified_gmt = ${time}`,
    `UPDATE wp_comments SET comment_date = ${time}, comment_date_gmt = ${time}`,
    'COMMIT',
  ].join(';\n')};\n`;
}

/** Inside a literal of the dump. */
function quoted(text: string): string {
  return text.replace(/['"\\]/g, (character) => `\\${character}`);
}

/** As WordPress keeps titles. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#039;');
}
