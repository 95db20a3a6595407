import { resolve } from 'node:path';
import type { Command } from 'commander';
import { hasAllData, missingParts } from '../../app/embedded-websites.ts';
import type { Services } from '../../app/services.ts';
import type { Config } from '../../config/config.ts';
import { findWebsite } from '../../features/websites/installs/website-store.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { splitLocation } from '../../platform-backup/destination.ts';
import { BACKUP_NAME } from '../../platform-backup/storage.ts';
import { findWebsiteCopy, type WebsiteCopy } from '../../platform-backup/website-copy.ts';
import { loadSealingKey, sealingKeyFingerprint } from '../../secrets/sealing-key.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson, shownBytes, shownTime } from '../terminal/output.ts';
import { destinationOf, withStorage } from './platform-backups.ts';

interface RestoreWebsiteOptions {
  install: string;
  into?: string;
  from?: string;
  yes?: boolean;
  json?: boolean;
}

/** Restores the website of one install from a backup of the platform. */
export async function restoreWebsite(
  command: Command,
  location: string | undefined,
  options: RestoreWebsiteOptions,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { config } = platform;
    requireWebsitesHere(config);
    await requireOwnFolder(platform);
    const until = options.from === undefined ? null : endOf(options.from);
    const { destination, backup } = placeOf(config, location);
    const target = await targetOf(platform, services, options);
    const source =
      options.into === undefined ? { id: target.id, name: null } : await sourceOf(platform, options);
    const copy = await withStorage(config, destination, (storage) =>
      findWebsiteCopy(storage, {
        ...source,
        platform: sealingKeyFingerprint(loadSealingKey(config)),
        backup,
        until,
      }),
    );
    if (copy.changing) {
      process.stderr.write(
        `Warning: ${printable(copy.name)} changed while ${copy.manifest.name} was made, so its files may be of several moments. Earlier ones: --from.\n`,
      );
    }
    // A website that has lost data cannot be backed up. One that is only not served can, once it is created again.
    const checkpoint = await hasAllData(config, target);
    if (options.yes !== true) await askToReplace(copy, target.name, checkpoint);
    const isUnserved = (await missingParts(config, target.id)).vhost;
    const { jobId, backupId } = await services.platformCopies.request({
      installId: target.id,
      place: { destination, credentials: config.platformBackupCredentials },
      platformBackup: copy.manifest.name,
      website: copy,
      checkpoint,
      isUnserved,
    });
    await waitForRestore({ jobId, backupId, target, copy, json: options.json === true }, platform, services);
  });
}

/** The platform backup has websites of the embedded host only. */
function requireWebsitesHere({ host }: Config): void {
  if (host === 'embedded') return;
  throw new OperatorError(
    'Platform backups do not have the websites of Linux hosts. Their backups are in the repository of the host (HOMEPORT_BACKUP_REPOSITORY): ' +
      '"homeport backup list --install NAME" shows them, and "homeport backup restore ID" restores one.',
  );
}

/** A location is one backup, or a folder or bucket with several. */
function placeOf(
  config: Config,
  location: string | undefined,
): { destination: string; backup: string | null } {
  const absolute = (destination: string) =>
    destination.startsWith('s3:') ? destination : resolve(destination);
  if (location !== undefined && BACKUP_NAME.test(location))
    return { destination: absolute(destinationOf(config, undefined)), backup: location };
  const { destination, name } = splitLocation(location ?? '');
  return BACKUP_NAME.test(name)
    ? { destination: absolute(destination), backup: name }
    : { destination: absolute(destinationOf(config, location)), backup: null };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** The time that `--from` means. A day means its end. */
function endOf(text: string): Date {
  const at = DAY.test(text) || TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return new Date(DAY.test(text) ? at + DAY_MS - 1 : at);
  throw new OperatorError(
    `--from takes a day like 2026-11-22, or a time like 2026-11-22T14:00:00Z; not "${text}".`,
  );
}

/** The install whose website is replaced. */
async function targetOf(
  { database: { reader } }: Platform,
  { deletedInstalls }: Services,
  { install, into }: RestoreWebsiteOptions,
): Promise<{ id: string; name: string; runtime: string | null }> {
  const wanted = into ?? install;
  const id = parseUuid(wanted);
  const found = await findWebsite(reader, id === undefined ? { name: wanted } : { id });
  if (found !== undefined) return found;
  if (into !== undefined)
    throw new OperatorError(
      `There is no install "${printable(into)}" to restore into; "homeport install list" shows all.`,
    );
  const deleted = (await deletedInstalls.listAll()).find((one) => one.name === wanted || one.id === id);
  if (deleted !== undefined) {
    throw new OperatorError(
      `${printable(deleted.name)} was deleted, and its backups are kept until ${shownTime(deleted.expires_at, '')}: ` +
        `run "homeport install restore-deleted ${deleted.name}". It also brings back its domains and settings.`,
    );
  }
  throw new OperatorError(
    `There is no install "${printable(install)}". If it was deleted, create one with "homeport install create NAME", ` +
      `and add "--into NAME" to this command. "homeport install list" shows all installs.`,
  );
}

/**
 * The website for another install. Only one that is gone is looked up by its name in the backup. The backup may have an earlier install
 * with the name of a present one, perhaps of another account.
 */
async function sourceOf(
  { database: { reader } }: Platform,
  { install }: RestoreWebsiteOptions,
): Promise<{ id: string | null; name: string | null }> {
  const id = parseUuid(install);
  if (id !== undefined) return { id, name: null };
  const present = await findWebsite(reader, { name: install });
  return present === undefined ? { id: null, name: install } : { id: present.id, name: null };
}

async function askToReplace(
  { manifest, name, bytes }: WebsiteCopy,
  into: string,
  checkpoint: boolean,
): Promise<void> {
  const before = checkpoint
    ? 'It is backed up before.'
    : 'Data of it is missing, so it cannot be backed up before.';
  const copy = `${name === into ? 'its copy' : `the copy of ${printable(name)}`} of ${shownTime(manifest.created_at, '')}`;
  await requireConsent(
    `This replaces the present website of ${into} by ${copy} (${shownBytes(bytes)}, ${manifest.name}). ${before} Continue?`,
    {
      effect: `This replaces the present website of ${into}. ${before}`,
      kept: 'Nothing was restored.',
    },
  );
}

interface Requested {
  jobId: string;
  backupId: string;
  target: { name: string };
  copy: WebsiteCopy;
  json: boolean;
}

async function waitForRestore(
  { jobId, backupId, target: { name }, copy: { manifest }, json }: Requested,
  platform: Platform,
  services: Services,
): Promise<void> {
  const title = { title: `Restoring ${name}`, subject: `The restore of ${name}` };
  const ended = await waitForJob(jobId, title, platform, services);
  if (ended === undefined) return;
  if (ended.state !== 'succeeded') {
    throw new OperatorError(
      ended.state === 'cancelled'
        ? `The restore of ${name} was cancelled.`
        : `The restore of ${name} failed: ${ended.error ?? 'the reason is unknown'}`,
    );
  }
  if (json) {
    return printJson({
      ...{ job_id: jobId, backup_id: backupId, install_name: name },
      ...{ platform_backup: manifest.name, created_at: manifest.created_at },
    });
  }
  process.stdout.write(
    `Restored ${name} to its copy of ${shownTime(manifest.created_at, '')} in ${manifest.name}. The copy is now its backup ${backupId}.\n`,
  );
}
