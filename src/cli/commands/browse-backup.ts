import { link, lstat, open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { OPERATOR_CALLER } from '../../access/caller.ts';
import type { Services } from '../../app/services.ts';
import type { BackupDetails } from '../../features/backups/store.ts';
import { type BackupEntry, MOST_BACKUP_ENTRIES } from '../../hosting/contract/backup-contents.ts';
import { MOST_READ_BYTES } from '../../hosting/contract/snapshots.ts';
import { hasCode } from '../../lib/error-code.ts';
import { BeingPrepared, NotFound } from '../../lib/failures.ts';
import { ifThere } from '../../lib/if-there.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { idArgument } from '../terminal/arguments.ts';
import { printable, printJson, shownBytes, shownTime, table } from '../terminal/output.ts';

const EXAMPLE = '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11';

export function addBrowseCommands(backup: Command): void {
  backup
    .command('browse')
    .summary('list the files or tables of a backup')
    .description(
      'list a folder of a backup, or the tables of its database. A backup of an earlier version is read as a whole first, which takes ' +
        'minutes if it is large',
    )
    .argument('<backup-id>', 'the backup ("homeport backup list")', idArgument)
    .argument('[path]', 'the folder, such as "htdocs/wp-content"; the top by default')
    .option('--tables', 'list the tables of the database instead')
    .option(
      '--json',
      'print JSON: an array of entries (name, path, type, size_bytes, modified_time, link_target) or tables',
    )
    .addHelpText(
      'after',
      `\nExample:\n  homeport backup browse ${EXAMPLE} htdocs/wp-content/uploads` +
        `\n  homeport backup browse ${EXAMPLE} --tables`,
    )
    .action(browse);

  backup
    .command('download')
    .summary('save one file of a backup')
    .description('save one file of a backup as it was. Nothing of the website changes')
    .argument('<backup-id>', 'the backup ("homeport backup list")', idArgument)
    .argument('<path>', 'the file ("homeport backup browse")')
    .option('--to <file>', 'the new file to save it in; by default the same name in this folder')
    .addHelpText(
      'after',
      `\nExample:\n  homeport backup download ${EXAMPLE} htdocs/wp-config.php --to former-config.php`,
    )
    .action(download);
}

/** Finds a backup by its id. Throws an OperatorError. */
export async function findBackupOr(services: Services, backupId: string): Promise<BackupDetails> {
  return services.backups.find(backupId).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new OperatorError(`There is no backup ${backupId}. List them with "homeport backup list".`);
  });
}

async function browse(
  backupId: string,
  path: string | undefined,
  { tables, json }: { tables?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, services) => {
    if (tables && path !== undefined) throw new OperatorError('Name a folder or --tables, not both.');
    const backup = await findBackupOr(services, backupId);
    if (tables) return showTables(services, backup, json ?? false);
    await showFolder(services, backup, (path ?? '').replace(/^\/+|\/+$/g, ''), json ?? false);
  });
}

async function showFolder(
  services: Services,
  backup: BackupDetails,
  folder: string,
  json: boolean,
): Promise<void> {
  const entries = await allOf((page) =>
    whenRead(() =>
      services.backupBrowsing
        .files(OPERATOR_CALLER, backup.install_id, backup.id, { path: folder, ...page })
        .then(({ count, entries: items }) => ({ count, items })),
    ),
  );
  const pathOf = ({ name }: BackupEntry) => (folder === '' ? name : `${folder}/${name}`);
  if (json) {
    return printJson(
      entries.map((entry) => ({
        ...{ name: entry.name, path: pathOf(entry), type: entry.type, size_bytes: entry.bytes },
        ...{ modified_time: timeOf(entry), link_target: entry.target },
      })),
    );
  }
  if (entries.length === 0) {
    process.stdout.write('The folder is empty.\n');
    return;
  }
  const rows = entries.map((entry) => [
    entry.type,
    entry.bytes === null ? '-' : shownBytes(entry.bytes),
    shownTime(timeOf(entry), '-'),
    printable(entry.target === null ? pathOf(entry) : `${pathOf(entry)} -> ${entry.target}`),
  ]);
  process.stdout.write(
    `${table(['TYPE', 'SIZE', 'CHANGED', 'PATH'], rows)}\n` +
      withOwnCommand(
        `Restore with "homeport backup restore ${backup.id} --path PATH", or save a file with "homeport backup download ${backup.id} PATH".\n`,
      ),
  );
}

async function showTables(services: Services, backup: BackupDetails, json: boolean): Promise<void> {
  const tables = await allOf((page) =>
    whenRead(() =>
      services.backupBrowsing
        .tables(OPERATOR_CALLER, backup.install_id, backup.id, page)
        .then(({ count, tables: items }) => ({ count, items })),
    ),
  );
  if (json) return printJson(tables.map(({ name, bytes, rows }) => ({ name, size_bytes: bytes, rows })));
  if (tables.length === 0) {
    process.stdout.write('The backup has no tables.\n');
    return;
  }
  const rows = tables.map(({ name, bytes, rows: count }) => [
    printable(name),
    count === null ? '-' : String(count),
    bytes === null ? '-' : shownBytes(bytes),
  ]);
  process.stdout.write(
    `${table(['TABLE', 'ROWS', 'SIZE'], rows)}\n` +
      withOwnCommand(`Restore with "homeport backup restore ${backup.id} --table TABLE".\n`),
  );
}

async function download(
  backupId: string,
  path: string,
  { to }: { to?: string },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, services) => {
    const backup = await findBackupOr(services, backupId);
    const file = to ?? basename(path);
    const { backupBrowsing } = services;
    const { size } = await whenRead(() =>
      backupBrowsing.look(OPERATOR_CALLER, backup.install_id, backupId, path),
    );
    const source = { backupId, install: { id: backup.install_id, name: backup.install_name }, path };
    await saveNew(file, size, (part) => backupBrowsing.read(source, part));
    process.stdout.write(`Saved ${printable(path)} to ${printable(file)} (${shownBytes(size)}).\n`);
  });
}

/**
 * Saves the file that `read` returns in parts under a new name, whole or not at all. Throws an OperatorError instead of replacing a
 * file, because the present folder may be that of the website.
 */
export async function saveNew(
  file: string,
  size: number,
  read: (part: { offset: number; length: number }) => Promise<Buffer>,
): Promise<void> {
  const isThere = (path: string) =>
    new OperatorError(`${path} is there already. Name another file with --to.`);
  if ((await ifThere(lstat(file))) !== null) throw isThere(file);
  const part = `${file}.part`;
  const output = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw hasCode(error, 'EEXIST') ? isThere(part) : error;
  });
  try {
    for (let offset = 0; offset < size; ) {
      const bytes = await read({ offset, length: MOST_READ_BYTES });
      if (bytes.length === 0) throw new OperatorError('The file ended too early. Try again.');
      offset += bytes.length;
      await output.writeFile(bytes);
    }
    await output.close();
    await link(part, file).catch((error: unknown) => {
      throw hasCode(error, 'EEXIST') ? isThere(file) : error;
    });
  } finally {
    await output.close();
    await rm(part, { force: true });
  }
}

/** Retries while the host reads the backup. Each request waits for some seconds. */
async function whenRead<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  let isSaid = false;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof BeingPrepared)) throw error;
      if (!isSaid)
        process.stderr.write('The host is still reading the backup. This takes minutes if it is large.\n');
      isSaid = true;
    }
  }
}

async function allOf<Item>(
  pageOf: (page: { offset: number; limit: number }) => Promise<{ count: number; items: Item[] }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const { count, items } = await pageOf({ offset: all.length, limit: MOST_BACKUP_ENTRIES });
    all.push(...items);
    if (items.length === 0 || all.length >= count) return all;
  }
}

function timeOf({ modifiedAt }: BackupEntry): string | null {
  const time = new Date(modifiedAt === null ? Number.NaN : modifiedAt * 1000);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
