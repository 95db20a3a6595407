import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commitOf, describeVersion, RELEASE_FILE, versionOf } from './program-version.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const OTHER = 'f'.repeat(40);
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'version-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

it('takes the commit from the branch of a clone, in its file or together with others', () => {
  write('.git/HEAD', 'ref: refs/heads/main\n');
  expect(commitOf(root)).toBeNull();
  write(
    '.git/packed-refs',
    `# pack-refs with: peeled\n${OTHER} refs/heads/other/main\n${COMMIT} refs/heads/main\n`,
  );
  expect(commitOf(root)).toBe(COMMIT);
  write('.git/refs/heads/main', `${OTHER}\n`);
  expect(commitOf(root)).toBe(OTHER);
  write('.git/HEAD', `${COMMIT}\n`);
  expect(commitOf(root)).toBe(COMMIT);
});

it('takes the commit from a worktree', () => {
  write('clone/.git/refs/heads/fix', `${COMMIT}\n`);
  write('clone/.git/worktrees/fix/HEAD', 'ref: refs/heads/fix\n');
  write('clone/.git/worktrees/fix/commondir', '../..\n');
  write('fix/.git', 'gitdir: ../clone/.git/worktrees/fix\n');
  expect(commitOf(join(root, 'fix'))).toBe(COMMIT);
});

it('takes the commit of a release from its record, and knows none without record and clone', () => {
  expect(commitOf(root)).toBeNull();
  write('.git/HEAD', `${OTHER}\n`);
  write(RELEASE_FILE, JSON.stringify({ commit: COMMIT }));
  expect(commitOf(root)).toBe(COMMIT);
  for (const damaged of ['', '[]', 'null', '{"commit":"main"}']) {
    write(RELEASE_FILE, damaged);
    expect(commitOf(root), damaged).toBeNull();
  }
});

it('names the commit only between two releases', () => {
  expect(versionOf('0.4.0', COMMIT)).toBe('0.4.0');
  expect(versionOf('0.4.0-dev', COMMIT)).toBe('0.4.0-dev+012345678');
  expect(versionOf('0.4.0-dev', null)).toBe('0.4.0-dev');
  expect(describeVersion('0061-doubtful-installs', '0.4.0', COMMIT)).toBe(
    '0.4.0 (commit 012345678, schema 0061-doubtful-installs)',
  );
  expect(describeVersion('0061-doubtful-installs', '0.4.0', null)).toBe(
    '0.4.0 (schema 0061-doubtful-installs)',
  );
});
