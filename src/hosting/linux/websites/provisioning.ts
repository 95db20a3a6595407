import type { InstallState } from '../../contract/install-state.ts';
import { effectivePhp } from '../../policy/php-limits.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { CHECK_PACE, type ProbeSite } from '../../websites/probe/probing.ts';
import { websiteScripts } from '../../websites/probe/website-scripts.ts';
import { type AskedEdge, requireWordPress, type VisitedWebsite } from '../../wordpress/wordpress-answers.ts';
import { redisSpec } from '../daemons/redis.ts';
import { makeHome, removeHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import type { Placement, SeenData } from '../machine/record.ts';
import type { Stage } from '../machine/saga.ts';
import { fpmSpec, writeFpmFiles } from '../php/fpm.ts';
import { warmUp } from '../php/warm-up.ts';
import type { SiteAddress } from '../wordpress/website.ts';
import { linkLogs } from './log-link.ts';
import type { WebsiteParts } from './website-parts.ts';

/** The facts that suffice to remove a website, even if all others are lost. */
export interface WebsiteRemains {
  id: string;
  name: string;
  /** Name of its database. The database user is the install's Unix user. */
  database: string;
}

/** A website during or after provisioning, as the steps need it. */
export interface Website extends WebsiteRemains {
  state: InstallState;
  php: PhpRuntime;
  wordpressVersion: string;
  /** Main names whose URLs in the database are still to be replaced. */
  formerNames?: string[] | undefined;
  /** The user id of its files; a new website has none yet. */
  uid?: number;
  seen?: SeenData | undefined;
  lost?: string[] | undefined;
  held?: Placement['held'];
  awaitsRestore?: Placement['awaitsRestore'];
}

export const phpDaemon = (installId: string): string => `php-${installId}`;
export const redisDaemon = (installId: string): string => `redis-${installId}`;
/** Cgroup of the install's programs that are not daemons: logins and WP-Cron. */
export const cgroupOf = (installId: string): string => `install-${installId}`;

/** Its login shell; sshd's forced command runs it inside the sandbox. */
const LOGIN_SHELL = '/bin/sh';

export type WebsiteSteps = ReturnType<typeof websiteSteps>;

/**
 * The stages that provision a website, and the steps that an existing website repeats when it changes. No one can reach the
 * website before the last stages. `edge`: addresses of this machine's web server.
 */
export function websiteSteps(parts: WebsiteParts, edge: () => AskedEdge) {
  const { layout, users, databases, websites, daemons, cgroups, web, limits } = parts;

  /** Includes creating the install's user if it is missing. */
  async function sandboxOf({
    id,
    name,
    php,
    wordpressVersion,
    uid: given,
  }: Website): Promise<SandboxedInstall> {
    const { uid, gid } = await users.ensure({
      installId: id,
      name,
      home: layout.homeOf(id),
      shell: LOGIN_SHELL,
      uid: given,
    });
    const compiledCore = await parts.compiledCores.find(php, wordpressVersion);
    const install = { id, name, uid, gid, php, wordpressVersion };
    return compiledCore === null ? install : { ...install, compiledCore };
  }

  async function makeFolders(website: Website): Promise<void> {
    const install = await sandboxOf(website);
    await makeHome(layout, install);
    await parts.quotas.ensure(layout.homeOf(website.id), install.uid);
    await linkLogs(layout.privateOf(website.id));
  }

  /** Never recreates a lost database: with an empty one, WordPress would offer its installer to any visitor. */
  async function grantDatabase(website: WebsiteRemains): Promise<void> {
    if ((await databases.list()).includes(website.database)) await makeDatabase(website);
  }

  const makeDatabase = ({ database, name }: WebsiteRemains) => databases.create(database, name);
  const limit = ({ id }: WebsiteRemains) => cgroups.set(cgroupOf(id), limits);

  async function startPhp(website: Website): Promise<void> {
    const install = await sandboxOf(website);
    const options = { layout, install, limits, php: effectivePhp(parts.phpBounds, website.state.php) };
    await writeFpmFiles(options);
    await daemons.ensure(fpmSpec(options));
  }

  async function startRedis(website: Website): Promise<void> {
    await daemons.ensure(redisSpec({ layout, install: await sandboxOf(website) }));
  }

  async function listenForPurges(website: Website): Promise<void> {
    await parts.purges.open(await sandboxOf(website));
  }

  async function listenForMail(website: Website): Promise<void> {
    await parts.mailSockets.open(await sandboxOf(website));
  }

  async function serve(website: Website): Promise<void> {
    const { uid } = await sandboxOf(website);
    const { state, wordpressVersion, lost, held } = website;
    await web.put({ state, uid, wordpressVersion, lost, held });
  }

  /** Repairs the files of the host, which contain the website's address. */
  async function repairFiles(website: Website): Promise<void> {
    const { state, database } = website;
    await websites.repairFiles(await sandboxOf(website), { ...addressOf(state), database });
  }

  async function makeWordPress(website: Website): Promise<void> {
    const { state, database } = website;
    await websites.makeFiles(await sandboxOf(website), { ...addressOf(state), database });
    await websites.fillDatabase(await sandboxOf(website), website.database, {
      ...addressOf(website.state),
      title: website.name,
    });
  }

  /** Ignores failures: the step `answer` reports them, and requests the website as visitors do. */
  async function tryWarmUp({ state }: Website): Promise<void> {
    await warmUp(layout, state, edge().http).catch(() => {});
  }

  const stages: Stage<Website, WebsiteRemains>[] = [
    [
      {
        name: 'unix user',
        act: async (website) => void (await sandboxOf(website)),
        undo: ({ id, name }) => users.remove(id, name),
      },
    ],
    [
      {
        name: 'folders',
        act: makeFolders,
        async undo({ id }) {
          await parts.quotas.release(layout.homeOf(id));
          await removeHome(layout, id);
        },
      },
      {
        name: 'database',
        act: makeDatabase,
        undo: ({ database, name }) => databases.drop(database, name),
      },
      {
        name: 'limits',
        act: limit,
        async undo({ id }) {
          await cgroups.kill(cgroupOf(id));
          await cgroups.remove(cgroupOf(id));
        },
      },
    ],
    [
      { name: 'redis', act: startRedis, undo: ({ id }) => daemons.remove(redisDaemon(id)) },
      { name: 'php', act: startPhp, undo: ({ id }) => daemons.remove(phpDaemon(id)) },
      { name: 'purge socket', act: listenForPurges, undo: ({ id }) => parts.purges.close(id) },
      {
        name: 'mail socket',
        act: listenForMail,
        async undo({ id }) {
          await parts.mailSockets.close(id);
          await parts.mail.removeInstall(id);
        },
      },
      // The folders and the database are removed with these.
      { name: 'wordpress', act: makeWordPress, undo: async () => {} },
    ],
    [
      { name: 'vhost', act: serve, undo: ({ id }) => web.remove(id) },
      { name: 'warm-up', act: tryWarmUp, undo: async () => {} },
    ],
    [
      {
        name: 'answer',
        act: ({ state }, signal) => requireWordPress(visitedWebsite(state), edge(), signal),
        undo: async () => {},
      },
    ],
  ];
  /** Restores everything except content that a restart of the machine or an operator may have removed. */
  async function ensureServices(website: Website): Promise<void> {
    await makeFolders(website);
    await Promise.all([grantDatabase(website), limit(website)]);
    await Promise.all([
      startRedis(website),
      startPhp(website),
      listenForPurges(website),
      listenForMail(website),
    ]);
  }

  /** The website for a check of its pages. */
  const lookAt = async (website: Website, signal?: AbortSignal): Promise<ProbeSite> => ({
    ...websiteScripts(
      linuxRuntime(layout, await sandboxOf(website), cgroups.enter(cgroupOf(website.id))),
      signal,
    ),
    website: visitedWebsite(website.state),
    edge: edge(),
    database: website.database,
    clock: parts.clock,
    random: parts.random,
    pace: { ...CHECK_PACE, ...parts.checkPace },
    signal,
  });

  return {
    stages,
    lookAt,
    sandboxOf,
    makeFolders,
    repairFiles,
    startPhp,
    startRedis,
    listenForPurges,
    listenForMail,
    serve,
    ensureServices,
  };
}

/** The website as its visitors address it. */
export function visitedWebsite(state: InstallState): VisitedWebsite {
  return { ...addressOf(state), names: state.hostnames.map(({ name }) => name) };
}

/** The website's main address. */
export function addressOf({ primaryHostname, hostnames, rules }: InstallState): SiteAddress {
  const primary = hostnames.find(({ name }) => name === primaryHostname);
  const passKey = rules?.password?.passKey ?? null;
  return { primaryHostname, secure: primary?.forceHttps ?? false, passKey };
}
