import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { hostSocketOf, takesConnections } from '../platform/host-socket.ts';
import { pidOf, presentWorkers } from '../platform/present-workers.ts';
import { areWebsitesServed } from '../platform/websites-lock.ts';
import { checkBackups, checkRecoveryPoints } from './backups.ts';
import { checkCertificate } from './certificate.ts';
import { checkCertificateAuthority } from './certificate-authority.ts';
import { checkCheckpoints } from './checkpoints.ts';
import { checkClock, watchClock } from './clock.ts';
import { checkConfiguration } from './configuration.ts';
import { checkCounts } from './counts.ts';
import { checkDamagedBackups } from './damaged-backups.ts';
import { checkDataFolder } from './data-folder.ts';
import { examineDatabase } from './database.ts';
import { checkDescriptors } from './descriptors.ts';
import { checkDomainCertificates } from './domain-certificates.ts';
import { checkEmbeddedWordPress } from './embedded-wordpress.ts';
import { type Finding, problem, reasonOf } from './finding.ts';
import { checkHsts } from './hsts.ts';
import { checkImports } from './imports.ts';
import { checkInstallNames } from './install-names.ts';
import { checkJobs } from './jobs.ts';
import { checkKnownHosts } from './known-hosts.ts';
import { checkMail } from './mail.ts';
import { checkOrphans } from './orphans.ts';
import { checkPlatformBackup } from './platform-backup.ts';
import { checkPortalHost } from './portal-host.ts';
import { checkApiPort, checkHostingPorts } from './ports.ts';
import { checkPublicCertificate } from './public-certificate.ts';
import { checkReleases } from './releases.ts';
import { checkResolvers } from './resolvers.ts';
import { checkSealingKey } from './sealing-key.ts';
import { checkSetAsideJobs } from './set-aside-jobs.ts';
import { checkPages } from './website-pages.ts';
import { checkWebsites } from './websites.ts';
import { checkWordPressReleases } from './wordpress-releases.ts';

/** Runs all checks without changing anything. `file`: the file of `--config`. `report`: gets the progress of requested pages. */
export async function examine(
  config: Config,
  {
    file,
    log,
    clock = systemClock,
    report,
  }: { file?: string | undefined; log: Logger; clock?: Clock; report?: (state: string) => void },
): Promise<Finding[]> {
  const jumped = watchClock(clock, () => performance.now());
  const folder = await findingsOf('data folder', () => checkDataFolder(config.dataDir));
  const { findings, database, current } = await examineDatabase(config, log);
  try {
    const tables = current ? database : null;
    const workers = tables === null ? [] : await presentWorkers(tables, clock);
    // A server with a full disk still serves, but no longer reports to the database.
    const serves = config.host === 'embedded' && areWebsitesServed(config);
    const serverRuns = serves || workers.some((worker) => worker.here);
    return [
      ...(await findingsOf('configuration', () => checkConfiguration(config, file))),
      ...folder,
      ...findings,
      ...(await findingsOf('open files', () =>
        checkDescriptors(workers.filter(({ here }) => here).map(pidOf)),
      )),
      ...(await findingsOf('sealing key', () => checkSealingKey(config, tables))),
      ...(await findingsOf('certificate', () => checkCertificate(config, clock))),
      ...(await findingsOf('public certificate', () => checkPublicCertificate(config))),
      ...(await findingsOf('HSTS', () => checkHsts(config))),
      ...(await findingsOf('certificate authority', () => checkCertificateAuthority(config))),
      ...(await findingsOf('resolvers', () => checkResolvers(config))),
      ...(tables === null ? [] : await findingsOf('install names', () => checkInstallNames(tables, config))),
      ...(tables === null
        ? []
        : await findingsOf('domain certificates', () => checkDomainCertificates(tables, config, clock))),
      ...(tables === null ? [] : await findingsOf('portal host', () => checkPortalHost(tables, config))),
      ...(await findingsOf('API', () => checkApiPort(config, serverRuns))),
      ...(config.host === 'embedded'
        ? await findingsOf('ports', () => checkHostingPorts(config, serverRuns))
        : await findingsOf('ports', () => checkPortsOfHost(config))),
      ...(tables === null
        ? []
        : config.host === 'embedded'
          ? await findingsOf('websites', () => checkWebsites(tables, config))
          : await findingsOf('hosts', () => checkKnownHosts(tables))),
      // Only the running server has an edge that answers.
      ...(tables === null || !serves
        ? []
        : await findingsOf('pages', () => checkPages(tables, config, report && { report }))),
      ...(await findingsOf('WordPress', () => checkEmbeddedWordPress(config))),
      ...(tables === null ? [] : await findingsOf('orphans', () => checkOrphans(tables, config))),
      ...(tables === null ? [] : await findingsOf('backups', () => checkBackups(tables, config, clock))),
      ...(tables === null
        ? []
        : await findingsOf('recovery points', () => checkRecoveryPoints(tables, config, clock))),
      ...(tables === null ? [] : await findingsOf('backups', () => checkDamagedBackups(tables, config))),
      ...(tables === null ? [] : await findingsOf('counts', () => checkCounts(tables))),
      ...(tables === null ? [] : await findingsOf('checkpoints', () => checkCheckpoints(tables, clock))),
      ...(tables === null ? [] : await findingsOf('imports', () => checkImports(tables, clock))),
      ...(tables === null
        ? []
        : await findingsOf('platform backup', () => checkPlatformBackup(tables, config, clock))),
      ...(tables === null
        ? []
        : await findingsOf('WordPress releases', () => checkWordPressReleases(tables, config, clock))),
      ...(tables === null ? [] : await findingsOf('releases', () => checkReleases(tables, config))),
      ...(tables === null ? [] : await findingsOf('jobs', () => checkJobs(tables, clock, workers, serves))),
      ...(tables === null ? [] : await findingsOf('set aside jobs', () => checkSetAsideJobs(tables))),
      ...(await findingsOf('mail', () => checkMail(config, clock))),
      ...(await findingsOf('clock', () => checkClock(clock, jumped, database, current))),
    ];
  } finally {
    await database?.close();
  }
}

/** Checks the host of this machine; without one this machine serves no websites. */
async function checkPortsOfHost(config: Config): Promise<Finding[]> {
  return (await takesConnections(hostSocketOf(config))) ? checkHostingPorts(config, true) : [];
}

type Found = Finding | Finding[];

/** Keeps a failing check from hiding others. */
async function findingsOf(check: string, look: () => Found | Promise<Found>): Promise<Finding[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    return [
      problem(
        check,
        `The check failed: ${reasonOf(error)}.`,
        'Fix the other problems first, then run doctor again.',
      ),
    ];
  }
}
