import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { damageBackup } from '../../../test/stored-backup.ts';
import { describeBackupParts } from '../contract/backup-parts.fixture.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { siteState } from '../policy/edge.fixture.ts';
import { startHost, type TestHost, traces } from './embedded-host.fixture.ts';

let started: TestHost;
const state = siteState('parts', [{ name: 'parts.hosting.test' }]);

beforeAll(async () => {
  started = await startHost();
  await started.host.apply(state);
});
afterAll(() => started.close());

describeBackupParts(() => ({
  host: started.host,
  install: state,
  write: (path, content) => started.write(state, path, content),
  read: (path) => readFileSync(started.file(state, path), 'utf8'),
  inArchive: '',
  damage: (backupId) => damageBackup({ hostFolder: started.folder, installId: state.id, backupId }),
}));

test.each([
  { files: false, database: 'all' as const },
  { files: true, database: ['wp_posts'] },
])('a restore of %j is refused without a database', async (parts) => {
  const id = crypto.randomUUID();
  await started.write(state, 'index.html', 'kept');
  await started.host.snapshot(state, id);
  await started.write(state, 'index.html', 'now');
  const restored = started.host.restore(state, id, { parts });
  await expect(restored).rejects.toThrow(PermanentHostError);
  await expect(restored).rejects.toThrow('Websites on this host have no database.');
  expect(readFileSync(started.file(state, 'index.html'), 'utf8')).toBe('now');
});

test('a chosen path that the backup lacks is refused, whatever else is restored', async () => {
  const id = crypto.randomUUID();
  await started.write(state, 'index.html', 'kept');
  await started.host.snapshot(state, id);
  await started.write(state, 'index.html', 'now');
  const parts = { files: true, paths: ['index.html', 'none.html'], database: 'all' as const };
  await expect(started.host.restore(state, id, { parts })).rejects.toThrow(
    'The backup has no file or folder "none.html".',
  );
  expect(readFileSync(started.file(state, 'index.html'), 'utf8')).toBe('now');
});

test('packed archives go with their install', async () => {
  const doomed = siteState('doomed', [{ name: 'doomed.hosting.test' }]);
  await started.host.apply(doomed);
  const [backupId, archiveId] = [crypto.randomUUID(), crypto.randomUUID()];
  await started.host.snapshot(doomed, backupId);
  await started.host.pack(doomed, { backupId, archiveId });
  expect(await traces(started, archiveId)).toHaveLength(1);
  await started.host.remove(doomed);
  expect(await traces(started, archiveId)).toEqual([]);
});
