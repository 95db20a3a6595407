import type { InstallState } from '../../contract/host.ts';
import { redisSpec } from '../daemons/redis.ts';
import { makeHome, removeHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import type { Stage } from '../machine/saga.ts';
import { fpmSpec, writeFpmConfig } from '../php/fpm.ts';
import { warmUp } from '../php/warm-up.ts';
import type { SiteAddress } from '../wordpress/website.ts';
import { requireWordPress } from '../wordpress/wordpress-answers.ts';
import type { WebsiteParts } from './website-parts.ts';

/** What is enough to take a website away, of which nothing else may be known any more. */
export interface WebsiteRemains {
  id: string;
  name: string;
  /** Name of its database. Its user is the install's Unix user. */
  database: string;
}

/** A website that is being made, or one that is there: what the steps work on. */
export interface Website extends WebsiteRemains {
  state: InstallState;
  php: PhpRuntime;
  wordpressVersion: string;
  /** The user id that its files belong to; a website that is being made has none yet. */
  uid?: number;
}

export const phpDaemon = (installId: string): string => `php-${installId}`;
export const redisDaemon = (installId: string): string => `redis-${installId}`;
/** For what runs as the install and is no daemon: log-ins and cron. */
export const cgroupOf = (installId: string): string => `install-${installId}`;

/** The shell of its log-ins; the forced command puts the sandbox before it. */
const LOGIN_SHELL = '/bin/sh';

export type WebsiteSteps = ReturnType<typeof websiteSteps>;

/**
 * The making of a website, stage by stage, and those of its steps that a website which is there goes through again when it
 * changes. Before the last stages nobody can reach it. `edge`: where the web server of this machine is asked by HTTP.
 */
export function websiteSteps(parts: WebsiteParts, edge: () => { host: string; port: number }) {
  const { layout, users, databases, websites, daemons, cgroups, web, limits } = parts;

  /** The install's user, who is made where there is none. */
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
    await makeHome(layout, await sandboxOf(website));
  }

  /** A lost database is not made anew: an empty one has WordPress offer its installer to whoever comes first. */
  async function grantDatabase(website: WebsiteRemains): Promise<void> {
    if ((await databases.list()).includes(website.database)) await makeDatabase(website);
  }

  const makeDatabase = ({ database, name }: WebsiteRemains) => databases.create(database, name);
  const limit = ({ id }: WebsiteRemains) => cgroups.set(cgroupOf(id), limits);

  async function startPhp(website: Website): Promise<void> {
    const install = await sandboxOf(website);
    await writeFpmConfig({ layout, install, limits });
    await daemons.ensure(fpmSpec({ layout, install, limits }));
  }

  async function startRedis(website: Website): Promise<void> {
    await daemons.ensure(redisSpec({ layout, install: await sandboxOf(website) }));
  }

  async function show(website: Website): Promise<void> {
    const { uid } = await sandboxOf(website);
    await web.put({ state: website.state, uid, wordpressVersion: website.wordpressVersion });
  }

  /** Files of WordPress, and in them how the website is reached. */
  async function makeFiles(website: Website): Promise<void> {
    const { state, database } = website;
    await websites.makeFiles(await sandboxOf(website), { ...addressOf(state), database });
  }

  async function makeWordPress(website: Website): Promise<void> {
    await makeFiles(website);
    await websites.fillDatabase(await sandboxOf(website), website.database, {
      ...addressOf(website.state),
      title: website.name,
    });
  }

  /** What keeps PHP from answering is told by the step that asks after it, by the same way as visitors come. */
  async function tryWarmUp({ state }: Website): Promise<void> {
    await warmUp(layout, state, edge()).catch(() => {});
  }

  const stages: Stage<Website, WebsiteRemains>[] = [
    [
      {
        name: 'unix user',
        act: async (website) => void (await sandboxOf(website)),
        undo: ({ id }) => users.remove(id),
      },
    ],
    [
      {
        name: 'folders',
        act: makeFolders,
        undo: ({ id }) => removeHome(layout, id),
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
      // Its files and tables go with the folders and the database.
      { name: 'wordpress', act: makeWordPress, undo: async () => {} },
    ],
    [
      { name: 'vhost', act: show, undo: ({ id }) => web.remove(id) },
      { name: 'warm-up', act: tryWarmUp, undo: async () => {} },
    ],
    [
      {
        name: 'answer',
        act: ({ state }, signal) => requireWordPress(state.primaryHostname, edge(), signal),
        undo: async () => {},
      },
    ],
  ];
  /** What there has to be besides its content, and may have been lost: to a restart of the machine, or to a hand. */
  async function uphold(website: Website): Promise<void> {
    await makeFolders(website);
    await Promise.all([grantDatabase(website), limit(website)]);
    await Promise.all([startRedis(website), startPhp(website)]);
  }

  return { stages, sandboxOf, makeFolders, makeFiles, startPhp, startRedis, show, uphold };
}

/** Where the website is reached by the name that stands for it. */
export function addressOf({ primaryHostname, hostnames }: InstallState): SiteAddress {
  const primary = hostnames.find(({ name }) => name === primaryHostname);
  return { primaryHostname, secure: primary?.forceHttps ?? false };
}
