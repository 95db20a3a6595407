import type { Host } from '../../hosting/contract/host.ts';
import type { InstallState } from '../../hosting/contract/install-state.ts';
import { type Completion, defineJob, type JobKind, Postponed, type RunningJob } from '../../jobs/job.ts';
import type { Platform } from '../../platform/platform.ts';
import { requireFormerState } from '../backups/former-state-store.ts';
import { hasCompletedBackup } from '../backups/store.ts';
import { ensureCertificates } from '../domains/certificates/self-signed-certificates.ts';
import { certificatesServed } from '../domains/certificates/served.ts';
import { adoptUploads } from '../domains/certificates/uploads/adopt-uploads.ts';
import { failDomains, failPendingDomains, ownDomainsOf, recordServed } from '../domains/domains/store.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { removeInstall } from '../hosts/removal-job.ts';
import {
  applyInstall,
  type PrimaryChange,
  provisionInstall,
  replaceUrls,
  switchWordpress,
  updatePhp,
} from '../websites/installs/jobs.ts';
import {
  failInstall,
  findActiveInstall,
  findInstallRef,
  findInstallStatus,
  noteApplied,
} from '../websites/installs/website-store.ts';
import { restartPhp, updatePhpLimits } from '../websites/php/jobs.ts';
import { storePhpLimits, withChange } from '../websites/php/limits-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { isNameBeingFreed } from './deleted-installs/store.ts';
import { loadDesiredState } from './desired-state.ts';
import { replaceUrlsKind, takeBackPrimaryLater } from './main-domain.ts';

/** Only the limits that change. */
type PhpChange = Parameters<typeof withChange>[1];

/** The jobs that provision, apply, switch and remove websites. */
export function installJobKinds(platform: Platform, host: Host): JobKind[] {
  return [
    defineJob({
      ...provisionInstall,
      async run({ id }, job) {
        const install = await findInstallRef(platform.database.reader, id);
        if (install && (await isNameBeingFreed(platform.database.reader, { id, name: install.name }))) {
          throw new Postponed('The earlier website of this name is still being removed');
        }
        return bringToDesiredState(platform, host, id, job, { status: 'active' });
      },
      async giveUp({ id }, _failure, transaction) {
        // The install's name stays taken until its deletion; the website is removed.
        const failed = await failInstall(transaction.queries, id);
        if (!failed) return;
        await failDomains(transaction.queries, id);
        // A restored install has backups, which outlive a failure.
        const keep_backups = await hasCompletedBackup(transaction.queries, id);
        await platform.queue.enqueue(transaction, removeInstall, {
          payload: { ...failed, keep_backups },
          lane: id,
        });
      },
    }),
    defineJob({
      ...applyInstall,
      run: ({ id, primary, from_scratch: fromScratch }, job) =>
        bringToDesiredState(platform, host, id, job, { primary, fromScratch }),
      async giveUp({ id, primary }, _failure, transaction) {
        // No job will complete these host names any more.
        await failPendingDomains(transaction.queries, id);
        await takeBackPrimaryLater(platform, transaction, id, primary);
      },
    }),
    defineJob({
      ...switchWordpress,
      async run({ id, version }, job) {
        await requireFormerState(platform.database.reader, id, job.id);
        return bringToDesiredState(platform, host, id, job, { wordpressVersion: version });
      },
    }),
    defineJob({
      ...updatePhp,
      run: ({ id, version }, job) => bringToDesiredState(platform, host, id, job, { phpVersion: version }),
    }),
    defineJob({
      ...updatePhpLimits,
      run: ({ id, change }, job) => bringToDesiredState(platform, host, id, job, { php: change }),
    }),
    defineJob({
      ...restartPhp,
      async run({ id }) {
        const install = await findActiveInstall(platform.database.reader, id);
        if (install) await permanently(postponing(host.restartPhp(install)));
      },
    }),
    replaceUrlsKind(platform, host),
    defineJob({
      ...removeInstall,
      run: ({ id, name, host_id: hostId, keep_backups: keepBackups = false }) =>
        postponing(host.remove({ id, name, ...(hostId === undefined ? {} : { hostId }) }, { keepBackups })),
    }),
  ];
}

/** An install that was deleted meanwhile, or whose provisioning failed for good, has no website to apply. */
async function bringToDesiredState(
  platform: Platform,
  host: Host,
  installId: string,
  { id: jobId, requestId, signal, progress }: Pick<RunningJob, 'id' | 'requestId' | 'signal' | 'progress'>,
  {
    primary,
    fromScratch = false,
    ...change
  }: {
    status?: 'active';
    wordpressVersion?: string;
    phpVersion?: string;
    php?: PhpChange;
    primary?: PrimaryChange | undefined;
    fromScratch?: boolean | undefined;
  } = {},
): Promise<Completion | undefined> {
  const { database } = platform;
  const status = await findInstallStatus(database.reader, installId);
  if (status === undefined) return undefined;
  if (status === 'failed') {
    return ({ queries }) => failPendingDomains(queries, installId);
  }

  const domains = await ownDomainsOf(database.reader, installId);
  await adoptUploads(platform, installId);
  await ensureCertificates(platform, domains);
  const desired = await loadDesiredState(platform, installId);
  if (!desired) return undefined;
  const php = change.php === undefined ? null : withChange(desired.php ?? null, change.php);
  // Stored only after the switch, so a failed switch is not repeated with every later change.
  const state = {
    ...desired,
    wordpressVersion: change.wordpressVersion ?? desired.wordpressVersion,
    phpVersion: change.phpVersion ?? desired.phpVersion,
    ...(php === null ? {} : { php }),
    ...(fromScratch ? { isMade: false } : {}),
  };
  const applied = await permanently(
    postponing(host.apply(state, signal, (done, total, step) => progress(done, total, 'bytes', step))),
  );
  return async (transaction) => {
    const { queries } = transaction;
    await noteApplied(queries, installId, { ...applied, status: change.status });
    if (php !== null) await storePhpLimits(queries, installId, php);
    await recordServed(queries, installId, servedNames(state));
    await certificatesServed(transaction, platform, installId);
    if (Object.keys(change).length > 0) await requestReading(transaction, platform.queue, installId);
    if (applied.hasFormerUrls) {
      await platform.queue.enqueue(transaction, replaceUrls, {
        payload: { id: installId, ...(primary === undefined ? {} : { primary }) },
        lane: installId,
        requestId,
        continues: jobId,
      });
    }
  };
}

/** The edge has a certificate for every served name, or apply() would have failed. */
function servedNames(state: InstallState): string[] {
  return state.hostnames.filter((hostname) => hostname.certificate !== null).map((hostname) => hostname.name);
}
