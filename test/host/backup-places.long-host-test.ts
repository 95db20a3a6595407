import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningMachine, startHostMachine } from '../../src/app/linux-host.ts';
import { requestReconciliation } from '../../src/features/backups/reconcile-backups.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { call, callJson } from '../cli/call-homeport.ts';
import { text } from '../client.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { type S3Server, startS3Server } from '../servers/s3-server.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let server: S3Server;
let owner: Person;
let install: { id: string; name: string };

beforeAll(async () => {
  machine = await createPreparedMachine();
  server = await startS3Server({ buckets: ['backups'] });
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  const name = installName();
  install = {
    name,
    id: text((await owner.client.post('/installs', { name, account_id: accountId })).body, 'id'),
  };
  await homeport.idle();
});
afterAll(async () => {
  await homeport?.remove();
  await running?.stop();
  await machine?.remove();
  await server?.close();
});

const environment = () => ({
  ...machine.environment,
  HOMEPORT_DATA_DIR: homeport.config.dataDir,
  ...(homeport.config.databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: homeport.config.databaseUrl }),
});
const homeportCommand = (...words: string[]) => call(environment(), ...words);
const path = (id = '') => `/installs/${install.id}/backups/${id}`.replace(/\/$/, '');

async function backUp(): Promise<string> {
  const body = { description: 'before the move', notification_emails: [] };
  const id = text((await owner.client.post(path(), body)).body, 'id');
  await homeport.idle();
  return id;
}

/** Restores a backup, and returns how the operation ended. */
async function restore(id: string): Promise<string> {
  const asked = await owner.client.post(path(`${id}/restore`), {
    notification_emails: [],
    create_checkpoint: false,
  });
  if (asked.status !== 202) return text(asked.body, 'message');
  await homeport.idle();
  const operations = await owner.client.get(`/operations?install_id=${install.id}&kind=backup.restore`);
  return text(operations.body, 'results', '0', 'status');
}

async function restart(more: { backupRepository: string | null }): Promise<void> {
  await running.stop();
  running = await startHostMachine(
    { ...machine.config, ...more },
    { log: silent, instance: machine.instance },
  );
}

async function compare(): Promise<void> {
  await requestReconciliation(homeport.platform, (await homeport.services.hosts.list())[0]?.id ?? null);
  await homeport.idle();
}

test('a changed setting loses no backup, and the command brings them along', async () => {
  const first = await backUp();
  const place = join(machine.folder, 'new-backups');
  await restart({ backupRepository: place });
  expect(await restore(first)).toBe('succeeded');
  const second = await backUp();
  const shown = await homeportCommand('host', 'backups', 'show');
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toMatch(
    /HOMEPORT_BACKUP_REPOSITORY is .*new-backups, but 1 backup of 1 install is in .*\/backups\./,
  );
  const found = await running.host.inspect([install], false);
  expect(found).toMatchObject([
    { thing: 'backups', message: expect.stringMatching(/but 1 backup of 1 install is in/) },
  ]);

  const moved = await homeportCommand('host', 'backups', 'move');
  expect(moved).toMatchObject({ code: 0 });
  expect(moved.stdout).toMatch(
    /^2 backups of 1 install are in .*new-backups, and verified; 2 were copied just now\.\n/,
  );
  expect(moved.stdout).toContain('homeport host backups forget-old');
  await homeport.idle();
  expect(await running.host.inspect([install], false)).toEqual([]);
  expect([await restore(first), await restore(second)]).toEqual(['succeeded', 'succeeded']);
  const former = join(machine.folder, 'backups', install.id);
  expect(existsSync(former)).toBe(true);
  expect(await homeportCommand('host', 'backups', 'forget-old', '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(former)).toBe(false);
  expect(await restore(first)).toBe('succeeded');
});

test('doctor names earlier backups in the default place, which a version without the command has left there', async () => {
  const stray = join(machine.folder, 'backups', install.id, 'snapshots');
  await mkdir(stray, { recursive: true });
  await writeFile(join(stray, 'a'.repeat(64)), 'x');
  expect(await running.host.inspect([install], false)).toMatchObject([
    {
      message: expect.stringMatching(
        /^1 backup of 1 install is in .*\/backups, but the backups in use are in /,
      ),
      remedy: expect.stringContaining('homeport host backups move --from'),
    },
  ]);
  await rm(join(machine.folder, 'backups', install.id), { recursive: true });
  expect(await running.host.inspect([install], false)).toEqual([]);
});

test('backups move to S3 by a key from a file, and those left behind are missing until they are brought', async () => {
  const [last] = [await backUp()];
  const key = join(machine.folder, 's3-key');
  await writeFile(key, 'an-id:a-secret-of-the-tests\n', { mode: 0o600 });
  const address = `s3:${server.url}/backups/web1`;
  const refused = await homeportCommand('host', 'backups', 'move', '--to', address);
  expect(refused.stderr).toMatch(/--to is in S3, and its credentials are missing/);
  const to = ['--to', address, '--credentials-file', key];
  expect(await callJson(environment(), 'host', 'backups', 'move', ...to)).toMatchObject({
    ...{ place: address, installs: 1, backups: 3, copied: 3 },
  });
  await homeport.idle();
  expect(await restore(last)).toBe('succeeded');
  expect(server.requests.every(({ signed }) => signed)).toBe(true);

  // An empty place, which the operator accepts.
  const empty = join(machine.folder, 'empty-backups');
  await restart({ backupRepository: empty });
  expect(await homeportCommand('host', 'backups', 'accept', '--yes')).toMatchObject({ code: 0, stderr: '' });
  await homeport.idle();
  expect(await restore(last)).toMatch(/^The backup is missing/);
  const { stdout } = await homeportCommand('backup', 'list', '--install', install.name);
  expect(stdout.match(/ missing /g)).toHaveLength(3);
  const kept = await homeportCommand('host', 'backups', 'forget-old', '--yes');
  expect(kept.stderr).toMatch(/The present place lacks 3 backups of .*Nothing was deleted/);
  const from = ['--from', address, '--from-credentials-file', key];
  expect(await homeportCommand('host', 'backups', 'move', ...from)).toMatchObject({ code: 0 });
  await homeport.idle();
  await compare();
  expect(await restore(last)).toBe('succeeded');
});

test.each(['its files', 'its database'])(
  'a website that lost %s serves again after the command that doctor prints',
  async (lost) => {
    await backUp();
    const layout = linuxLayout(machine.folder, machine.runFolder);
    const { edgeHttp, edgeHttps, sshListen } = machine.config;
    const home = () =>
      visit(
        { hosting: { edgeHttp, edgeHttps, ssh: sshListen } },
        `http://${install.name}.${machine.config.siteDomain}/?${crypto.randomUUID()}`,
      );
    expect(await home()).toMatchObject({ status: 200 });
    const database = `hp_${install.id.replaceAll('-', '')}`;
    if (lost === 'its files') await rm(layout.htdocsOf(install.id), { recursive: true });
    else {
      const options = ['--no-defaults', '--socket', layout.mariadbSocket];
      await runCommand('mariadb', [...options, '--execute', `DROP DATABASE ${database}`]);
    }
    const printed = (await homeportCommand('doctor', '--host')).stdout;
    expect(printed).toContain(
      lost === 'its files' ? 'The files of the website are missing' : `The database ${database} is missing.`,
    );
    expect((await home()).status).toBeGreaterThanOrEqual(500);
    const [, command = ''] = /: homeport (backup restore \S+ --yes)/.exec(printed.replace(/\s+/g, ' ')) ?? [];
    expect(await homeportCommand(...command.split(' '))).toMatchObject({ code: 0 });
    await homeport.idle();
    expect(await home()).toMatchObject({ status: 200 });
  },
);
