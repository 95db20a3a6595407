import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';

let machine: BackupMachine;
let backups: Backups;

beforeAll(async () => {
  machine = await startBackupMachine();
  backups = machine.backupsWith();
});
afterAll(() => machine?.stop());

const signal = new AbortController().signal;

/** A name that is no UTF-8, as of uploads from old systems. */
const LATIN1 = Buffer.from('gr\xfc\xdfe.txt', 'latin1');

function fill(install: HostedInstall): void {
  const at = (...path: string[]) => machine.inHtdocs(install, ...path);
  for (const folder of ['closed', 'moved', 'becomes-file', 'gone']) mkdirSync(at(folder));
  for (const name of ['same', 'edited', 'touched', 'deleted', 'becomes-folder', 'forged']) {
    writeFileSync(at(name), `${name} before`);
  }
  for (const name of ['closed/inside', 'moved/inside', 'becomes-file/inside', 'gone/inside']) {
    writeFileSync(at(name), 'before');
  }
  writeFileSync(at('large'), randomBytes(2_000_000));
  writeFileSync(Buffer.concat([Buffer.from(`${at('.')}/`), LATIN1]), 'before');
  linkSync(at('same'), at('same-link'));
  symlinkSync('same', at('link'));
  chmodSync(at('closed'), 0o500);
  own(install);
}

/** Gives the install what is in its document root, except the links that belong to the host. */
function own(install: HostedInstall): void {
  const { uid, gid } = install.sandbox;
  const owned = ['!', '-lname', '/*', '-exec', 'chown', '-h', `${uid}:${gid}`, '{}', '+'];
  execFileSync('find', [machine.inHtdocs(install), ...owned]);
}

function change(install: HostedInstall): void {
  const at = (...path: string[]) => machine.inHtdocs(install, ...path);
  appendFileSync(at('edited'), ' and after');
  chmodSync(at('touched'), 0o600);
  rmSync(at('deleted'));
  rmSync(at('becomes-folder'));
  mkdirSync(at('becomes-folder'));
  writeFileSync(at('becomes-folder', 'inside'), 'after');
  rmSync(at('becomes-file'), { recursive: true });
  writeFileSync(at('becomes-file'), 'after');
  rmSync(at('gone'), { recursive: true });
  // Files in it keep their times.
  renameSync(at('moved'), at('renamed'));
  writeFileSync(at('closed', 'inside'), 'later!');
  // As a plugin that hides what it changed.
  writeFileSync(at('forged'), 'forged AFTER!');
  utimesSync(at('forged'), 1_000_000, 1_000_000);
  writeFileSync(Buffer.concat([Buffer.from(`${at('.')}/`), LATIN1]), 'after');
  mkdirSync(at('empty'));
  for (const path of ['becomes-folder', 'becomes-folder/inside', 'becomes-file', 'empty']) {
    lchownSync(at(path), install.sandbox.uid, install.sandbox.gid);
  }
}

/** The first copy of a website, long enough after its files that their times have settled. */
async function firstCopy(install: HostedInstall): Promise<string> {
  await sleep(2_100);
  const base = randomUUID();
  await backups.copies.snapshotBase(install, base);
  return base;
}

test('a website is the same as its source after its changes were restored, and only they were copied', async () => {
  const shop = await machine.newWebsite();
  fill(shop);
  const base = await firstCopy(shop);
  change(shop);
  await machine.databases.query(shop.database, "INSERT INTO notes VALUES (2, 'second')");
  const last = randomUUID();
  const made = await backups.copies.snapshotChanges(shop, last, base);
  expect(made.bytes).toBeLessThan(500_000);
  const [source, notes] = [machine.filesOf(shop), await machine.notesOf(shop)];

  // The new machine.
  await backups.copies.stage(shop, base);
  execFileSync('find', [machine.inHtdocs(shop), '-mindepth', '1', '-delete']);
  await machine.databases.query(shop.database, 'DELETE FROM notes');
  expect(await backups.copies.restoreChanges(shop, last, base)).toEqual(made);
  expect(machine.filesOf(shop)).toBe(source);
  expect(await machine.notesOf(shop)).toEqual(notes);
  expect(await machine.leftoversOf(shop)).toEqual([]);

  // It is no backup.
  await expect(backups.restore(shop, last, { from: shop.ref, signal })).rejects.toThrow(
    /only what changed since/,
  );
  for (const id of [base, last]) await backups.discard(shop.ref, id);
  expect(readdirSync(machine.layout.scratch).filter((name) => name.startsWith('listing-'))).toEqual([]);
});

test('a first copy that is made again has what changed since it was made the first time', async () => {
  const cafe = await machine.newWebsite();
  machine.put(cafe, 'menu.txt', 'soup');
  const base = await firstCopy(cafe);
  machine.put(cafe, 'menu.txt', 'fish');
  await sleep(2_100);
  // As after a connection that broke before its answer came.
  await backups.copies.snapshotBase(cafe, base);
  const last = randomUUID();
  await backups.copies.snapshotChanges(cafe, last, base);
  const source = machine.filesOf(cafe);
  await backups.copies.stage(cafe, base);
  await backups.copies.restoreChanges(cafe, last, base);
  expect(machine.filesOf(cafe)).toBe(source);
});

test('changes are refused if the first copy is another one, was changed, or is gone', async () => {
  const blog = await machine.newWebsite();
  const base = await firstCopy(blog);
  machine.put(blog, 'index.html', 'changed');
  machine.put(blog, 'same.txt', 'same');
  const second = await firstCopy(blog);
  const last = randomUUID();
  await backups.copies.snapshotChanges(blog, last, second);
  const before = machine.filesOf(blog);

  await backups.copies.stage(blog, base);
  await expect(backups.copies.restoreChanges(blog, last, second)).rejects.toThrow(/could not be put|is gone/);
  await backups.copies.stage(blog, second);
  appendFileSync(join(machine.homeOf(blog), '.restore/htdocs/same.txt'), 'x');
  await expect(backups.copies.restoreChanges(blog, last, second)).rejects.toThrow();
  expect(machine.filesOf(blog)).toBe(before);
  expect(await machine.leftoversOf(blog)).toEqual([]);
  // A host that was started since has forgotten what the first copy had.
  rmSync(machine.layout.scratch, { recursive: true });
  await expect(backups.copies.snapshotChanges(blog, randomUUID(), second)).rejects.toThrow(/no longer knows/);
});
