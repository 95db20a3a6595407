import { INSTALL_NAME } from '../../../lib/host-names.ts';
import { PermanentHostError } from '../../contract/errors.ts';

/** Prefix of all our databases. */
export const DATABASE_PREFIX = 'hp_';

/** `hp_` and 1 to 50 of `a-z 0-9 _`, in backticks. Throws a {@link PermanentHostError} for any other name. */
export function databaseName(name: string): string {
  if (!/^hp_[a-z0-9_]{1,50}$/.test(name)) {
    throw new PermanentHostError(`"${name}" cannot be the name of a database`);
  }
  return `\`${name}\``;
}

/** The name for GRANT, where an unescaped `_` would match any character. */
export function grantedDatabase(name: string): string {
  return databaseName(name).replaceAll('_', '\\_');
}

const NAME = new RegExp(`^${INSTALL_NAME}$`);
/** Users with rights on the whole server. */
const SYSTEM_USERS = ['mysql', 'root'];

/** Database user of a Unix user: `` `shop`@`localhost` ``. Throws a {@link PermanentHostError}. */
export function databaseUser(unixUser: string): string {
  if (!NAME.test(unixUser) || SYSTEM_USERS.includes(unixUser)) {
    throw new PermanentHostError(`"${unixUser}" cannot be the name of a user of the database server`);
  }
  return `\`${unixUser}\`@\`localhost\``;
}

/** A text as a literal that needs no escaping. */
export function textLiteral(text: string): string {
  return `_utf8mb4 X'${Buffer.from(text, 'utf8').toString('hex')}'`;
}

/** A table, view or column name as the server returned it, quoted. */
export function identifier(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', 0: '\0', '\\': '\\' };

/** Parses the output of `mariadb --batch --skip-column-names`. NULL and the text `NULL` look the same. */
export function parseBatch(output: string): string[][] {
  if (output === '') return [];
  const lines = output.replace(/\n$/, '').split('\n');
  return lines.map((line) => line.split('\t').map(unescapeBatch));
}

function unescapeBatch(field: string): string {
  return field.replace(/\\([nt0\\])/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
