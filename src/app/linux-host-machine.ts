import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config, ListenAddress } from '../config/config.ts';
import { EDGE_FORWARD_PORT } from '../config/settings/edge.ts';
import { RESTORE_CHECK_PREFIX } from '../features/websites/installs/reserved-names.ts';
import type { HostMachine } from '../hosting/contract/host.ts';
import { installLimits } from '../hosting/contract/install-limits.ts';
import type { InstallRef } from '../hosting/contract/install-ref.ts';
import type { CronEntry } from '../hosting/contract/logs.ts';
import type { HostQuestions } from '../hosting/contract/questions.ts';
import { createBackups } from '../hosting/linux/backups/backups.ts';
import { createCgroups } from '../hosting/linux/daemons/cgroups.ts';
import { createDatabaseQuotas } from '../hosting/linux/daemons/database-quotas.ts';
import { createDatabaseShares } from '../hosting/linux/daemons/database-shares.ts';
import { createDatabases } from '../hosting/linux/daemons/databases.ts';
import { createDatabaseServer } from '../hosting/linux/daemons/mariadb.ts';
import { createSupervisor } from '../hosting/linux/daemons/supervisor.ts';
import { createSystemdDaemons } from '../hosting/linux/daemons/systemd.ts';
import { createImportStaging } from '../hosting/linux/imports/staged-website.ts';
import { createFirewall } from '../hosting/linux/isolation/firewall.ts';
import { createProjectQuotas } from '../hosting/linux/isolation/project-quotas.ts';
import { createUnixUsers } from '../hosting/linux/isolation/unix-users.ts';
import { createWalls } from '../hosting/linux/isolation/walls.ts';
import { createLinuxHost } from '../hosting/linux/linux-host.ts';
import { createCron } from '../hosting/linux/machine/cron.ts';
import { isHeld } from '../hosting/linux/machine/held.ts';
import { createJournal } from '../hosting/linux/machine/journal.ts';
import { type CodeFolders, type LinuxLayout, linuxLayout } from '../hosting/linux/machine/layout.ts';
import { findPhpRuntimes, type PhpRuntime, preferredRuntime } from '../hosting/linux/machine/php-runtimes.ts';
import { createRecords } from '../hosting/linux/machine/record.ts';
import { createMailQueue } from '../hosting/linux/mail/mail-queue.ts';
import { createMailSockets } from '../hosting/linux/mail/mail-sockets.ts';
import { createRelay } from '../hosting/linux/mail/relay.ts';
import { createWebServer } from '../hosting/linux/nginx/web-server.ts';
import { createPurgeQueue } from '../hosting/linux/purges/purge-queue.ts';
import { createPurgeSockets } from '../hosting/linux/purges/purge-sockets.ts';
import { createSshServer } from '../hosting/linux/ssh/ssh-server.ts';
import { createLinuxDatabaseLinks } from '../hosting/linux/websites/database-link.ts';
import { createLiveInstalls } from '../hosting/linux/websites/live-installs.ts';
import { linkLogs } from '../hosting/linux/websites/log-link.ts';
import { cgroupOf, type WebsiteRemains } from '../hosting/linux/websites/provisioning.ts';
import { createCompiledCores, onlyFound } from '../hosting/linux/wordpress/compiled-cores.ts';
import { createDatabaseTemplates } from '../hosting/linux/wordpress/database-templates.ts';
import { rotateErrorLog } from '../hosting/linux/wordpress/error-log.ts';
import { createWebsites } from '../hosting/linux/wordpress/website.ts';
import { createWpCliPhar } from '../hosting/linux/wp-cli/phar.ts';
import { createWpCli } from '../hosting/linux/wp-cli/run-wp-cli.ts';
import type { AppendMailLog } from '../hosting/policy/mail/mail-log.ts';
import { ownAddress } from '../hosting/policy/mail/message-head.ts';
import { phpBounds } from '../hosting/policy/php-limits.ts';
import { createUsageLedger } from '../hosting/policy/usage/ledger.ts';
import { linuxRecords, linuxRuntime } from '../hosting/runtime/linux/linux-runtime.ts';
import { runCron } from '../hosting/websites/cron/run-cron.ts';
import { createAccessLogs } from '../hosting/websites/logs/access-logs.ts';
import { createHostLogs } from '../hosting/websites/logs/host-logs.ts';
import type { CheckPace } from '../hosting/websites/probe/probing.ts';
import { createWordPressCores } from '../hosting/wordpress/cores.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { defaultDomain } from '../lib/default-domain.ts';
import { hasSystemd } from '../lib/has-systemd.ts';
import { type Randomness, systemRandomness } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { logRulesOf } from './log-rules.ts';

export interface MachineSurroundings {
  log: Logger;
  clock?: Clock;
  random?: Randomness;
  /** Distinguishes several hosts on one machine; `homeport` outside of tests. */
  instance?: string;
  /** Called after each step of creating a website: tests interrupt there. */
  reached?: (step: string, website: WebsiteRemains) => void;
  /** How long the checks of a change of a website wait. */
  checkPace?: Partial<CheckPace>;
  /** Whether the host compiles WordPress for its websites, which pays off after many pages. Default: yes. If not, it uses what is compiled. */
  compilesWordpress?: boolean;
  /** Folders of WordPress that other hosts use as well. Default: its own. */
  code?: CodeFolders | undefined;
}

/** Puts the parts of the Linux host together. `questions`: what it asks the control plane. */
export function createHostMachine(
  config: Config,
  questions: HostQuestions,
  givenId: string | null,
  {
    log,
    clock = systemClock,
    random = systemRandomness,
    instance = 'homeport',
    reached,
    checkPace,
    compilesWordpress = true,
    code,
  }: MachineSurroundings,
): HostMachine {
  const layout = layoutOf(config, code);
  const { edgeHttp, edgeHttps } = config;
  const limits = {
    memoryMb: config.installMemoryMb,
    cpuPercent: config.installCpuPercent,
    processes: config.installProcesses,
  };
  const bounds = phpBounds(config, limits);
  const cgroups = createCgroups({ instance, log });
  const daemons = hasSystemd()
    ? createSystemdDaemons({ instance, log })
    : createSupervisor({ runFolder: layout.runFolder, cgroups, log, clock });
  const databases = createDatabases({ layout });
  const databaseShares = createDatabaseShares({ layout, hasGroup: cgroups.enter('mariadb').length > 0, log });
  const users = createUnixUsers({ instance, uids: config.hostUids });
  const compiledCores = createCompiledCores({ layout, users, log });
  const quotas = createProjectQuotas({ layout, log });
  const templates = createDatabaseTemplates({ layout, databases, users, php: () => somePhp(layout), log });
  const websites = createWebsites({
    layout,
    databases,
    templates,
    origin: (hostname, secure) => originOf(hostname, secure, { edgeHttp, edgeHttps }),
    enter: (installId) => cgroups.enter(cgroupOf(installId)),
    log,
    clock,
    randomness: random,
  });
  const live = createLiveInstalls();
  const usage = createUsageLedger({ file: layout.usage, clock, log });
  const logRules = logRulesOf(config);
  const logs = createHostLogs({
    recordsOf: (id) => linuxRecords(layout, id),
    rules: logRules,
    installs: () => live.ids(),
    eachHour: (id) => linkLogs(layout.privateOf(id)),
    clock,
    log,
  });
  /** The website of that name that users may work on here. */
  const ownOf = (name: string) => {
    const install = live.byName(name);
    return install && !isHeld(install.placement, clock.now()) ? install : null;
  };
  const web = createWebServer({
    layout,
    daemons,
    edgeHttp,
    edgeHttps,
    edgeForward: forwardAddressOf(config),
    trustedProxies: config.trustProxy,
    resolvers: config.resolvers,
    s3: { endpoint: config.s3Endpoint, pathStyle: config.s3PathStyle },
    log,
    clock,
    instance,
    siteDomain: config.siteDomain,
    usage,
    accessLogs: createAccessLogs(logs, { wholeAddresses: logRules.wholeAddressMs !== 0 }),
    uploadMb: config.phpUploadMb,
    // A website of this host goes before the route that a move has left.
    usersRouted: (names) => users.setRelays(names.filter((name) => ownOf(name) === null)),
  });
  const wpCliPhar = createWpCliPhar({
    layout,
    source: config.wpCliSource,
    url: config.wpCliUrl,
    php: () => somePhp(layout),
    log,
  });
  const submitterOf = ({ id, name }: InstallRef) => ({
    install: { id, name },
    sender: envelopeSender(name, config),
    portalHost: new URL(config.publicUrl).hostname,
    siteDomain: config.siteDomain,
    ownDomain: defaultDomain(name, config.siteDomain),
    perHour: live.get(id)?.state.mail?.perHour ?? config.installMailsPerHour,
  });
  const appendLog: AppendMailLog = (install, entry) =>
    void logs.append('mail', install, [{ time: clock.now().toISOString(), ...entry }]);
  const mail = createMailQueue({
    folder: layout.mail,
    relay:
      config.relayUrl === null
        ? null
        : createRelay({ url: config.relayUrl, credentialsFile: config.relayCredentials }),
    appendLog,
    clock,
    log,
  });
  const queue = createPurgeQueue({
    web,
    wait: (milliseconds) => wait(milliseconds, undefined, { ref: false }),
    log,
  });
  return createLinuxHost({
    givenId,
    capacity: config.hostCapacity,
    edgeHttp,
    edgeHttps,
    layout,
    limits,
    phpBounds: bounds,
    cgroups,
    daemons,
    databases,
    websites,
    live,
    usage,
    logs,
    log,
    clock,
    random,
    reached,
    checkPace,
    isTrial: isRestoreCheck,
    users,
    quotas,
    databaseServer: createDatabaseServer({ layout, daemons, log }),
    cores: createWordPressCores({
      ...{ layout, source: config.wordpressSource, url: config.wordpressUrl, isLinked: true, log },
    }),
    releasesUrl: config.wordpressReleasesUrl,
    templates,
    compiledCores: compilesWordpress ? compiledCores : onlyFound(compiledCores),
    web,
    purges: createPurgeSockets({ layout, queue, clock, log }),
    mail,
    mailSockets: createMailSockets({
      ...{ layout, queue: mail, submitterOf, isTrial: isRestoreCheck, appendLog },
      ...{ clock, random, log },
    }),
    submitterOf,
    firewall: createFirewall({
      instance,
      uids: config.hostUids,
      edgePorts: [edgeHttp.port, edgeHttps.port],
      allowed: config.installTargets,
    }),
    backups: createBackups({
      layout,
      databases,
      quotas,
      websites,
      repository: config.backupRepository,
      credentials: config.backupCredentials,
      passwordOf: (installId) => questions.backupPassword(installId),
      log,
      clock,
    }),
    imports: createImportStaging({
      layout,
      databases,
      quotas,
      websites,
      enter: (installId) => cgroups.enter(cgroupOf(installId)),
      log,
    }),
    ssh: createSshServer({
      layout,
      daemons,
      cgroups,
      listen: config.sshListen,
      questions,
      relays: { has: users.isRelay, uid: users.relayId },
      installOf(name) {
        const install = ownOf(name);
        return install
          ? {
              install: { id: install.state.id, name },
              sandbox: install.sandbox,
              cgroupName: cgroupOf(install.state.id),
              database: install.placement.database,
            }
          : null;
      },
      log,
      clock,
    }),
    cron: createCron({
      async runCron(installId) {
        const install = live.get(installId);
        if (!install) return;
        await rotateErrorLog(layout, install.sandbox);
        const runtime = linuxRuntime(layout, install.sandbox, cgroups.enter(cgroupOf(installId)));
        const append = (entry: CronEntry) => logs.append('cron', installId, [entry]);
        const { exit, output } = await runCron(runtime, { append, clock });
        if (exit !== 0) throw new Error(`WP-Cron of ${install.state.name} failed: ${output}`);
      },
      // The copy of a shop in a restore check must neither send mails nor charge anyone, and neither must that of a move.
      installs: () =>
        live.ids().filter((id) => {
          const install = live.get(id);
          return install && !isRestoreCheck(install.state.name) && !isHeld(install.placement, clock.now());
        }),
      clock,
      log,
    }),
    databaseQuotas: createDatabaseQuotas({
      databases,
      names: () => live.ids().flatMap((id) => live.get(id)?.placement.database ?? []),
      mostBytes: layout.limits.bytes,
      log,
    }),
    databaseShares,
    walls: createWalls({ layout, daemons, databaseShares }),
    createDatabaseLink: createLinuxDatabaseLinks({ layout, clock, randomness: random, log }),
    wpCliPhar,
    wpCli: createWpCli({
      layout,
      cgroups,
      limits,
      isThere: wpCliPhar.isThere,
    }),
    records: createRecords({ folder: layout.records, log }),
    aside: createRecords({ folder: layout.aside, log }),
    journal: createJournal(layout.journals, layout.journalOf),
  });
}

/** The same for every message of an install: bounces must not reach addresses that a website chooses. */
function envelopeSender(
  installName: string,
  { relaySender, siteDomain }: Pick<Config, 'relaySender' | 'siteDomain'>,
): string {
  return (
    relaySender?.replaceAll('{name}', installName) ??
    ownAddress({ name: installName }, defaultDomain(installName, siteDomain))
  );
}

function isRestoreCheck(installName: string): boolean {
  return installName.startsWith(RESTORE_CHECK_PREFIX);
}

/** The address of a name for visitors, as far as this machine knows: with the port unless it is the standard one. */
function originOf(
  hostname: string,
  secure: boolean,
  { edgeHttp, edgeHttps }: Pick<Config, 'edgeHttp' | 'edgeHttps'>,
): string {
  const { port } = secure ? edgeHttps : edgeHttp;
  return new URL(`${secure ? 'https' : 'http'}://${hostname}:${port}`).origin;
}

async function somePhp(layout: LinuxLayout): Promise<PhpRuntime> {
  const preferred = preferredRuntime(await findPhpRuntimes(layout));
  if (preferred) return preferred;
  throw new OperatorError('This machine has no PHP for websites: "homeport host setup" installs it.');
}

/** Where the edge listens for those of other hosts; null if it takes no part. */
export function forwardAddressOf({
  edgeForward,
  edgeHttps,
}: Pick<Config, 'edgeForward' | 'edgeHttps'>): ListenAddress | null {
  return edgeForward === 'none' ? null : (edgeForward ?? { host: edgeHttps.host, port: EDGE_FORWARD_PORT });
}

/** The folders of the host. */
export function layoutOf(
  {
    hostFolder,
    hostRunFolder,
    installDiskGb,
    installFiles,
  }: Pick<Config, 'hostFolder' | 'hostRunFolder' | 'installDiskGb' | 'installFiles'>,
  code?: CodeFolders,
): LinuxLayout {
  return linuxLayout(
    hostFolder,
    hostRunFolder,
    installLimits({ diskGb: installDiskGb, files: installFiles }),
    code,
  );
}
