import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { removeTree } from './archive-exchange.ts';
import { hashOf, makeSnapshotPlace, type SnapshotPlace } from './snapshots.fixture.ts';

let here: SnapshotPlace;
beforeEach(() => {
  here = makeSnapshotPlace();
});
afterEach(() => removeTree(here.base));

describe('files that change', () => {
  test('a file that changes once during reading is read again', async () => {
    const large = randomBytes(48 * 1024 * 1024);
    here.put('large', large);
    const running = here.snapshots.snapshot(here.install, here.backupId);
    await here.untilWriting();
    const file = fs.openSync(join(here.site, 'large'), 'r+');
    fs.writeSync(file, Buffer.alloc(100, 1), 0, 100, 0);
    fs.writeSync(file, Buffer.alloc(100, 2), 0, 100, large.length - 100);
    fs.closeSync(file);
    const whole = fs.readFileSync(join(here.site, 'large'));
    expect((await running).files).toBe(1);
    expect(here.manifestLines().filter((line) => Object(line).superseded)).toHaveLength(1);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expect(hashOf(fs.readFileSync(join(here.site, 'large')))).toBe(hashOf(whole));
  });

  test('a file that keeps changing fails the snapshot, named in the error, and nothing is left', async () => {
    here.put('busy.log', randomBytes(4 * 1024 * 1024));
    const file = fs.openSync(join(here.site, 'busy.log'), 'r+');
    let at = 0;
    const writing = setInterval(() => {
      at = (at + 4096) % (4 * 1024 * 1024);
      fs.writeSync(file, randomBytes(64), 0, 64, at);
    }, 0);
    const error = await here.snapshots.snapshot(here.install, here.backupId).catch((e: unknown) => e);
    clearInterval(writing);
    fs.closeSync(file);
    expect(error).toMatchObject({ message: 'The file "busy.log" kept changing while it was read.' });
    expect(error).not.toBeInstanceOf(PermanentHostError);
    expect(fs.readdirSync(join(here.base, 'backups', here.install.id))).toEqual([]);
  });

  test('a file that only grows is archived up to its initial length', async () => {
    const first = randomBytes(4 * 1024 * 1024);
    here.put('debug.log', first);
    const writing = setInterval(() => fs.appendFileSync(join(here.site, 'debug.log'), 'one more line\n'), 0);
    await here.snapshots.snapshot(here.install, here.backupId).finally(() => clearInterval(writing));
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    const restored = fs.readFileSync(join(here.site, 'debug.log'));
    expect(restored.subarray(0, first.length).equals(first)).toBe(true);
    expect(restored.subarray(first.length).toString()).toMatch(/^(one more line\n)*$/);
  });

  test('files and folders that appear and vanish cause no failure', async () => {
    for (let i = 0; i < 300; i++) here.put(`stay/${i}`, `stays ${i}`);
    let round = 0;
    const writing = setInterval(() => {
      round += 1;
      here.put(`going/${round % 50}/a`, 'x'.repeat(round));
      fs.rmSync(join(here.site, 'going', String((round + 20) % 50)), { recursive: true, force: true });
      fs.rmSync(join(here.site, 'going', String((round + 30) % 50), 'a'), { force: true });
    }, 0);
    await here.snapshots.snapshot(here.install, here.backupId).finally(() => clearInterval(writing));
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expect(fs.readdirSync(join(here.site, 'stay'))).toHaveLength(300);
  });

  test('a file that may not be read is named', { skip: process.getuid?.() === 0 }, async () => {
    here.put('secret', 'x');
    fs.chmodSync(join(here.site, 'secret'), 0);
    await expect(here.snapshots.snapshot(here.install, here.backupId)).rejects.toThrow(
      /^"secret" cannot be read\. Give/,
    );
  });
});
