import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './database.ts';
import { removeAbandoned } from './memory-folder.ts';

test('folders of killed runs are removed, and no others', () => {
  const { path, remove } = temporaryFolder();
  try {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const owners = { 'run-ended': ended, 'run-present': process.pid, 'other-ended': ended };
    for (const [name, pid] of Object.entries(owners)) {
      mkdirSync(join(path, name));
      writeFileSync(join(path, name, '.process'), `${pid}`);
    }
    mkdirSync(join(path, 'run-of-something-else'));
    writeFileSync(join(path, 'run-file'), '');
    removeAbandoned(path, 'run-', (folder) => rmSync(folder, { recursive: true }));
    const kept = ['other-ended', 'run-file', 'run-of-something-else', 'run-present'];
    expect(readdirSync(path).sort()).toEqual(kept);
  } finally {
    remove();
  }
});
