import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../../durable-file.ts';
import { withoutDefiners } from './definers.ts';
import { clientCommand, type DatabaseClient, STATEMENTS } from './mariadb-client.ts';
import { runPiped } from './piped-command.ts';

/** One state of all tables, as text that is equal as long as they are, so that backups of it share what has not changed. */
const CONSISTENT = [
  '--single-transaction',
  '--quick',
  '--skip-lock-tables',
  '--no-tablespaces',
  '--hex-blob',
  '--skip-dump-date',
  '--order-by-primary',
  '--default-character-set=utf8mb4',
];
/** What a database has besides its tables and views. */
const PROGRAMS = ['--triggers', '--routines', '--events'];

/** Writes the database into `file`, which is there whole or not at all. Its definers are left out ({@link withoutDefiners}). */
export async function dumpInto(
  file: string,
  socket: string,
  client: DatabaseClient,
  database: string,
  signal?: AbortSignal,
): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  const output = await open(part, 'wx', 0o600);
  try {
    const options = [...CONSISTENT, ...PROGRAMS, database];
    await runPiped(...clientCommand(socket, client, 'mariadb-dump', options), {
      read: (stdout) => pipeline(stdout, withoutDefiners(), output.createWriteStream({ autoClose: false })),
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
}

/** Runs every statement of a dump in the database. `file` is opened by this process: its user need not be able to reach it. */
export async function loadFrom(
  file: string,
  socket: string,
  client: DatabaseClient,
  database: string,
  signal?: AbortSignal,
): Promise<void> {
  const input = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await runPiped(...clientCommand(socket, client, 'mariadb', [...STATEMENTS, database]), { input, signal });
  } finally {
    await input.close();
  }
}
