import type { Services } from '../../app/services.ts';
import { type NewestBackup, newestBackups } from '../../features/backups/newest-backup-store.ts';
import { areRecoveryPointsMade } from '../../features/backups/recovery-points/schedule.ts';
import type { HostView } from '../../features/hosts/service.ts';
import type { Difference, DiskQuotaKind, Wall } from '../../hosting/contract/host.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import type { MailQueueReport } from '../../hosting/contract/mail.ts';
import type { TimeLimits } from '../../hosting/remote/client.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { askHost } from '../platform/ask-host.ts';
import { shownTime } from '../terminal/output.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

/**
 * Compares every machine that runs websites with its desired state, all at the same time. With `repair` each fixes what it
 * can. A machine that does not answer in time is a finding.
 */
export async function examineHosts(
  platform: Platform,
  services: Services,
  repair: boolean,
  limits: TimeLimits = {},
): Promise<Finding[]> {
  const hosts = await services.hosts.list();
  if (hosts.length === 0 && platform.config.host === 'embedded') {
    return [
      ok('hosts', 'There are no hosts: the server itself serves the websites (HOMEPORT_HOST=embedded).'),
    ];
  }
  if (hosts.length === 0) {
    return [
      problem(
        'hosts',
        'There are no hosts.',
        'Run "homeport serve" to register the host of this machine, or add another one with "homeport host add".',
      ),
    ];
  }
  const findings = hosts.map((host) => examineHost(platform, services, host, repair, limits));
  return (await Promise.all(findings)).flat();
}

async function examineHost(
  { database, clock, config }: Platform,
  { hosts }: Services,
  { id, name }: HostView,
  repair: boolean,
  limits: TimeLimits,
): Promise<Finding[]> {
  const expected: InstallRef[] = await database.reader
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('host_id', '=', id)
    .where('status', '!=', 'failed')
    .execute();
  try {
    const target = await hosts.target(name);
    const [differences, mail, { diskQuotas, walls = [] }, places] = await askHost(
      target,
      async (remote) => [
        await remote.inspect(expected, repair),
        // Hosts of earlier versions do not know this command.
        await remote.mailQueue({ installId: null, ids: null }).catch(() => null),
        await remote.describe(),
        areRecoveryPointsMade(config) ? await remote.backupPlaces() : null,
      ],
      limits,
    );
    const backups = await newestBackups(
      database.reader,
      differences.flatMap(({ backupOf }) => backupOf ?? []),
    );
    const findings = [
      ...findingsOf(name, expected.length, differences, backups),
      ...(diskQuotas === undefined ? [] : [quotaFinding(name, diskQuotas)]),
      ...wallFindings(name, walls),
      ...(places?.isOnOwnDisk === true ? [ownDiskFinding(name, places.current)] : []),
    ];
    return mail === null ? findings : [...findings, ...mailFindings(name, mail, clock.now())];
  } catch (error) {
    return [
      problem(
        name,
        `The inspection failed: ${reasonOf(error)}.`,
        'Check that "homeport host" runs there. Its log says why it does not start. After an upgrade, run "homeport host setup" there.',
      ),
    ];
  }
}

/** Recovery points that are lost with the machine are of little use. */
const ownDiskFinding = (host: string, place: string): Finding =>
  warning(
    host,
    `Backups and recovery points are in ${place}, on the disk of the websites. They are lost with it.`,
    'Move them to a bucket or to another machine: "homeport host backups move --help".',
  );

/**
 * Formats the findings of a host. `installs`: the number that the control plane has there. `backups`: the newest backups, by install.
 * Pure.
 */
export function findingsOf(
  host: string,
  installs: number,
  differences: Difference[],
  backups: ReadonlyMap<string, NewestBackup> = new Map(),
): Finding[] {
  const findings = differences.map((difference) => findingOf(host, difference, backups));
  if (differences.some((difference) => !isSkipped(difference))) return findings;
  const count = installs === 1 ? '1 install' : `${installs} installs`;
  const what = differences.length === 0 ? 'All' : 'Everything that was checked';
  return [ok(host, `${what} matches the desired state, ${count}.`), ...findings];
}

function findingOf(
  host: string,
  difference: Difference,
  backups: ReadonlyMap<string, NewestBackup>,
): Finding {
  const { thing, message, mended, backupOf } = difference;
  const remedy = backupOf === undefined ? difference.remedy : restoreAdvice(backups.get(backupOf));
  const check = `${host}: ${thing}`;
  if (mended === true) return ok(check, `${message} Fixed.`);
  if (isSkipped(difference)) return ok(check, message);
  return { check, state: 'problem', message, remedy };
}

/** Advice from the control plane, because the host does not know the list of backups. */
function restoreAdvice(backup: NewestBackup | undefined): string {
  if (backup === undefined) return 'Homeport has no backup of it. Bring the data back by SFTP.';
  const { id, created_at, verified_at, pointOf } = backup;
  if (pointOf !== undefined)
    return `Restore the newest recovery point, of ${shownTime(created_at, '')}: homeport backup recover ${pointOf} --yes`;
  const checked = verified_at === null ? 'never verified' : `verified ${shownTime(verified_at, '')}`;
  return `Restore the newest backup, of ${shownTime(created_at, '')} (${checked}): homeport backup restore ${id} --yes`;
}

const QUOTAS: Record<DiskQuotaKind['kind'], string> = {
  project: 'Project quotas of the file system limit the files of each install.',
  measured:
    'Websites are measured, and full ones can store no large files. The file system has no active project quotas, which would stop them at once.',
  none: 'Nothing limits the files of installs (HOMEPORT_INSTALL_DISK_GB, HOMEPORT_INSTALL_FILES).',
};

/** How the files of installs are limited. Pure. */
export function quotaFinding(host: string, { kind, advice }: DiskQuotaKind): Finding {
  const remedy = kind !== 'measured' || advice === null ? null : `To turn project quotas on, ${advice}.`;
  return { ...ok(`${host}: disk quotas`, QUOTAS[kind]), remedy };
}

/** A line with the walls between websites that hold, and one for each that does not. Pure. */
export function wallFindings(host: string, walls: readonly Wall[]): Finding[] {
  const check = `${host}: walls between websites`;
  const holding = walls.filter(({ weakness }) => weakness === null).map(({ name }) => name);
  const weaker = walls.flatMap(({ name, weakness, remedy }) =>
    weakness === null
      ? []
      : [{ check: `${check}: ${name}`, state: 'warning' as const, message: weakness, remedy }],
  );
  return [...(holding.length === 0 ? [] : [ok(check, `These hold: ${holding.join(', ')}.`)]), ...weaker];
}

/** Findings about the mail queue of a host. Pure. */
export function mailFindings(
  host: string,
  { relay, oldest, messages }: MailQueueReport,
  now: Date,
): Finding[] {
  const check = `${host}: mail`;
  if (relay === null) {
    const message = 'Websites here cannot send mail: no relay is configured there (HOMEPORT_RELAY_URL).';
    return [ok(check, message)];
  }
  if (oldest === null || now.getTime() - Date.parse(oldest) < HOUR_MS) return [];
  const waiting = messages === 1 ? '1 message waits' : `${messages} messages wait`;
  const remedy = `"homeport host mail ${host}" shows why.`;
  return [problem(check, `${waiting} for the relay, the oldest since ${oldest}.`, remedy)];
}

/** Findings that need no action. */
function isSkipped({ mended, remedy }: Difference): boolean {
  return mended === null && remedy === null;
}
