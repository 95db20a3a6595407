import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyInLong, steps } from '../../../../test/rounds.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { startWordPress } from '../wordpress/machine.fixture.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups, BackupsOptions } from './backups.ts';
import { REPLACEMENT_STEPS, type ReplacementStep } from './website-replacement.ts';

let machine: BackupMachine;
let wordpress: Awaited<ReturnType<typeof startWordPress>>;
let source: HostedInstall;
let target: HostedInstall;
/** Backups of the source and of the target, whose state they are named after. */
const ids = { source: randomUUID(), target: randomUUID() };

beforeAll(async () => {
  machine = await startBackupMachine();
  rmSync(machine.layout.cores, { recursive: true });
  wordpress = await startWordPress(machine);
  source = await newWordPress('source.example');
  target = await newWordPress('target.example');
  await query(source, "UPDATE wp_posts SET post_content = 'see http://source.example/page'");
  machine.put(source, 'state.txt', 'source.example');
  machine.put(target, 'state.txt', 'target.example');
  await backupsWith().snapshot(source, ids.source);
  await backupsWith().snapshot(target, ids.target);
});
afterAll(() => machine?.stop());

const query = (install: HostedInstall, sql: string) => machine.databases.query(install.database, sql);

const backupsWith = (options: Partial<BackupsOptions> = {}): Backups =>
  machine.backupsWith({ websites: wordpress.websites, ...options });

async function newWordPress(primaryHostname: string): Promise<HostedInstall> {
  const made = await machine.newInstall(wordpress.version);
  const site = { primaryHostname, secure: false };
  await wordpress.websites.makeFiles(made.install, { ...site, database: made.database });
  await wordpress.websites.fillDatabase(made.install, made.database, { ...site, title: primaryHostname });
  return machine.hosted(made, primaryHostname);
}

/** The website that the files and the database of the target are of. */
async function seen(): Promise<string[]> {
  const [[title = ''] = []] = await query(
    target,
    "SELECT option_value FROM wp_options WHERE option_name = 'blogname'",
  );
  return [readFileSync(machine.inHtdocs(target, 'state.txt'), 'utf8'), title];
}

/** For installs whose database may have less than that of these websites. */
const small = () => {
  const limits = { ...machine.layout.limits, bytes: 1024 ** 2 };
  return backupsWith({ layout: { ...machine.layout, limits } });
};

/** A backup of the install itself, such as a checkpoint, comes back whatever the limit is now. */
const putBack = () => small().restore(target, ids.target, { from: target.ref });

test.each(steps(['prepared', 'tables'], [...REPLACEMENT_STEPS, 'urls'] as const))(
  'a copy killed at "%s" leaves the former website or the copied one',
  async (step) => {
    const reached = Promise.withResolvers<void>();
    // It stands still there for ever, as a killed process does.
    const stand = () => new Promise<never>(() => reached.resolve());
    const killed = backupsWith({
      reached: (at: ReplacementStep) => (at === step ? stand() : Promise.resolve()),
      websites: step === 'urls' ? { ...wordpress.websites, replaceUrls: () => stand() } : wordpress.websites,
    });
    void killed.restore(target, ids.source, { from: source.ref });
    await reached.promise;
    await backupsWith().recover(target.ref.id);
    const former = ['target.example', 'target.example'];
    const copied = ['source.example', 'source.example'];
    const isFormer = step === 'prepared' || step === 'urls';
    expect(await seen()).toEqual(isFormer ? former : copied);
    // A start of the host also empties the folder of dumps.
    const left = await machine.leftoversOf(target);
    expect(left.filter((name) => !name.endsWith('.sql'))).toEqual([]);
    const [[content] = []] = await query(target, 'SELECT DISTINCT post_content FROM wp_posts');
    if (!isFormer) expect(content).toBe('see http://target.example:8080/page');
    if (!isFormer) await putBack();
  },
);

test('nothing of a copied website reaches the present one before the exchange', async () => {
  const present = target.database;
  const socket = machine.layout.mariadbSocket;
  await query(target, 'CREATE TABLE ran (id INT)');
  await query(
    source,
    `DELIMITER //
CREATE TRIGGER spying BEFORE UPDATE ON wp_posts FOR EACH ROW
BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; INSERT INTO ${present}.ran VALUES (1); END//
DELIMITER ;`,
  );
  const spy = `<?php $spy = new mysqli('localhost', '${target.unixUser}', '', '${present}', 0, '${socket}');
    $spy->query('INSERT INTO ${present}.ran VALUES (2)');`;
  for (const install of [source, target]) {
    mkdirSync(machine.inHtdocs(install, 'wp-content/mu-plugins'), { recursive: true });
    for (const path of ['db.php', 'advanced-cache.php', 'mu-plugins/spy.php'])
      machine.put(install, join('wp-content', path), spy);
  }
  const id = randomUUID();
  await backupsWith().snapshot(source, id);
  let before: string[][] | undefined;
  const backups = backupsWith({
    reached: async (step) => {
      if (step === 'begun') before = await query(target, 'SELECT * FROM ran');
    },
  });
  await backups.restore(target, id, { from: source.ref });
  expect(before).toEqual([]);
  const [[content] = []] = await query(target, 'SELECT DISTINCT post_content FROM wp_posts');
  expect(content).toBe('see http://target.example:8080/page');
  const definers = await query(target, 'SELECT DEFINER FROM information_schema.TRIGGERS');
  expect(definers).toEqual([[`${target.unixUser}@localhost`]]);
  await query(source, 'DROP TRIGGER spying');
  await putBack();
});

onlyInLong(test)('a copy is refused if its database is larger than that of an install may be', async () => {
  const copied = small().restore(target, ids.source, { from: source.ref });
  await expect(copied).rejects.toThrow(/larger than .* \(1 MiB\)/);
  expect(await seen()).toEqual(['target.example', 'target.example']);
  expect(await machine.leftoversOf(target)).toEqual([]);
});
