import { Readable } from 'node:stream';
import { runCommand } from '../../../lib/run-command.ts';
import { viewsOf } from './database-dump.ts';
import { withoutDefiners } from './definers.ts';
import { clientCommand, clientEnvironment, type OwnedDatabase, runStatements } from './mariadb-client.ts';
import { databaseName, identifier, textLiteral } from './sql.ts';

export type ProgramKind = 'TRIGGER' | 'VIEW' | 'FUNCTION' | 'PROCEDURE' | 'EVENT';

/** Statements for root that drop the views, triggers, functions, procedures and events of a database, or some of these. */
export async function dropPrograms(
  socket: string,
  database: string,
  kinds?: readonly ProgramKind[],
): Promise<string[]> {
  const schema = textLiteral(database);
  const rows = await runStatements(
    socket,
    'root',
    `SELECT 'TRIGGER', TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ${schema}
      UNION ALL SELECT 'VIEW', TABLE_NAME FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${schema} AND TABLE_TYPE = 'VIEW'
      UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${schema}
      UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ${schema}`,
  );
  return rows
    .filter(([found = '']) => kinds?.some((kind) => kind === found) ?? true)
    .map(([kind, name = '']) => `DROP ${kind} IF EXISTS ${databaseName(database)}.${identifier(name)}`);
}

/** Statements that create the triggers of some tables, without definers. */
export async function triggersOf(
  socket: string,
  { database, owner }: OwnedDatabase,
  tables: readonly string[],
): Promise<string> {
  if (tables.length === 0) return '';
  const options = ['--skip-dump-date', '--no-data', '--no-create-info', '--triggers'];
  const command = clientCommand(socket, owner, 'mariadb-dump', [...options, '--', database, ...tables]);
  return strip((await runCommand(...command, { environment: clientEnvironment(owner) })).stdout);
}

/** Statements that create everything of a database except its tables, without definers. */
export async function programsOf(socket: string, { database, owner }: OwnedDatabase): Promise<string> {
  const dump = async (...args: string[]) =>
    (
      await runCommand(
        ...clientCommand(socket, owner, 'mariadb-dump', ['--skip-dump-date', '--no-data', ...args]),
        { environment: clientEnvironment(owner) },
      )
    ).stdout;
  const { sound: names } = await viewsOf(socket, { database, owner });
  // Functions first, because views may use them.
  const programs = await dump('--no-create-info', '--triggers', '--routines', '--events', '--', database);
  const text = programs + (names.length > 0 ? await dump('--skip-triggers', '--', database, ...names) : '');
  return strip(text);
}

async function strip(text: string): Promise<string> {
  const stripped = await Readable.from([Buffer.from(text)])
    .pipe(withoutDefiners())
    .toArray();
  return Buffer.concat(stripped).toString();
}
