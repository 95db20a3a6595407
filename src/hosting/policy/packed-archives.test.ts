import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { createPackedArchives } from './packed-archives.ts';

let folder: string;
const install = randomUUID();
const clock = manualClock(new Date());

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-archives-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const filesLeft = async () =>
  (await readdir(folder, { recursive: true })).filter((name) => /tar\.gz/.test(name));

/** Writes random data, which no compression makes smaller, until it fails. */
async function endless(write: (bytes: Buffer) => Promise<void>): Promise<void> {
  for (;;) await write(randomBytes(256 * 1024));
}

test('an archive that exceeds the size limit is refused and leaves nothing', async () => {
  const archives = createPackedArchives({ folder, clock, mostBytes: 5_000_000, spareBytes: 0 });
  const packed = archives.pack(install, randomUUID(), endless);
  await expect(packed).rejects.toThrow(PermanentHostError);
  await expect(packed).rejects.toThrow('larger than 5000000 bytes');
  expect(await filesLeft()).toEqual([]);
});

test('an archive is refused if the disk is nearly full', async () => {
  const archives = createPackedArchives({ folder, clock, spareBytes: Number.MAX_SAFE_INTEGER });
  await expect(archives.pack(install, randomUUID(), endless)).rejects.toThrow('too little free space');
  expect(await filesLeft()).toEqual([]);
});

test('an archive stops with its signal and leaves nothing', async () => {
  const archives = createPackedArchives({ folder, clock, spareBytes: 0 });
  const stop = new AbortController();
  let written = 0;
  const packed = archives.pack(
    install,
    randomUUID(),
    async (write) => {
      for (;;) {
        await write(randomBytes(256 * 1024));
        written += 1;
        if (written === 20) stop.abort(new Error('called off'));
      }
    },
    stop.signal,
  );
  await expect(packed).rejects.toThrow('called off');
  expect(await filesLeft()).toEqual([]);
});

test('archives that the control plane has forgotten are deleted by later ones', async () => {
  const archives = createPackedArchives({ folder, clock, spareBytes: 0 });
  const [old, recent, next] = [randomUUID(), randomUUID(), randomUUID()];
  for (const id of [old, recent]) await archives.pack(install, id, (write) => write(Buffer.from('x')));
  const fourDaysAgo = clock.now().getTime() / 1000 - 4 * 86_400;
  await utimes(join(folder, install, `${old}.tar.gz`), fourDaysAgo, fourDaysAgo);
  await archives.pack(randomUUID(), next, (write) => write(Buffer.from('x')));
  const left = (await filesLeft()).join();
  expect(left).not.toContain(old);
  expect(left).toContain(recent);
  expect(left).toContain(next);
});

test('only UUIDs become file names', async () => {
  const archives = createPackedArchives({ folder, clock });
  await expect(archives.read(install, '../../etc/passwd', { offset: 0, length: 1 })).rejects.toThrow(
    PermanentHostError,
  );
  await expect(archives.discard('../..', randomUUID())).rejects.toThrow(PermanentHostError);
});
