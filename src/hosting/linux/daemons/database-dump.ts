import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../../../lib/durable-file.ts';
import { withoutDefiners } from './definers.ts';
import {
  clientCommand,
  clientEnvironment,
  type OwnedDatabase,
  runStatements,
  statementOptions,
} from './mariadb-client.ts';
import { runPiped } from './piped-command.ts';
import { textLiteral } from './sql.ts';

/** A consistent snapshot of all tables. Equal content gives equal text, so that backups share what has not changed. */
const CONSISTENT = [
  '--single-transaction',
  '--quick',
  '--skip-lock-tables',
  '--no-tablespaces',
  '--hex-blob',
  '--skip-dump-date',
  '--order-by-primary',
  '--default-character-set=utf8mb4',
  '--max-allowed-packet=1G',
];
/** Objects of a database besides tables and views. */
const PROGRAMS = ['--triggers', '--routines', '--events'];

/**
 * Writes a dump of the database into `file`, whole or not at all. Leaves out definers ({@link withoutDefiners}) and broken
 * views, which could not be created again. Returns the names of those views.
 */
export async function dumpInto(
  file: string,
  socket: string,
  { database, owner }: OwnedDatabase,
  signal?: AbortSignal,
): Promise<string[]> {
  const { broken } = await viewsOf(socket, { database, owner }, signal);
  const part = `${file}.part`;
  await rm(part, { force: true });
  const output = await open(part, 'wx', 0o600);
  try {
    const ignored = broken.map((view) => `--ignore-table=${database}.${view}`);
    const options = [...CONSISTENT, ...PROGRAMS, ...ignored, '--', database];
    await runPiped(...clientCommand(socket, owner, 'mariadb-dump', options), {
      read: (stdout) => pipeline(stdout, withoutDefiners(), (text) => output.writeFile(text)),
      signal,
    });
    await output.sync();
  } catch (error) {
    await output.close();
    await rm(part, { force: true });
    throw error;
  }
  await output.close();
  await rename(part, file);
  await syncFolder(dirname(file));
  return broken;
}

/** The views of a database. `broken` ones use missing tables or columns; mariadb-dump would fail at them. */
export async function viewsOf(
  socket: string,
  { database, owner }: OwnedDatabase,
  signal?: AbortSignal,
): Promise<{ sound: string[]; broken: string[] }> {
  const rows = await runStatements(
    socket,
    owner,
    // Selecting CREATE_TIME makes the server open the views, and so notice broken ones.
    `SELECT TABLE_NAME, TABLE_COMMENT, CREATE_TIME FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE = 'VIEW' ORDER BY TABLE_NAME`,
    { signal },
  );
  // The server reports a broken view only in its comment.
  const named = (sound: boolean) =>
    rows.filter(([, comment]) => (comment === 'VIEW') === sound).map(([name = '']) => name);
  return { sound: named(true), broken: named(false) };
}

/** Runs every statement of a dump in the database. This process opens `file`, so the owner need not have access to it. */
export async function loadFrom(
  file: string,
  socket: string,
  { database, owner }: OwnedDatabase,
  signal?: AbortSignal,
): Promise<void> {
  const input = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await runPiped(...clientCommand(socket, owner, 'mariadb', [...statementOptions(owner), database]), {
      input,
      environment: clientEnvironment(owner),
      signal,
    });
  } finally {
    await input.close();
  }
}
