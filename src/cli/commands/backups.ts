import type { Command } from 'commander';
import type { ReplacedParts } from '../../features/backups/replaced-parts.ts';
import type { BackupDetails } from '../../features/backups/store.ts';
import { isBackupPath } from '../../hosting/contract/backup-path.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect, idArgument } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson, shortened, shownBytes, shownTime, table } from '../terminal/output.ts';
import { addBrowseCommands, findBackupOr } from './browse-backup.ts';
import { addRecoveryPointCommands } from './recovery-points.ts';

const LONGEST_DESCRIPTION = 60;

export function addBackupCommands(program: Command): void {
  const backup = program.command('backup').description('manage backups of installs');

  backup
    .command('list')
    .description('list backups, newest first')
    .option('--install <install>', 'backups of this install only: its name or id')
    .option(
      '--json',
      'print JSON: an array of id, status, install_id, install_name, description, bytes, reason, scheduled, missing_since, created_at',
    )
    .addHelpText('after', '\nExample:\n  homeport backup list --install harbourcafe')
    .action(listBackups);

  backup
    .command('restore')
    .summary('restore an install from a backup')
    .description(
      'restore the files and the database of an install from a completed backup, or only chosen files, folders and tables, and wait for ' +
        'the result. A running server does the work, otherwise this command does. The backup is verified before the install is changed',
    )
    .argument('<backup-id>', 'the backup ("homeport backup list")', idArgument)
    .option('--into <install>', 'restore into another install (its name or id), which keeps its domains')
    .option(
      '--path <path>',
      'restore only this file or folder ("homeport backup browse"); files that the backup lacks stay; may be repeated',
      collect,
    )
    .option('--table <table>', 'restore only this table of the database; may be repeated', collect)
    .option('--yes', 'replace the current website without asking')
    .option(
      '--json',
      'print JSON when it is done: job_id, backup_id, install_name (which was restored), state',
    )
    .addHelpText(
      'after',
      '\nExample:\n  homeport backup restore 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11 --yes' +
        '\n  homeport backup restore 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11 --into harbourtest' +
        '\n  homeport backup restore 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11 --path htdocs/wp-content/uploads --table wp_posts',
    )
    .action(restore);

  addRecoveryPointCommands(backup);
  addBrowseCommands(backup);
}

async function listBackups({ install, json }: { install?: string; json?: boolean }, command: Command) {
  await withPlatform(command, async (_platform, { backups }) => {
    const all = await backups.listAll(install);
    if (json) return printJson(all.map(backupJson));
    if (all.length === 0) {
      const whose = install === undefined ? '' : ` of the install "${install}"`;
      process.stdout.write(`There are no backups${whose} yet.\n`);
      return;
    }
    const rows = all.map(({ id, install_name, status, missing_since, bytes, created_at, description }) => [
      id,
      install_name,
      missing_since === null ? status : 'missing',
      bytes === null ? '-' : shownBytes(bytes),
      shownTime(created_at, '-'),
      shortened(description, LONGEST_DESCRIPTION),
    ]);
    process.stdout.write(
      `${table(['ID', 'INSTALL', 'STATUS', 'SIZE', 'REQUESTED', 'DESCRIPTION'], rows)}\n${inAll(all)}\n`,
    );
  });
}

function inAll(all: BackupDetails[]): string {
  const bytes = all.reduce((sum, backup) => sum + (backup.bytes ?? 0), 0);
  return `${all.length === 1 ? '1 backup' : `${all.length} backups`}, ${shownBytes(bytes)} in all.`;
}

function backupJson(backup: BackupDetails) {
  const { id, status, install_id, install_name, description, bytes, reason, scheduled } = backup;
  const { missing_since, created_at } = backup;
  return {
    ...{ id, status, install_id, install_name, description, bytes, reason, scheduled },
    ...{ missing_since, created_at },
  };
}

interface RestoreOptions {
  into?: string;
  path?: string[];
  table?: string[];
  yes?: boolean;
  json?: boolean;
}

async function restore(backupId: string, options: RestoreOptions, command: Command) {
  await withPlatform(command, async (platform, services) => {
    const backup = await findBackupOr(services, backupId);
    const paths = (options.path ?? []).map((path) => path.replace(/^\/+|\/+$/g, ''));
    const wrong = paths.find((path) => !isBackupPath(path));
    if (wrong !== undefined) throw new OperatorError(`"${printable(wrong)}" is no path of a backup.`);
    const { partsToRestore } = await import('../../features/backups/schema.ts');
    const parts = partsToRestore({ paths, db_tables: options.table ?? [] });
    const into = options.into ?? backup.install_name;
    if (options.yes !== true && backup.status === 'completed') await askToReplace(backup, into, parts);
    const { jobId, installName } = await services.backups.requestRestore(backupId, options.into, parts);
    const ended = await waitForJob(
      jobId,
      { title: `Restoring ${installName}`, subject: `The restore of ${installName}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        ended.state === 'cancelled'
          ? `The restore of ${installName} was cancelled: the install was deleted.`
          : `The restore of ${installName} failed: ${ended.error ?? 'the reason is unknown'}`,
      );
    }
    if (options.json)
      return printJson({ job_id: jobId, backup_id: backupId, install_name: installName, state: ended.state });
    const chosen = shownChoice(parts);
    process.stdout.write(
      chosen === null
        ? `Restored ${installName} to ${shownBackup(backup, installName)}.\n`
        : `Restored ${chosen} of ${installName} from ${shownBackup(backup, installName)}.\n`,
    );
  });
}

/** Names a backup from the view of the restored install. */
function shownBackup({ install_name, created_at }: BackupDetails, installName: string): string {
  const whose = install_name === installName ? 'its backup' : `${install_name}'s backup`;
  return `${whose} of ${shownTime(created_at, 'unknown age')}`;
}

/** Names the chosen parts of a backup; null for everything. */
function shownChoice({ paths, tables }: ReplacedParts): string | null {
  const counted = (list: readonly string[], noun: string) =>
    list.length === 1 ? `${noun} ${printable(list[0] ?? '')}` : `${list.length} ${noun}s`;
  const chosen = [
    ...(paths === undefined ? [] : [counted(paths, 'path')]),
    ...(tables === null ? [] : [counted(tables, 'table')]),
  ];
  return chosen.length === 0 ? null : `the ${chosen.join(' and the ')}`;
}

async function askToReplace(backup: BackupDetails, into: string, parts: ReplacedParts): Promise<void> {
  const what = shownChoice(parts) ?? 'the present website';
  const question =
    `Replace ${what} of ${into} by ${parts.paths === undefined && parts.tables === null ? '' : 'those of '}` +
    `${shownBackup(backup, into)} (${printable(shortened(backup.description, LONGEST_DESCRIPTION))})?`;
  await requireConsent(question, {
    effect: `This replaces ${what} of ${into}.`,
    kept: 'Nothing was restored.',
  });
}
