import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
/** Beside `package.json` in what a release publishes: the commit it was made from. */
export const RELEASE_FILE = 'release.json';
const SHORT = 9;
const COMMIT = /^[0-9a-f]{40}$/;

const COMMIT_OF_PROGRAM = commitOf(ROOT);

/** Whether this program was installed as a release: its portal and its modules are built, and without what builds them. */
export const IS_RELEASE = existsSync(join(ROOT, RELEASE_FILE));

/** The version of this program. */
export const PROGRAM_VERSION = versionOf(manifest.version, COMMIT_OF_PROGRAM);

/**
 * The commit of the program below `root`: of a release its record, of a clone its present one. Null for sources without either. Reads
 * files, because a server has no git.
 */
export function commitOf(root: string): string | null {
  const released = textOf(join(root, RELEASE_FILE));
  if (released !== null) return commitIn(released);
  const folder = gitFolderOf(root);
  if (folder === null) return null;
  const head = textOf(join(folder, 'HEAD')) ?? '';
  if (COMMIT.test(head)) return head;
  const branch = /^ref: (refs\/\S+)$/.exec(head)?.[1];
  return branch === undefined ? null : commitOfBranch(folder, branch);
}

/** Null for a text that is no record. */
function commitIn(released: string): string | null {
  try {
    const record: unknown = JSON.parse(released);
    const commit: unknown =
      typeof record === 'object' && record !== null ? Reflect.get(record, 'commit') : null;
    return typeof commit === 'string' && COMMIT.test(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** In a worktree, `.git` is a file that names the folder. */
function gitFolderOf(root: string): string | null {
  const path = join(root, '.git');
  const pointer = textOf(path);
  if (pointer === null) return textOf(join(path, 'HEAD')) === null ? null : path;
  const folder = /^gitdir: (.+)$/.exec(pointer)?.[1];
  return folder === undefined ? null : resolve(root, folder);
}

/** Branches are in the folder that all worktrees share, each in a file or together in one. */
function commitOfBranch(folder: string, branch: string): string | null {
  const common = resolve(folder, textOf(join(folder, 'commondir')) ?? '.');
  const loose = textOf(join(common, branch));
  if (loose !== null) return COMMIT.test(loose) ? loose : null;
  const line = (textOf(join(common, 'packed-refs')) ?? '')
    .split('\n')
    .find((one) => one.endsWith(` ${branch}`));
  const commit = line?.split(' ')[0] ?? '';
  return COMMIT.test(commit) ? commit : null;
}

/** Null for a file that cannot be read: the version then lacks its commit, which stops nothing. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

/** The version of a program: `0.4.0` of a release, `0.4.0-dev+1b2c3d4e5` before it. The same version is the same code. */
export function versionOf(version: string, commit: string | null): string {
  const isRelease = !version.includes('-');
  return isRelease || commit === null ? version : `${version}+${commit.slice(0, SHORT)}`;
}

/** Version, commit and schema in one line. `schema`: the newest migration that the program knows. */
export function describeVersion(
  schema: string,
  version = manifest.version,
  commit = COMMIT_OF_PROGRAM,
): string {
  const made = commit === null ? '' : `commit ${commit.slice(0, SHORT)}, `;
  return `${version} (${made}schema ${schema})`;
}
