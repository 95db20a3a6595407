import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOUR_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { DATABASE_PAGE_FILES } from '../database-page/page-file.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { sendmailProgram } from '../mail/sendmail-program.ts';
import { type AccessList, allowAccess, hasAccess } from './access-list.ts';
import { namesIn } from './account-files.ts';
import { ensureFolder, type FolderState, folderState, WEBSITE_MODES } from './owned-folder.ts';
import {
  foldersOf,
  OWN_SENDMAIL,
  OWN_SETTINGS,
  type SandboxedInstall,
  SENDMAIL,
  sandboxEtcOf,
} from './sandbox.ts';
import { writeSandboxFiles, wrongSandboxFiles } from './sandbox-files.ts';
import { readSystemFile, writeSystemFile } from './system-file.ts';

/** Its processes read the files of websites and connect to their PHP. */
const WEB_SERVER_USER = 'www-data';

/** A folder of an install with its owner and permissions. */
interface Folder {
  path: string;
  uid: number;
  gid: number;
  mode: number;
  /** Permissions besides the owner's: `u:<uid>` → `r-x`. Null if the mode is enough. */
  access: AccessList | null;
}

/** Long enough for a large website on a slow disk. */
const REMOVAL_MS = HOUR_MS;

/**
 * Creates or repairs an install's folders: home, document root, private folder, run folder, and the few files of its
 * `/etc`. Correct folders and all contents stay untouched. Call it again after a restart of the machine,
 * which empties the run folder. `layout.folder` and `layout.runFolder` must exist with mode 0711.
 */
export async function makeHome(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  await Promise.all((await sharedFolders(layout)).map((folder) => ensureFolder(folder.path, folder)));
  const folders = await foldersToBe(layout, install);
  await Promise.all(folders.outer.map(make));
  await Promise.all([...folders.inner.map(make), writeSettings(layout, install), writeSandboxFiles(layout)]);
}

async function make(folder: Folder): Promise<void> {
  const { path, access } = folder;
  // The mode of a folder with an access list mirrors the list's mask. Setting the mode would briefly shut out the users listed.
  const isNew = await ensureFolder(path, folder, { keepMode: access !== null });
  if (access !== null && (isNew || !(await hasAccess(path, access)))) await allowAccess(path, access);
}

/** Lists the differences from what {@link makeHome} makes, one sentence each. Changes nothing. */
export async function checkHome(layout: LinuxLayout, install: SandboxedInstall): Promise<string[]> {
  const faults: string[] = [];
  const { outer, inner } = await foldersToBe(layout, install);
  for (const folder of [...outer, ...inner]) {
    const state = await folderState(folder.path);
    faults.push(...(state === null ? [`${folder.path} is missing`] : faultsOf(folder, state)));
    if (state !== null && folder.access !== null) faults.push(...(await accessFaults(folder)));
  }
  for (const { path, text } of settingsOf(layout, install)) {
    if ((await readSystemFile(path)) !== text) faults.push(`${path} has the wrong content`);
  }
  for (const { path } of await wrongSandboxFiles(layout)) faults.push(`${path} has the wrong content`);
  return faults;
}

/**
 * Deletes everything that {@link makeHome} made, with its contents. The install's processes must have ended. Also completes
 * an earlier removal that was interrupted.
 */
export async function removeHome(layout: LinuxLayout, installId: string): Promise<void> {
  await ensureFolder(layout.scratch, { uid: 0, gid: 0, mode: 0o700 });
  await removeAside(layout.homeOf(installId), join(layout.scratch, `removed-home-${installId}`));
  await removeTree(layout.phpSocketOf(installId), layout.runOf(installId), sandboxEtcOf(layout, installId));
}

/** Moves the folder away first, so that no one finds it half deleted. */
async function removeAside(path: string, aside: string): Promise<void> {
  if ((await folderState(aside)) !== null) await removeTree(aside);
  try {
    await rename(path, aside);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await removeTree(aside);
}

/** rm(1) descends by open folders and not by paths: no link misleads it, and no depth makes a path too long. */
async function removeTree(...paths: string[]): Promise<void> {
  await runCommand('/usr/bin/rm', ['-rf', '--one-file-system', '--', ...paths], { timeoutMs: REMOVAL_MS });
}

/**
 * Users can pass through these folders to their own, but cannot list the others. Only the web server reaches the PHP
 * sockets, which accept requests from anyone who connects.
 */
async function sharedFolders(layout: LinuxLayout) {
  const inRun = ['installs', 'etc'].map((name) => join(layout.runFolder, name));
  const paths = [layout.installs, layout.caches, ...inRun];
  const { gid } = await webServerIds();
  return [
    ...paths.map((path) => ({ path, uid: 0, gid: 0, mode: 0o711 })),
    { path: layout.phpRun, uid: 0, gid, mode: 0o710 },
  ];
}

/** The folders of `inner` are inside those of `outer`. */
async function foldersToBe(
  layout: LinuxLayout,
  install: SandboxedInstall,
): Promise<{ outer: Folder[]; inner: Folder[] }> {
  const web = await webServerIds();
  const { home, htdocs, private: hidden, dotfiles, uploads } = foldersOf(layout, install);
  const root = { uid: 0, gid: 0 };
  const own = { uid: install.uid, gid: install.gid };
  const through = { [`u:${web.uid}`]: '--x' };
  return {
    outer: [
      // Owned by root, so that the website cannot replace the folders inside; it may list them.
      { path: home, ...root, mode: 0o700, access: { ...through, [`u:${install.uid}`]: 'r-x' } },
      { path: layout.runOf(install.id), ...own, mode: 0o700, access: through },
      { path: sandboxEtcOf(layout, install.id), ...root, mode: 0o755, access: null },
    ],
    inner: [
      { path: htdocs, ...own, mode: WEBSITE_MODES.htdocs, access: null },
      { path: hidden, ...own, mode: WEBSITE_MODES.private, access: null },
      // The install may read its logs. New files get the folder's group.
      {
        path: join(home, basename(layout.logsOf(install.id))),
        uid: 0,
        gid: install.gid,
        mode: 0o2750,
        access: null,
      },
      { path: dotfiles, ...own, mode: 0o700, access: null },
      { path: uploads, ...own, mode: 0o700, access: null },
      { path: layout.redisRunOf(install.id), ...own, mode: 0o700, access: null },
      // Its group may enter, but cannot replace the host's socket.
      { path: layout.purgeRunOf(install.id), uid: 0, gid: install.gid, mode: 0o710, access: null },
    ],
  };
}

async function webServerIds(): Promise<{ uid: number; gid: number }> {
  const [users, groups] = await Promise.all(['/etc/passwd', '/etc/group'].map(readSystemFile));
  const uid = namesIn(users ?? '').find(({ name }) => name === WEB_SERVER_USER)?.number;
  const gid = namesIn(groups ?? '').find(({ name }) => name === WEB_SERVER_USER)?.number;
  if (uid !== undefined && gid !== undefined) return { uid, gid };
  throw new PermanentHostError(`this machine has no user ${WEB_SERVER_USER}, which Debian's nginx runs as`);
}

function faultsOf(folder: Folder, { isFolder, uid, gid, mode }: FolderState): string[] {
  const { path } = folder;
  if (!isFolder) return [`${path} is not a folder`];
  const faults: string[] = [];
  if (uid !== folder.uid || gid !== folder.gid) {
    faults.push(`${path} belongs to ${uid}:${gid} instead of ${folder.uid}:${folder.gid}`);
  }
  if (folder.access === null && mode !== folder.mode) {
    faults.push(`${path} has mode ${mode.toString(8)} instead of ${folder.mode.toString(8)}`);
  }
  return faults;
}

async function accessFaults({ path, access }: Folder): Promise<string[]> {
  const wrong = access !== null && !(await hasAccess(path, access));
  return wrong ? [`${path} has the wrong access list`] : [];
}

async function writeSettings(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  const writings = settingsOf(layout, install).map(async ({ path, text, mode }) => {
    if ((await readSystemFile(path)) === text) return;
    await writeSystemFile(path, text, { mode, lasting: false });
  });
  await Promise.all(writings);
}

interface SettingsFile {
  path: string;
  text: string;
  mode: number;
}

function settingsOf(layout: LinuxLayout, install: SandboxedInstall): SettingsFile[] {
  const { name, uid, gid } = install;
  const { dotfiles } = foldersOf(layout, install);
  const texts: Record<(typeof OWN_SETTINGS)[number], string> = {
    // Programs such as ssh take the home from here, whatever HOME says.
    passwd: `${name}:x:${uid}:${gid}::${dotfiles}:/bin/bash\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `${name}:x:${gid}:\nnogroup:x:65534:\n`,
    hosts: `127.0.0.1 localhost ${name}\n::1 localhost\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  const folder = sandboxEtcOf(layout, install.id);
  return [
    ...OWN_SETTINGS.map((file) => ({ path: join(folder, file), text: texts[file], mode: 0o644 })),
    // PHP reads every `.ini` file here (PHP_INI_SCAN_DIR).
    { path: join(folder, 'mail.ini'), text: `sendmail_path = "${OWN_SENDMAIL} -t -i"\n`, mode: 0o644 },
    ...Object.entries(DATABASE_PAGE_FILES).map(([file, text]) => ({
      path: join(folder, file),
      text,
      mode: 0o644,
    })),
    { path: join(folder, SENDMAIL), text: sendmailProgram(layout, install.id), mode: 0o755 },
  ];
}
