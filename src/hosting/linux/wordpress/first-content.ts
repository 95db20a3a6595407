import { escapeTitle } from '../../wordpress/escape-title.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import { textLiteral } from '../daemons/sql.ts';

/** The individual values of a new website. */
export interface FirstContent {
  /** `https://example.com`. */
  origin: string;
  email: string;
  title: string;
  /** In WordPress's format. */
  passwordHash: string;
  now: Date;
}

/** Statements of a dump that only cost time in an empty database without other users. */
const SUPERFLUOUS = [
  /^(UN)?LOCK TABLES/,
  /^DROP TABLE IF EXISTS /,
  /^\/\*!40000 ALTER TABLE .* KEYS \*\/$/,
  /^\/\*!40101 SET (@saved_cs_client|character_set_client) /,
];

/**
 * Turns the dump of a new WordPress into statements that fill an empty database quickly: tables first, then all rows in one
 * transaction, which {@link firstContentSql} ends.
 *
 * @throws Error if a placeholder cannot be replaced, because it is inside a value that contains its own length
 */
export function templateStatements(dump: string): string {
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

/** Statements that remove what an interrupted fill left. */
export function undoFill(template: string): string {
  return `DROP TABLE IF EXISTS ${tablesOf(template)
    .map((name) => `\`${name}\``)
    .join(', ')};\n`;
}

function tablesOf(template: string): string[] {
  return [...template.matchAll(/^CREATE TABLE `(\w+)` \($/gm)].flatMap(([, name]) => name ?? []);
}

/** Error of the database server when {@link onlyIfEmpty} or {@link onlyIfInterrupted} stops the remaining statements. */
export const FILL_REFUSED = 'ERROR 1644 (45000)';

const OWN_TABLES = 'SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()';

/** Statements that stop all following ones unless the database has no tables. */
export function onlyIfEmpty(): string {
  return `SET @kept = (${OWN_TABLES});\n${END_IF_KEPT}`;
}

/**
 * Statements that stop all following ones unless the database contains only what an interrupted fill leaves: the template's
 * tables without rows, because the rows are inserted in one transaction. A WordPress in use has at least one user.
 */
export function onlyIfInterrupted(template: string): string {
  const names = tablesOf(template).map(textLiteral).join(', ');
  return `SET @kept = (${OWN_TABLES} AND table_name NOT IN (${names}));
SET @count = IF((${OWN_TABLES} AND table_name = 'wp_users') > 0, 'SELECT COUNT(*) + @kept INTO @kept FROM wp_users', 'DO 0');
EXECUTE IMMEDIATE @count;
${END_IF_KEPT}`;
}

const END_IF_KEPT = `SET @end = IF(@kept > 0, 'SIGNAL SQLSTATE ''45000'' SET MESSAGE_TEXT = ''fill refused''', 'DO 0');
EXECUTE IMMEDIATE @end;
`;

/** PHP's serialisation contains lengths in bytes: `s:5:"hello"`; a dump escapes the quotes. */
function requireReplaceable(text: string): void {
  if (
    text.replaceAll(PLACEHOLDER.email, '').replaceAll(PLACEHOLDER.origin, '').includes(PLACEHOLDER.hostname)
  ) {
    throw new Error(`WordPress stores ${PLACEHOLDER.hostname} in a form other than an address`);
  }
  for (const placeholder of [PLACEHOLDER.hostname, PLACEHOLDER.title]) {
    const name = placeholder.replaceAll('.', '\\.');
    if (new RegExp(`s:\\d+:\\\\"[^"\\\\]*${name}`).test(text)) {
      throw new Error(
        `WordPress stores ${placeholder} in a serialised value, where a new website cannot replace it`,
      );
    }
  }
}

/** Statements that fill a database from a template with a website's own values, in one transaction. */
export function firstContentSql(template: string, content: FirstContent): string {
  const { origin, email, title, passwordHash, now } = content;
  const own = template
    .replaceAll(PLACEHOLDER.email, quoted(email))
    .replaceAll(PLACEHOLDER.origin, quoted(origin))
    .replaceAll(PLACEHOLDER.title, quoted(escapeTitle(title)));
  const time = textLiteral(now.toISOString().slice(0, 19).replace('T', ' '));
  return `${own}${[
    `UPDATE wp_users SET user_pass = ${textLiteral(passwordHash)}, user_registered = ${time}`,
    `UPDATE wp_posts SET post_date = ${time}, post_date_gmt = ${time}, post_modified = ${time}, post_modified_gmt = ${time}`,
    `UPDATE wp_comments SET comment_date = ${time}, comment_date_gmt = ${time}`,
    'COMMIT',
  ].join(';\n')};\n`;
}

/** Escapes a text inside a literal of the dump. */
function quoted(text: string): string {
  return text.replace(/['"\\]/g, (character) => `\\${character}`);
}
