import { type CommandOptions, runCommand } from '../../../lib/run-command.ts';
import { parseBatch } from './sql.ts';

/** A user of the server with a password, as whom any Unix user can connect. */
export interface DatabaseLogin {
  user: string;
  password: string;
}

/**
 * A user of the database server: root, or an install's Unix user with rights on its own database alone. `login`: another user of
 * the server, as whom the Unix user connects.
 */
export type DatabaseClient = 'root' | { unixUser: string; login?: DatabaseLogin };

/** A database and the only user with rights on it. */
export interface OwnedDatabase {
  database: string;
  owner: DatabaseClient;
}

/**
 * The command for one of MariaDB's client programs as that user. There is no password: the server asks the kernel who
 * connects. Customers' content (a dump, views, triggers, functions) must never run as root.
 */
export function clientCommand(
  socket: string,
  client: DatabaseClient,
  program: 'mariadb' | 'mariadb-dump' | 'mariadb-upgrade',
  args: readonly string[],
): [string, string[]] {
  const user = client === 'root' ? 'root' : client.unixUser;
  const login = client === 'root' ? user : (client.login?.user ?? user);
  const words = [`/usr/bin/${program}`, '--no-defaults', `--socket=${socket}`, `--user=${login}`, ...args];
  if (client === 'root') return [words[0] ?? '', words.slice(1)];
  return [
    '/usr/bin/setpriv',
    [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs', '--', ...words],
  ];
}

/** The environment of such a command, for passwords: every user can read arguments. */
export function clientEnvironment(client: DatabaseClient): Record<string, string> {
  const password = client === 'root' ? undefined : client.login?.password;
  return password === undefined ? {} : { MYSQL_PWD: password };
}

/**
 * `mariadb` reads statements without access to files or shell commands (`\!`), which a dump could contain. `loose`: releases
 * before 2024 do not know the option.
 */
const STATEMENTS = [
  '--loose-sandbox',
  '--batch',
  '--skip-column-names',
  '--default-character-set=utf8mb4',
  // The server's limit applies, not the smaller one of the program.
  '--max-allowed-packet=1G',
];
/** A website's time limit is too short for a large dump; the caller's time limit applies instead. */
const UNLIMITED = '--init-command=SET SESSION max_statement_time = 0';

/** Options of `mariadb` for statements from standard input. A user with a `login` has its own time limit. */
export function statementOptions(client: DatabaseClient): string[] {
  return client !== 'root' && client.login !== undefined ? STATEMENTS : [...STATEMENTS, UNLIMITED];
}

/** Runs our own statements and returns the rows of all results. They go through standard input. */
export async function runStatements(
  socket: string,
  client: DatabaseClient,
  statements: string,
  options: { database?: string } & Pick<CommandOptions, 'signal' | 'timeoutMs'> = {},
): Promise<string[][]> {
  const { database, ...limits } = options;
  const [file, args] = clientCommand(socket, client, 'mariadb', [
    ...statementOptions(client),
    ...(database === undefined ? [] : [database]),
  ]);
  const { stdout } = await runCommand(file, args, {
    ...limits,
    environment: clientEnvironment(client),
    input: statements,
  });
  return parseBatch(stdout);
}
