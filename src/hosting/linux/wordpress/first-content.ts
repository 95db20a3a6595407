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

/**
 * Pure: the dump of a new WordPress as statements that fill a database quickly: tables first, then all rows in one
 * transaction, without the locks that each would wait for.
 *
 * @throws Error if a placeholder stands where it cannot be replaced: within a value whose length stands beside it
 */
export function goldenStatements(dump: string): string {
  const statements = dump
    .split(/;\n/)
    .map(withoutComments)
    .filter(
      (statement) => statement !== '' && !/^(UN)?LOCK TABLES/.test(statement) && !isKeySwitch(statement),
    );
  const rows = statements.filter((statement) => statement.startsWith('INSERT INTO '));
  const others = statements.filter((statement) => !rows.includes(statement));
  const last = others.findLastIndex((statement) => statement.startsWith('CREATE TABLE ')) + 1;
  const ordered = [
    ...others.slice(0, last),
    'START TRANSACTION',
    ...rows,
    // Its end is the caller's, who adds to it.
  ];
  const text = `${ordered.join(';\n')};\n`;
  requireReplaceable(text);
  return text;
}

function withoutComments(statement: string): string {
  return statement
    .split('\n')
    .filter((line) => !/^(--|\/\*M?!999999)/.test(line))
    .join('\n')
    .trim();
}

const isKeySwitch = (statement: string) => /^\/\*!40000 ALTER TABLE .* KEYS \*\/$/.test(statement);

/** PHP's serialisation counts bytes: `s:5:"hello"`, in which a dump escapes the quotes. */
function requireReplaceable(text: string): void {
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
