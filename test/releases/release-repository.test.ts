import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cloneForRelease, tagRelease, takeRelease } from '../../tools/release/repository.ts';
import { temporaryFolder } from '../database.ts';
import { has } from '../missing-programs.ts';
import { onlyInLong } from '../rounds.ts';

const it = test.skipIf(!has('git'));
const BRANCH = 'main';
const TAG = 'v0.4.0';
const CHANGES = 'Homeport 0.4.0\n\n### Added\n\n- Doors.';

let folder: ReturnType<typeof temporaryFolder>;
let root: string;
let clone: string;
beforeEach(() => {
  folder = temporaryFolder();
  root = join(folder.path, 'root');
  clone = join(folder.path, 'clone');
  mkdirSync(root);
  git(root, 'init', '--quiet', '--initial-branch', BRANCH);
  git(root, 'config', 'user.name', 'Releaser');
  git(root, 'config', 'user.email', 'releaser@homeport.example');
  commit(root, 'begin');
});
afterEach(() => folder.remove());

/** Without the settings of the user of this machine. */
function git(at: string, ...words: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  return execFileSync('git', words, { cwd: at, env, encoding: 'utf8' }).trimEnd();
}

function commit(at: string, subject: string): void {
  writeFileSync(join(at, 'file'), subject);
  git(at, 'add', '--all');
  git(at, 'commit', '--quiet', '--message', subject);
}

/** A release in a clone: its commit with the tag, and the begin of the next version. */
async function release(): Promise<void> {
  await cloneForRelease(root, BRANCH, clone);
  commit(clone, 'release');
  await tagRelease(clone, TAG, CHANGES);
  commit(clone, 'begin the next version');
}

const subjects = () => git(root, 'log', '--format=%s').split('\n');

it('takes commits and tag, by the person of the repository and with all headings of the changes', async () => {
  await release();
  await takeRelease(root, clone, { branch: BRANCH, tag: TAG });
  expect(subjects()).toEqual(['begin the next version', 'release', 'begin']);
  expect(git(root, 'log', '-1', '--format=%an', TAG)).toBe('Releaser');
  expect(git(root, 'log', '-1', '--format=%s', TAG)).toBe('release');
  expect(git(root, 'tag', '--list', '--format=%(contents)', TAG)).toBe(CHANGES);
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('begin the next version');
});

onlyInLong(it)('leaves no tag behind if the branch has gone on meanwhile', async () => {
  await release();
  commit(root, 'meanwhile');
  await expect(takeRelease(root, clone, { branch: BRANCH, tag: TAG })).rejects.toThrow('failed');
  expect(subjects()).toEqual(['meanwhile', 'begin']);
  expect(git(root, 'tag')).toBe('');
});

onlyInLong(it)('changes no other branch that is checked out meanwhile', async () => {
  await release();
  git(root, 'switch', '--quiet', '--create', 'other');
  await expect(takeRelease(root, clone, { branch: BRANCH, tag: TAG })).rejects.toThrow('the branch other');
  expect(subjects()).toEqual(['begin']);
  expect(git(root, 'tag')).toBe('');
});
