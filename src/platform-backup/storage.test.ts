import { expect, it } from 'vitest';
import { createFolderStorage } from './folder-storage.ts';
import { BACKUP_NAME, backupName, beginningOf } from './storage.ts';

it('sorts names of the same second by their time, so that pruning keeps the newer backup', () => {
  const earlier = backupName(new Date('2026-11-22T02:30:00.250Z'), Buffer.from('ffffffff', 'hex'));
  const later = backupName(new Date('2026-11-22T02:30:00.750Z'), Buffer.from('00000000', 'hex'));
  expect([later, earlier].sort()).toEqual([earlier, later]);
  expect(later).toBe('homeport-20261122T023000750Z-00000000');
});

it.each([
  ['homeport-20261122T023000750Z-1e6a4c0e', '2026-11-22T02:30:00.750Z'],
  ['homeport-20261122T023000Z-1e6a4c0e', '2026-11-22T02:30:00.000Z'],
])('reads the time in %s', (name, time) => {
  expect(name).toMatch(BACKUP_NAME);
  expect(beginningOf(name)?.toISOString()).toBe(time);
});

it.each(['homeport-20261122T0230007Z-1e6a4c0e', 'homeport-20261322T023000Z-1e6a4c0e', 'shop'])(
  'finds no time in %s',
  (name) => {
    expect(beginningOf(name)).toBeNull();
  },
);

it('says what to do if its folder cannot be made', async () => {
  const begin = createFolderStorage('/proc/x').begin('homeport-20261122T023000750Z-1e6a4c0e');
  await expect(begin).rejects.toThrow(
    /^The folder \/proc\/x for platform backups cannot be used \(E.*another one\.$/,
  );
});
