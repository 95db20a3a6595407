import type { Command } from 'commander';
import type { Services } from '../../app/services.ts';
import type { HostView } from '../../features/hosts/service.ts';
import {
  type BackupPlacesReport,
  countedBackups,
  type MovedBackups,
  refusedPlaceSentence,
  unseenPlaceSentence,
} from '../../hosting/contract/backup-places.ts';
import type { RemoteHost } from '../../hosting/remote/client.ts';
import { systemClock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import type { Platform } from '../../platform/platform.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { alignedPairs, printJson, shownTime } from '../terminal/output.ts';
import { wantedPlace } from './wanted-place.ts';

const SETTINGS = 'the settings of the host (/etc/homeport/homeport.conf)';
const NAME = 'the host; may be left out if there is only one';

/** Adds the commands for the place where a host keeps the backups of its installs. */
export function addHostBackups(host: Command): void {
  const backups = host
    .command('backups')
    .summary('move backups to another place')
    .description('see and change where a host keeps the backups of its installs');

  backups
    .command('show')
    .description('show where the backups are, and where they were before')
    .argument('[name]', NAME)
    .option('--json', 'print JSON: current, since, configured, refused, waiting, former, unseen')
    .addHelpText('after', '\nExample:\n  homeport host backups show')
    .action(show);

  backups
    .command('move')
    .summary('move all backups to another place')
    .description(
      'copy all backups of a host to another place with restic, verify the copies, and use them from then on. Websites and backups ' +
        'go on meanwhile. Repeat the command to continue an interrupted move. The former backups stay ("homeport host backups ' +
        'forget-old" deletes them)',
    )
    .argument('[name]', NAME)
    .option(
      '--to <place>',
      'a folder or s3:https://endpoint/bucket/prefix (default: the one in the settings)',
    )
    .option(
      '--credentials-file <file>',
      'file with "access key id:secret access key" (default: the settings)',
    )
    .option('--from <place>', 'also bring backups of an earlier place, which the platform still lists')
    .option('--from-credentials-file <file>', 'the same for --from')
    .option('--json', 'print JSON: place, installs, backups, copied')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host backups move --to s3:https://s3.example.net/backups/web1 \\\n' +
        '    --credentials-file /etc/homeport/s3-key',
    )
    .action(move);

  backups
    .command('accept')
    .summary('use the place in the settings without the backups')
    .description(
      'use the backup place in the settings although it lacks the backups. They stay in the former place and cannot be restored from ' +
        'there, unless "homeport host backups move --from" brings them later. Also for a place whose backups are lost',
    )
    .argument('[name]', NAME)
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host backups accept')
    .action(accept);

  backups
    .command('forget-old')
    .summary('delete the backups in former places')
    .description(
      'delete the backups that a move has left in former places. It refuses if the present place lacks any listed backup',
    )
    .argument('[name]', NAME)
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host backups forget-old')
    .action(forgetOld);
}

/** Runs work on a host, by name or the only one. */
async function onHost(
  name: string | undefined,
  command: Command,
  work: (on: { host: HostView; remote: RemoteHost; platform: Platform; services: Services }) => Promise<void>,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const host = chosen(await services.hosts.list(), name);
    const { askHost } = await import('../platform/ask-host.ts');
    await askHost(await services.hosts.target(host.name), (remote) =>
      work({ host, remote, platform, services }),
    );
  });
}

function chosen(hosts: HostView[], name: string | undefined): HostView {
  const [first, ...others] = name === undefined ? hosts : hosts.filter((host) => host.name === name);
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    throw new OperatorError(`Name the host: ${hosts.map((host) => host.name).join(', ')}.`);
  }
  throw new OperatorError(
    name === undefined
      ? 'There are no hosts. The server itself keeps the backups, in host/snapshots of its data folder.'
      : `There is no host "${name}"; "homeport host list" shows them all.`,
  );
}

async function show(name: string | undefined, { json }: { json?: boolean }, command: Command): Promise<void> {
  await onHost(name, command, async ({ host, remote }) => {
    const report = await remote.backupPlaces();
    if (json) return printJson(report);
    const { current, since, configured, refused, waiting, former, unseen = [] } = report;
    const pairs: [string, string][] = [
      ['Host', host.name],
      ['Backups are in', since === null ? current : `${current}, since ${shownTime(since, '-')}`],
      ['The settings say', configured],
      ...(waiting.length > 0 ? [['Not moved yet', `${waiting.length} installs`] as [string, string]] : []),
      ...former.map((place): [string, string] => ['Kept in', place]),
    ];
    process.stdout.write(`${alignedPairs(pairs)}\n`);
    for (const place of unseen)
      process.stdout.write(withOwnCommand(`\n${unseenPlaceSentence(report, place)}\n`));
    if (refused !== null)
      process.stdout.write(withOwnCommand(`\n${refusedPlaceSentence(current, refused)}\n`));
    if (waiting.length > 0) {
      process.stdout.write(
        withOwnCommand(
          `\nThe move is not finished. Continue it with "homeport host backups move --to ${current}".\n`,
        ),
      );
    }
  });
}

interface MoveOptions {
  to?: string;
  credentialsFile?: string;
  from?: string;
  fromCredentialsFile?: string;
  json?: boolean;
}

async function move(name: string | undefined, options: MoveOptions, command: Command): Promise<void> {
  const to = await wantedPlace(options.to, options.credentialsFile, '--to');
  const from = await wantedPlace(options.from, options.fromCredentialsFile, '--from');
  await onHost(name, command, async ({ host, remote, platform, services }) => {
    const { installsWithBackups } = await import('../../features/provisioning/listed-backups-store.ts');
    const { requestReconciliation } = await import('../../features/backups/reconcile-backups.ts');
    const listed = await installsWithBackups(platform.database.reader, host.id);
    const before = await remote.backupPlaces();
    const progress = createLineProgress(`Moving the backups of ${host.name}`, process.stderr, systemClock);
    let moved: MovedBackups;
    // Set before, so that nothing is deleted meanwhile.
    await services.hosts.noteBackupsMoved(host.name);
    try {
      moved = await remote.moveBackups(
        { installs: listed.map(({ install }) => install), to, from },
        undefined,
        (done, total) => progress.report(`${done} of ${total ?? '?'} backups`),
      );
    } finally {
      progress.end();
    }
    await requestReconciliation(platform, host.id);
    if (options.json) return printJson(moved);
    process.stdout.write(movedText(moved, before, await remote.backupPlaces()));
  });
}

function movedText(
  moved: MovedBackups,
  before: BackupPlacesReport,
  { configured, former }: BackupPlacesReport,
): string {
  const lines = [
    `${countedBackups(moved)} are in ${moved.place}, and verified; ${moved.copied} were copied just now.`,
  ];
  if (configured !== moved.place) {
    lines.push(
      `Now write this to ${SETTINGS}, so that it agrees:`,
      `  HOMEPORT_BACKUP_REPOSITORY=${moved.place}`,
      ...(moved.place.startsWith('s3:')
        ? ['  HOMEPORT_BACKUP_CREDENTIALS=<access key id>:<secret access key>']
        : []),
    );
  }
  if (former.length > 0 && before.current !== moved.place) {
    lines.push(
      `The former backups stay in ${former.join(' and ')}. Once a restore has worked, delete them:`,
      '  homeport host backups forget-old',
    );
  }
  return withOwnCommand(`${lines.join('\n')}\n`);
}

async function accept(name: string | undefined, { yes }: { yes?: boolean }, command: Command): Promise<void> {
  await onHost(name, command, async ({ host, remote, platform, services }) => {
    const { current, configured, refused, unseen = [] } = await remote.backupPlaces();
    const isLost = unseen.some(({ address }) => address === current);
    if (current === configured && !isLost) {
      process.stdout.write(`The backups of ${host.name} are in ${current} already.\n`);
      return;
    }
    if (current === configured && yes !== true) {
      await requireConsent(`Begin with an empty place in ${current}?`, {
        effect: `This gives up the backups of ${host.name} that were in ${current}.`,
        kept: 'Nothing was changed.',
      });
    } else if (yes !== true) {
      const what = refused?.held ? countedBackups(refused.held) : 'The backups';
      await requireConsent(`Use ${configured}, and leave ${what} behind in ${current}?`, {
        effect: `This leaves the backups of ${host.name} behind in ${current}.`,
        kept: 'Nothing was changed.',
      });
    }
    await services.hosts.noteBackupsMoved(host.name);
    await remote.acceptBackupPlace();
    const { requestReconciliation } = await import('../../features/backups/reconcile-backups.ts');
    await requestReconciliation(platform, host.id);
    const fate =
      current === configured
        ? 'Those that are not there are listed as missing.'
        : `The former ones stay in ${current} and are listed as missing.`;
    process.stdout.write(`Backups of ${host.name} go to ${configured} from now on. ${fate}\n`);
  });
}

async function forgetOld(
  name: string | undefined,
  { yes }: { yes?: boolean },
  command: Command,
): Promise<void> {
  await onHost(name, command, async ({ host, remote, platform }) => {
    const { former } = await remote.backupPlaces();
    if (former.length === 0) {
      process.stdout.write(`${host.name} keeps no backups in former places.\n`);
      return;
    }
    if (yes !== true) {
      await requireConsent(`Delete the backups of ${host.name} in ${former.join(' and ')}?`, {
        effect: `This deletes the backups of ${host.name} in ${former.join(' and ')}.`,
        kept: 'Nothing was deleted.',
      });
    }
    const { installsWithBackups } = await import('../../features/provisioning/listed-backups-store.ts');
    const deleted = await remote.forgetFormerBackups(
      await installsWithBackups(platform.database.reader, host.id),
    );
    process.stdout.write(
      `Deleted the former backups of ${deleted === 1 ? '1 install' : `${deleted} installs`} in ${former.join(' and ')}.\n`,
    );
  });
}
