import { hash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { DatabaseLink, DatabaseLinkRefused } from '../../contract/database-access.ts';
import { type PinnedFolder, pinFolder } from '../../runtime/linux/pinned-folder.ts';
import { ADMINER, DATABASE_SESSIONS } from '../database-page/page-file.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { pingPhp } from '../php/fpm.ts';

const VALID_SECONDS = 60;
const TOKEN_BYTES = 32;
/** `link-<seconds until which it counts>-<hash of the token>`; the page looks for it. */
const LINK_FILE = /^link-(\d{10})-[0-9a-f]{64}$/;

export interface DatabaseLinksOptions {
  layout: LinuxLayout;
  clock: Clock;
  randomness: Randomness;
  /** Folder of adminer; that of Debian's package by default. */
  adminer?: string;
}

export type DatabaseLinks = ReturnType<typeof createDatabaseLinks>;

/** Creates links to databases (docs/decisions/database-access.md). The install's folder keeps a hash of the token. */
export function createDatabaseLinks({ layout, clock, randomness, adminer = ADMINER }: DatabaseLinksOptions) {
  return async (install: SandboxedInstall, database: string): Promise<DatabaseLink | DatabaseLinkRefused> => {
    if (!(await isThere(join(adminer, 'adminer.php')))) return MISSING;
    try {
      await pingPhp(layout.phpSocketOf(install.id));
    } catch {
      return NOT_RUNNING;
    }
    const now = Math.floor(clock.now().getTime() / SECOND_MS);
    const expires = now + VALID_SECONDS;
    const token = `${expires}.${randomness.bytes(TOKEN_BYTES).toString('base64url')}`;
    const link = JSON.stringify({ database, user: install.name, socket: layout.mariadbSocket });
    const isWritten = await withSessions(layout, install, async (folder) => {
      await removeExpired(folder, now);
      const { uid, gid } = install;
      await folder.write(`link-${expires}-${hash('sha256', token, 'hex')}`, link, { uid, gid, mode: 0o600 });
    });
    if (!isWritten) return NO_FOLDER;
    return { token, expiresAt: new Date(expires * SECOND_MS).toISOString() };
  };
}

async function removeExpired(folder: PinnedFolder, now: number): Promise<void> {
  for (const name of await folder.names()) {
    const [, expires] = LINK_FILE.exec(name) ?? [];
    if (expires !== undefined && Number(expires) <= now) await folder.remove(name);
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const MISSING: DatabaseLinkRefused = {
  refused: 'missing',
  reason: 'This host has no adminer, which shows databases. Ask your hosting company to install it.',
};

const NOT_RUNNING: DatabaseLinkRefused = {
  refused: 'website',
  reason: 'PHP of this website is not running. Try again in a minute, then tell your hosting company.',
};

const NO_FOLDER: DatabaseLinkRefused = {
  refused: 'website',
  reason: `Something else is in place of the folder tmp/${DATABASE_SESSIONS} of this website. Delete it by SFTP.`,
};

/** Opens the folder of links and sessions, which belongs to the install. False, without the work, if it is no folder. */
async function withSessions(
  layout: LinuxLayout,
  install: SandboxedInstall,
  work: (folder: PinnedFolder) => Promise<void>,
): Promise<boolean> {
  const uploads = await pinFolder(foldersOf(layout, install).uploads);
  try {
    const folder = await uploads.enter(DATABASE_SESSIONS, install);
    if (folder === null) return false;
    try {
      await work(folder);
      return true;
    } finally {
      await folder.close();
    }
  } finally {
    await uploads.close();
  }
}
