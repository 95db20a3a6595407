import { PermanentHostError } from '../../contract/host.ts';

/** What the names of all our databases begin with. */
export const DATABASE_PREFIX = 'hp_';

/** `hp_` and 1 to 50 of `a-z 0-9 _`, in backticks. Throws a {@link PermanentHostError} for any other. */
export function databaseName(name: string): string {
  if (!/^hp_[a-z0-9_]{1,50}$/.test(name)) {
    throw new PermanentHostError(`"${name}" cannot be the name of a database`);
  }
  return `\`${name}\``;
}

/** The name where a privilege is given: `_` would stand for any character there. */
export function grantedDatabase(name: string): string {
  return databaseName(name).replaceAll('_', '\\_');
}

/** The server has rights for log-ins of these names. */
const SYSTEM_USERS = ['mysql', 'root'];

/** The user of the database server that a Unix user is known as: `` `shop`@`localhost` ``. Throws a {@link PermanentHostError}. */
export function databaseUser(unixUser: string): string {
  if (!/^[a-z][a-z0-9-]{1,38}[a-z0-9]$/.test(unixUser) || SYSTEM_USERS.includes(unixUser)) {
    throw new PermanentHostError(`"${unixUser}" cannot be the name of a user of the database server`);
  }
  return `\`${unixUser}\`@\`localhost\``;
}

/** A text as a literal that needs no escapes, whatever is in it. */
export function textLiteral(text: string): string {
  return `_utf8mb4 X'${Buffer.from(text, 'utf8').toString('hex')}'`;
}

/** Any name of a table, view or column, as the server gave it. */
export function identifier(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', 0: '\0', '\\': '\\' };

/** What `mariadb --batch --skip-column-names` wrote. NULL is there as `NULL`, like the text. */
export function parseBatch(output: string): string[][] {
  if (output === '') return [];
  const lines = output.replace(/\n$/, '').split('\n');
  return lines.map((line) => line.split('\t').map(unescapeBatch));
}

function unescapeBatch(field: string): string {
  return field.replace(/\\([nt0\\])/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
