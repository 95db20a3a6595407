import { textLiteral } from '../daemons/sql.ts';

/** What stands in a template database wherever a website has something of its own. */
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

/** Pure: the statements that take away what a filling that was broken off has left. */
export function undoFilling(template: string): string {
  return `DROP TABLE IF EXISTS ${tablesOf(template)
    .map((name) => `\`${name}\``)
    .join(', ')};\n`;
}

function tablesOf(template: string): string[] {
  return [...template.matchAll(/^CREATE TABLE `(\w+)` \($/gm)].flatMap(([, name]) => name ?? []);
}

/** What the database server says when {@link onlyIfEmpty} or {@link onlyIfBrokenOff} ends what follows. */
export const NOT_TO_BE_FILLED = 'ERROR 1644 (45000)';

const OWN_TABLES = 'SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()';

/** Pure: statements after which none is run, unless the database has no tables. */
export function onlyIfEmpty(): string {
  return `SET @kept = (${OWN_TABLES});\n${END_IF_KEPT}`;
}

/**
 * Pure: statements after which none is run, unless the database has nothing but what a filling leaves that was broken off: tables of
 * its own, and no rows, which are all there at its end or none. Whoever has a WordPress has a user.
 */
export function onlyIfBrokenOff(template: string): string {
  const names = tablesOf(template).map(textLiteral).join(', ');
  return `SET @kept = (${OWN_TABLES} AND table_name NOT IN (${names}));
SET @count = IF((${OWN_TABLES} AND table_name = 'wp_users') > 0, 'SELECT COUNT(*) + @kept INTO @kept FROM wp_users', 'DO 0');
EXECUTE IMMEDIATE @count;
${END_IF_KEPT}`;
}

const END_IF_KEPT = `SET @end = IF(@kept > 0, 'SIGNAL SQLSTATE ''45000'' SET MESSAGE_TEXT = ''not to be filled''', 'DO 0');
EXECUTE IMMEDIATE @end;
`;

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

/** Pure: the statements that make a template database's content a website's own, in the same transaction. */
export function firstContentSql(template: string, content: FirstContent): string {
  const { origin, email, title, passwordHash, now } = content;
  const own = template
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
