import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { wantedPlace } from './wanted-place.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BUCKET = 's3:https://s3.example.net/backups';

it('reads the key of a bucket from a file', async () => {
  const file = join(folder, 'key');
  writeFileSync(file, 'an-id:a:secret\n');
  expect(await wantedPlace(BUCKET, file, '--to')).toEqual({
    address: BUCKET,
    credentials: { accessKeyId: 'an-id', secretAccessKey: 'a:secret' },
  });
  writeFileSync(file, 'nothing');
  await expect(wantedPlace(BUCKET, file, '--to')).rejects.toThrow(/must be an access key id, a colon/);
  await expect(wantedPlace(BUCKET, join(folder, 'none'), '--to')).rejects.toThrow(
    /The key for --to cannot be read/,
  );
});

it('takes folders by their absolute path, and nothing without the option', async () => {
  expect(await wantedPlace('/mnt/backups', undefined, '--to')).toEqual({
    address: '/mnt/backups',
    credentials: null,
  });
  expect(await wantedPlace(undefined, undefined, '--to')).toBeNull();
  await expect(wantedPlace('backups', undefined, '--from')).rejects.toThrow(
    /^--from is "backups": give the absolute/,
  );
  await expect(wantedPlace(undefined, '/etc/homeport/s3-key', '--to')).rejects.toThrow(
    /name the bucket with --to/,
  );
});
