import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { printable, printJson, shownBytes, shownTime, table } from '../terminal/output.ts';
import { addPlatformMigrate } from './platform-migrate.ts';

const DESTINATION = 'a folder, or s3:https://endpoint/bucket/prefix (default: HOMEPORT_PLATFORM_BACKUP)';
const BACKUP = 'a name from "homeport platform backup list", or its full location';

export function addPlatformCommands(program: Command): void {
  const platform = program.command('platform').description('back up, restore and migrate the platform');
  const backup = platform.command('backup').description('manage backups of the platform');

  backup
    .command('create')
    .summary('back up the platform while it runs')
    .description(
      'back up the database and the websites, if they are in the data folder. Works with or without a running ' +
        'server. Exits with 1 if the files of a website could not be read',
    )
    .argument('[destination]', DESTINATION)
    .option('--with-sealing-key', 'include the sealing key')
    .option('--full', 'store everything again, although earlier backups have it')
    .option('--json', 'print JSON: the manifest of the backup, without its list of files')
    .addHelpText('after', '\nExample:\n  homeport platform backup create /mnt/backups')
    .action(async (destination: string | undefined, options: CreateOptions, command: Command) => {
      const { createBackup } = await import('./platform-backups.ts');
      const manifest = await createBackup(command, destination, {
        withSealingKey: options.withSealingKey === true,
        isFull: options.full === true,
      });
      const missing = manifest.websites.filter((website) => website.missing !== null);
      if (missing.length > 0) process.exitCode = 1;
      if (options.json) return printJson({ ...manifest, files: manifest.files.length });
      process.stdout.write(
        `Created ${manifest.name}: ${manifest.files.length} files, ${shownBytes(manifest.bytes)}, ` +
          `${shownBytes(manifest.stored_bytes ?? manifest.bytes)} of it new.\n`,
      );
      for (const sentence of manifest.not_included) process.stdout.write(`Not included: ${sentence}\n`);
      for (const website of missing)
        process.stderr.write(
          `homeport: the files of ${website.name} are missing: ${printable(website.missing ?? '')}\n`,
        );
    });

  backup
    .command('list')
    .description('list complete backups, oldest first')
    .argument('[destination]', DESTINATION)
    .option(
      '--json',
      'print JSON: an array of name, created_at, homeport_version, bytes, sealing_key, websites (how many)',
    )
    .addHelpText('after', '\nExample:\n  homeport platform backup list /mnt/backups')
    .action(async (destination: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const { listBackups } = await import('./platform-backups.ts');
      const all = await listBackups(command, destination);
      if (json) return printJson(all);
      if (all.length === 0) {
        process.stdout.write('There are no complete backups.\n');
        return;
      }
      const rows = all.map((one) => [
        one.name,
        shownTime(one.created_at, 'damaged'),
        one.homeport_version ?? '-',
        one.bytes === null ? '-' : shownBytes(one.bytes),
        one.sealing_key === null ? '-' : one.sealing_key ? 'yes' : 'no',
      ]);
      process.stdout.write(table(['NAME', 'CREATED', 'VERSION', 'SIZE', 'SEALING KEY'], rows));
    });

  backup
    .command('verify')
    .summary('read a backup back and compare checksums')
    .description('read a whole backup, compare sizes and checksums, and check its database')
    .argument('<backup>', BACKUP)
    .option('--json', 'print JSON: name, files, bytes, ok (true; a damaged backup is an error)')
    .addHelpText(
      'after',
      '\nExample:\n  homeport platform backup verify homeport-20261122T023000481Z-1e6a4c0e' +
        '\n  homeport platform backup verify /mnt/backups/homeport-20261122T023000481Z-1e6a4c0e',
    )
    .action(async (location: string, { json }: { json?: boolean }, command: Command) => {
      const { verifyBackup } = await import('./platform-backups.ts');
      const { name, files, bytes } = await verifyBackup(command, location);
      if (json) return printJson({ name, files: files.length, bytes, ok: true });
      process.stdout.write(`${name} is whole: ${files.length} files, ${shownBytes(bytes)}.\n`);
    });

  backup
    .command('prune')
    .summary('delete old backups')
    .description(
      'delete all but the newest backups of this platform, and leftovers of backups interrupted more than two days ago. ' +
        'Backups with another sealing key stay',
    )
    .argument('[destination]', DESTINATION)
    .option(
      '--keep <number>',
      'number of backups to keep (default: HOMEPORT_PLATFORM_BACKUP_KEEP)',
      countArgument,
    )
    .option('--json', 'print JSON: removed (an array of names)')
    .addHelpText('after', '\nExample:\n  homeport platform backup prune /mnt/backups --keep 7')
    .action(
      async (
        destination: string | undefined,
        options: { keep?: number; json?: boolean },
        command: Command,
      ) => {
        const { pruneBackups } = await import('./platform-backups.ts');
        const removed = await pruneBackups(command, destination, options.keep);
        if (options.json) return printJson({ removed });
        process.stdout.write(
          removed.length === 0 ? 'Nothing to delete.\n' : `Deleted ${removed.join(', ')}.\n`,
        );
      },
    );

  platform
    .command('restore')
    .summary('restore the platform from a backup')
    .description(
      'restore a backup of the platform into an empty data folder (HOMEPORT_DATA_DIR) and, with PostgreSQL, an empty database. ' +
        'Everything is checked before anything is restored. With --install, restore only the website of one install, on the platform ' +
        'that runs: the copy becomes a backup of the install, the present website is backed up, then it is replaced. A running server ' +
        'does the work, otherwise this command does',
    )
    .argument(
      '[backup]',
      `${BACKUP}; with --install also a folder or a bucket with backups (default: HOMEPORT_PLATFORM_BACKUP)`,
    )
    .option('--install <install>', 'restore only the website of this install: its name or id')
    .option(
      '--into <install>',
      'with --install: restore the website into another install (its name or id), which keeps its domains',
    )
    .option(
      '--from <time>',
      'with --install: use the newest backup that began until then, such as 2026-11-22 (its end) or 2026-11-22T14:00:00Z',
    )
    .option('--yes', 'with --install: replace the present website without asking')
    .option('--sealing-key <file>', 'the sealing key, if it is not in the backup')
    .option('--without-sealing-key', 'continue without the key; private keys in the backup are lost')
    .option(
      '--json',
      'print JSON: the manifest of the backup, without its list of files; with --install: job_id, backup_id, install_name, platform_backup, created_at',
    )
    .addHelpText(
      'after',
      '\nExample:\n  homeport platform restore /mnt/backups/homeport-20261122T023000481Z-1e6a4c0e --sealing-key /safe/sealing.key' +
        '\n  homeport platform restore --install harbourcafe' +
        '\n  homeport platform restore s3:https://s3.example.com/backups --install harbourcafe --from 2026-11-22',
    )
    .action(async (location: string | undefined, options: RestoreOptions, command: Command) => {
      const { install } = options;
      if (install !== undefined) {
        requireOfInstall(options);
        const { restoreWebsite } = await import('./restore-website.ts');
        return restoreWebsite(command, location, { ...options, install });
      }
      requireOfPlatform(location, options);
      const { restoreBackup } = await import('./platform-backups.ts');
      const { manifest, next } = await restoreBackup(command, location, {
        sealingKey: options.sealingKey ?? null,
        withoutSealingKey: options.withoutSealingKey === true,
      });
      if (options.json) return printJson({ ...manifest, files: manifest.files.length });
      process.stdout.write(
        `Restored ${manifest.name}, the platform as of ${shownTime(manifest.database_at, '')}.\n\nNext:\n`,
      );
      for (const [index, step] of next.entries())
        process.stdout.write(`  ${index + 1}. ${withOwnCommand(step)}\n`);
    });

  addPlatformMigrate(platform);
}

interface CreateOptions {
  withSealingKey?: boolean;
  full?: boolean;
  json?: boolean;
}

interface RestoreOptions {
  install?: string;
  into?: string;
  from?: string;
  yes?: boolean;
  sealingKey?: string;
  withoutSealingKey?: boolean;
  json?: boolean;
}

function requireOfPlatform(
  location: string | undefined,
  { into, from }: RestoreOptions,
): asserts location is string {
  if (into !== undefined || from !== undefined)
    throw new OperatorError('--into and --from need --install, which names the website to restore.');
  if (location === undefined)
    throw new OperatorError(
      'Name the backup to restore ("homeport platform backup list"), or with --install one website.',
    );
}

function requireOfInstall({ sealingKey, withoutSealingKey }: RestoreOptions): void {
  if (sealingKey === undefined && withoutSealingKey !== true) return;
  throw new OperatorError(
    '--sealing-key and --without-sealing-key are for the whole platform. The website of one install needs no key.',
  );
}

function countArgument(text: string): number {
  const count = Number(text);
  if (/^\d{1,5}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
