import type { Host, InstallState } from '../../hosting/contract/host.ts';
import { type Completion, defineJob, type JobKind } from '../../jobs/job.ts';
import type { Platform } from '../../platform/platform.ts';
import { ensureCertificates } from '../domains/certificates/self-signed-certificates.ts';
import { certificatesServed } from '../domains/certificates/served.ts';
import { failDomains, failPendingDomains, ownDomainsOf, recordServed } from '../domains/domains/store.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { removeInstall } from '../hosts/removal-job.ts';
import { applyInstall, provisionInstall, switchWordpress } from '../websites/installs/jobs.ts';
import { failInstall, findInstallStatus, noteApplied } from '../websites/installs/website-store.ts';
import { loadDesiredState } from './desired-state.ts';

/** The work on websites: make one, bring one to what the database says, take one away. */
export function installJobKinds(platform: Platform, host: Host): JobKind[] {
  return [
    defineJob({
      ...provisionInstall,
      run: ({ id }, { signal }) => bringToDesiredState(platform, host, id, signal, { status: 'active' }),
      async giveUp({ id }, _failure, transaction) {
        // The name stays with the row until it is deleted; what was made of the website is undone.
        const failed = await failInstall(transaction.queries, id);
        if (!failed) return;
        await failDomains(transaction.queries, id);
        await platform.queue.enqueue(transaction, removeInstall, { payload: failed, lane: id });
      },
    }),
    defineJob({
      ...applyInstall,
      run: ({ id }, { signal }) => bringToDesiredState(platform, host, id, signal),
      // Nobody works any more on what these names wait for.
      giveUp: ({ id }, _failure, { queries }) => failPendingDomains(queries, id),
    }),
    defineJob({
      ...switchWordpress,
      run: ({ id, version }, { signal }) =>
        bringToDesiredState(platform, host, id, signal, { wordpressVersion: version }),
    }),
    defineJob({
      ...removeInstall,
      run: ({ id, name, host_id: hostId }) =>
        postponing(host.remove({ id, name, ...(hostId === undefined ? {} : { hostId }) })),
    }),
  ];
}

/** An install that was deleted meanwhile, or whose provisioning failed for good, has no website to bring anywhere. */
async function bringToDesiredState(
  platform: Platform,
  host: Host,
  installId: string,
  signal: AbortSignal,
  change: { status?: 'active'; wordpressVersion?: string } = {},
): Promise<Completion | undefined> {
  const { database } = platform;
  const status = await findInstallStatus(database.reader, installId);
  if (status === undefined) return undefined;
  if (status === 'failed') {
    return ({ queries }) => failPendingDomains(queries, installId);
  }

  const domains = await ownDomainsOf(database.reader, installId);
  await ensureCertificates(platform, domains);
  const desired = await loadDesiredState(platform, installId);
  if (!desired) return undefined;
  // Written down only once it is so: a switch that fails leaves nothing that is tried again with every change.
  const state = { ...desired, wordpressVersion: change.wordpressVersion ?? desired.wordpressVersion };
  const applied = await permanently(postponing(host.apply(state, signal)));
  return async (transaction) => {
    const { queries } = transaction;
    await noteApplied(queries, installId, { ...applied, status: change.status });
    await recordServed(queries, installId, servedNames(state));
    await certificatesServed(transaction, platform, installId);
  };
}

/** The edge has a certificate for each name that it serves: apply() failed otherwise. */
function servedNames(state: InstallState): string[] {
  return state.hostnames.filter((hostname) => hostname.certificate !== null).map((hostname) => hostname.name);
}
