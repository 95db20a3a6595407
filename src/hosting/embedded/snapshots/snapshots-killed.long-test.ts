import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { removeTree } from './archive-exchange.ts';
import { makeSnapshotPlace } from './snapshots.fixture.ts';

const KILLS = 25;

test('a process that is killed while it backs up, restores and deletes loses no complete backup', async () => {
  const here = makeSnapshotPlace();
  const journal = join(here.base, 'journal');
  fs.writeFileSync(journal, '');
  for (let n = 0; n < 30; n++) here.put(`f${n}`, `content ${n}`);
  try {
    for (let killed = 0; killed < KILLS; killed++) {
      const program = join(import.meta.dirname, 'killed-backup.fixture.ts');
      const child = spawn(process.execPath, [program, here.base, here.install.id, journal], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const ended = once(child, 'exit');
      const before = fs.statSync(journal).size;
      while (fs.statSync(journal).size === before && child.exitCode === null) await sleep(1);
      await sleep(Math.random() * 400);
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);

      await here.snapshots.recover(here.install.id);
      const lines = fs.readFileSync(journal, 'utf8').trim().split('\n');
      const deleted = new Set(lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1)));
      const made = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
      for (const id of made.filter((one) => !deleted.has(one))) {
        await here.snapshots.restore(here.install, id);
        expect(fs.readFileSync(join(here.site, 'page'), 'utf8')).toBe(id);
        expect(fs.readFileSync(join(here.site, 'f7'), 'utf8')).toBe('content 7');
      }
      expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
    }
    for (const id of await here.snapshots.held(here.install.id)) {
      await here.snapshots.discard(here.install, id);
    }
    expect(fs.readdirSync(here.backups).filter((name) => !name.startsWith('.'))).toEqual([]);
  } finally {
    await removeTree(here.base);
  }
});
