import { type CommandOptions, runCommand } from '../machine/run-command.ts';
import { parseBatch } from './sql.ts';

/** Somebody who speaks to the database server: root, or the Unix user of an install, who has rights on its own database alone. */
export type DatabaseClient = 'root' | { unixUser: string };

/** A database, and the user that has rights on it alone. */
export interface OwnedDatabase {
  database: string;
  owner: DatabaseClient;
}

/**
 * The command that runs one of MariaDB's client programs as that user, who needs no password: the server asks the kernel who is
 * at the other end of its socket. What customers have written (a dump, views, triggers, functions) must never run as root.
 */
export function clientCommand(
  socket: string,
  client: DatabaseClient,
  program: 'mariadb' | 'mariadb-dump' | 'mariadb-upgrade',
  args: readonly string[],
): [string, string[]] {
  const user = client === 'root' ? 'root' : client.unixUser;
  const words = [`/usr/bin/${program}`, '--no-defaults', `--socket=${socket}`, `--user=${user}`, ...args];
  if (client === 'root') return [words[0] ?? '', words.slice(1)];
  return [
    '/usr/bin/setpriv',
    [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs', '--', ...words],
  ];
}

/**
 * `mariadb` reads statements, sees no files of its user's and runs no commands (`\!`), which text out of a dump could ask for.
 * `loose`: releases from before 2024 do not know the option.
 */
export const STATEMENTS = [
  '--loose-sandbox',
  '--batch',
  '--skip-column-names',
  '--default-character-set=utf8mb4',
  // The server's limit counts, and not the smaller one that the program would have.
  '--max-allowed-packet=1G',
  // What websites are limited to is too short to load a large dump; who runs the program ends it by its own time limit.
  '--init-command=SET SESSION max_statement_time = 0',
];

/** Runs statements of our own and gives the rows of their answers, all together. They go through standard input. */
export async function runStatements(
  socket: string,
  client: DatabaseClient,
  statements: string,
  options: { database?: string } & Pick<CommandOptions, 'signal' | 'timeoutMs'> = {},
): Promise<string[][]> {
  const { database, ...limits } = options;
  const [file, args] = clientCommand(socket, client, 'mariadb', [
    ...STATEMENTS,
    ...(database === undefined ? [] : [database]),
  ]);
  const { stdout } = await runCommand(file, args, { ...limits, input: statements });
  return parseBatch(stdout);
}
