import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { createBackupPlaces } from './backup-places.ts';
import { UnseenPlaceError } from './place-mark.ts';

const ID = '0e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11';
const OTHER = '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c12';

let folder: string;
const clock = manualClock(new Date('2026-03-04T12:00:00.000Z'));
const lines: string[] = [];
const log = pino({}, { write: (line) => void lines.push(line) });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-places-'));
  lines.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

const rootOf = (name: string) => ({ address: join(folder, name), credentials: null });
const startWith = (name: string) =>
  createBackupPlaces({ file: join(folder, 'places.json'), configured: rootOf(name), clock, log });
const addressOf = async (places: ReturnType<typeof startWith>, id: string) =>
  (await places.placeOf(id)).address;

function giveBackup(place: string): void {
  const snapshots = join(folder, place, ID, 'snapshots');
  mkdirSync(snapshots, { recursive: true });
  writeFileSync(join(snapshots, 'a'.repeat(64)), '');
}

it('stays in the place with the backups if the setting changes, and says both ways out', async () => {
  await startWith('old').report();
  giveBackup('old');
  const changed = startWith('new');
  expect(await addressOf(changed, ID)).toBe(join(folder, 'old', ID));
  expect(await changed.report()).toMatchObject({
    refused: { address: join(folder, 'new'), held: { backups: 1 } },
  });
  const message = lines.join('');
  expect(message).toContain('1 backup of 1 install is in');
  expect(message).toContain('homeport host backups move');
  expect(message).toContain('homeport host backups accept');
  // It is refused at every start, until the operator decides.
  expect((await startWith('new').report()).refused).not.toBeNull();
  await changed.switchTo(rootOf('new'), []);
  expect(await changed.report()).toMatchObject({ refused: null, current: join(folder, 'new') });
  expect(await startWith('new').report()).toMatchObject({ refused: null, former: [join(folder, 'old')] });
});

it('stays if the place with the backups cannot be read', async () => {
  await startWith('old').report();
  writeFileSync(join(folder, 'old'), 'no folder');
  expect(await startWith('new').report()).toMatchObject({
    current: join(folder, 'old'),
    refused: { held: null },
  });
});

it('takes a marked place without its mark for an unmounted disk, until the operator accepts it', async () => {
  const places = startWith('old');
  await places.claim(rootOf('old'));
  await places.requireSeen(rootOf('old'));
  // The disk is not mounted: its mount point is an empty folder.
  renameSync(join(folder, 'old'), join(folder, 'disk'));
  mkdirSync(join(folder, 'old'));
  await expect(places.requireSeen(rootOf('old'))).rejects.toThrow(UnseenPlaceError);
  await expect(places.claim(rootOf('old'))).rejects.toThrow(UnseenPlaceError);
  expect(readdirSync(join(folder, 'old'))).toEqual([]);
  expect(await startWith('new').report()).toMatchObject({
    current: join(folder, 'old'),
    refused: { held: null },
    unseen: [{ address: join(folder, 'old'), reason: expect.stringContaining('may not be mounted') }],
  });
  expect(await startWith('old').report()).toMatchObject({ refused: null, unseen: [{}] });
  await places.acceptCurrent();
  expect(await startWith('new').report()).toMatchObject({ current: join(folder, 'new'), refused: null });
});

it('marks the place of an earlier version, and does not trust it if it is empty', async () => {
  const earlier = {
    setting: join(folder, 'old'),
    current: rootOf('old'),
    since: null,
    waiting: {},
    former: [],
  };
  writeFileSync(join(folder, 'places.json'), JSON.stringify(earlier));
  expect((await startWith('new').report()).refused).toMatchObject({ held: null });
  giveBackup('old');
  expect((await startWith('old').report()).unseen).toEqual([]);
  expect(readdirSync(join(folder, 'old')).sort()).toEqual([ID, 'homeport-backups']);
});

it('notes deletions for the targets of unfinished moves', async () => {
  const places = startWith('old');
  await places.noteDeletion(ID, 'before');
  await places.beginMove(rootOf('new'));
  await places.noteDeletion(ID, 'one');
  await places.noteDeletion(OTHER, null);
  const restarted = startWith('old');
  await restarted.noteDeletion(ID, 'two');
  await restarted.beginMove(rootOf('new'));
  expect(await restarted.deletionsFor(rootOf('new'))).toEqual({ [ID]: ['one', 'two'], [OTHER]: null });
  await restarted.forgetDeletion(rootOf('new'), OTHER);
  await restarted.noteDeletion(ID, null);
  expect(await restarted.deletionsFor(rootOf('new'))).toEqual({ [ID]: null });
  await restarted.endMove(rootOf('new'));
  expect(await startWith('old').deletionsFor(rootOf('new'))).toEqual({});
});

it('keeps the result of a move although the setting still names the former place', async () => {
  const places = startWith('old');
  giveBackup('old');
  await places.switchTo(rootOf('new'), [ID, OTHER]);
  await places.moved(ID);
  const restarted = startWith('old');
  expect(await restarted.report()).toMatchObject({
    refused: null,
    waiting: [OTHER],
    current: join(folder, 'new'),
  });
  expect(await addressOf(restarted, ID)).toBe(join(folder, 'new', ID));
  expect(await addressOf(restarted, OTHER)).toBe(join(folder, 'old', OTHER));
  await restarted.moved(OTHER);
  expect(await startWith('new').report()).toMatchObject({ refused: null, waiting: [] });
});

it('moves back: what has not been moved is there already', async () => {
  const places = startWith('old');
  await places.switchTo(rootOf('new'), [ID, OTHER]);
  await places.moved(ID);
  await places.switchTo(rootOf('old'), [ID, OTHER]);
  expect(await places.report()).toMatchObject({ waiting: [ID], former: [join(folder, 'new')] });
  expect(await addressOf(places, OTHER)).toBe(join(folder, 'old', OTHER));
  expect(await addressOf(places, ID)).toBe(join(folder, 'new', ID));
});

it('is settling for a week after a switch, and not at first', async () => {
  const places = startWith('old');
  expect(await places.isSettling()).toBe(false);
  await places.switchTo(rootOf('new'), []);
  expect(await places.isSettling()).toBe(true);
  clock.advance(8 * DAY_MS);
  expect(await places.isSettling()).toBe(false);
});

it('keeps its record from other users, and refuses a damaged one', async () => {
  await startWith('old').report();
  const file = join(folder, 'places.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ setting: join(folder, 'old') });
  writeFileSync(file, '{');
  await expect(startWith('old').placeOf(ID)).rejects.toThrow(
    /^The record of backup places is damaged\. Restore /,
  );
});

it('tells whether the backups are on the disk of the websites', async () => {
  expect(await startWith('old').report()).toMatchObject({ isOnOwnDisk: true });
  const file = join(folder, 'others.json');
  const elsewhere = createBackupPlaces({
    ...{ file, configured: { address: '/dev', credentials: null }, clock, log },
  });
  expect(await elsewhere.report()).toMatchObject({ isOnOwnDisk: false });
});
