import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config/config.ts';
import type { SocketLimiters } from './connections/socket-limiters.ts';
import { createEmbeddedHost } from './hosting/embedded/embedded-host.ts';
import { provideFolderId, readFolderId, replaceUnusableFolderId } from './hosting/embedded/folder-id.ts';
import { type Layout, layoutOf } from './hosting/embedded/layout.ts';
import { publicHostKey } from './hosting/embedded/ssh-host-key.ts';
import type { Host } from './hosting/host.ts';
import { ifThere } from './hosting/if-there.ts';
import { installLimits } from './hosting/install-limits.ts';
import type { ObjectStorage } from './hosting/object-storage.ts';
import type { Websites } from './linux-fleet.ts';
import type { Platform } from './platform.ts';
import type { FolderHere, WebsitesClaim } from './resources/hosts/websites-folder.ts';
import { createSshLogin } from './resources/ssh-keys/ssh-login.ts';
import { runs } from './running-process.ts';

const folderOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'host');

const layoutFor = (config: Pick<Config, 'dataDir'>): Layout => layoutOf(folderOf(config));

/** Websites from this process, once `claim` has seen that its folder is the one. */
export function createEmbeddedWebsites(
  platform: Platform,
  {
    objectStorage,
    claim,
    connections,
  }: { objectStorage: ObjectStorage; claim: WebsitesClaim; connections: SocketLimiters },
): Websites {
  const { config, database, sealer, log, clock } = platform;
  const embedded = createEmbeddedHost({
    folder: folderOf(config),
    edgeHttp: config.edgeHttp,
    edgeHttps: config.edgeHttps,
    sshListen: config.sshListen,
    siteDomain: config.siteDomain,
    sealer,
    objectStorage,
    questions: { sshLogin: createSshLogin(database) },
    connections,
    log,
    clock,
    listen: true,
    limits: installLimits({ diskGb: config.installDiskGb, files: config.installFiles }),
  });
  const host: Host = {
    ...embedded,
    async start() {
      // A database in the data folder goes with the websites by itself.
      if (config.databaseUrl !== null) {
        const pause = (ms: number) => sleep(ms);
        await claim({ database, clock, pause, runsHere: runs }, await websitesFolderOf(platform));
      }
      await embedded.start();
    },
  };
  return { host, hostOf: async () => host, addresses: () => embedded.addresses };
}

/** The folder that this process would serve websites from. */
export async function websitesFolderOf({
  config,
  random,
}: Pick<Platform, 'config' | 'random'>): Promise<FolderHere> {
  return {
    id: await provideFolderId(layoutFor(config).folderId, random.uuid),
    machine: hostname(),
    path: config.dataDir,
  };
}

/** The same, where this folder is to take the place of another: with an id of its own even where its file holds none any more. */
export async function replacedWebsitesFolder(
  platform: Pick<Platform, 'config' | 'random'>,
): Promise<FolderHere> {
  await replaceUnusableFolderId(layoutFor(platform.config).folderId, platform.random.uuid);
  return websitesFolderOf(platform);
}

/** From its file, whichever process of this machine serves SFTP. */
export async function embeddedHostKeys(config: Config): Promise<string[]> {
  const key = await publicHostKey(layoutFor(config).sshHostKey);
  return key === null ? [] : [key];
}

/** What of an install's website is not in the data folder. */
export interface MissingParts {
  /** What the edge serves by: without it, nothing. */
  vhost: boolean;
  files: boolean;
}

/** Looks, and changes nothing. */
export async function missingParts(
  config: Pick<Config, 'dataDir'>,
  installId: string,
): Promise<MissingParts> {
  const layout = layoutFor(config);
  const [vhost, files] = await Promise.all([
    ifThere(stat(layout.vhostOf(installId))),
    ifThere(stat(layout.filesOf(installId))),
  ]);
  return { vhost: vhost === null, files: files === null };
}

/** The id of this process's folder, if it has one already. */
export function presentFolderId(config: Pick<Config, 'dataDir'>): Promise<string | null> {
  return readFolderId(layoutFor(config).folderId);
}
