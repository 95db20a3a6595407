import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import ssh2 from 'ssh2';
import { operatorFor } from '../src/access/caller.ts';
import { startHomeport } from '../src/app/homeport.ts';
import { readConfig } from '../src/config/config.ts';
import { newSshKey } from '../test/ssh-key.ts';
import { makeOwner } from './measure/owner.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';

/**
 * `npm run bench -- giant-backups`: the time until eight backups of one account are complete, and until another account's install, asked for
 * after them, is active. Each backs up a sparse file of 64 GiB, created by SFTP; installs have no limit of disk space. Keep the data
 * folder on a disk that supports sparse files (TMPDIR).
 */
const GIANTS = 8;
const FILE_BYTES = 64 * 1024 ** 3;
const PATIENCE_MS = 90_000;
const INSTALL_GOAL_MS = 5_000;
const BACKUPS_GOAL_MS = 60_000;
const PRIVATE = '127.0.0.1:0';

const folder = temporaryFolder();
const config = readConfig({
  ...process.env,
  HOMEPORT_DATA_DIR: join(folder.path, 'data'),
  HOMEPORT_LISTEN: PRIVATE,
  HOMEPORT_EDGE_HTTP: PRIVATE,
  HOMEPORT_EDGE_HTTPS: PRIVATE,
  HOMEPORT_SSH_LISTEN: PRIVATE,
  HOMEPORT_EMBEDDED_PHP_MB: '0',
  HOMEPORT_INSTALL_DISK_GB: '0',
});
const homeport = await startHomeport(
  config,
  { log: pino({ level: 'silent' }) },
  { api: true, hosting: true },
);
const { services } = homeport;
const report = createReport('giant-backups');
report.part(`${GIANTS} backups of one account, each of a sparse file of 64 GiB`);

try {
  const a = await makeOwner(homeport);
  const b = await makeOwner(homeport);
  const key = newSshKey();
  await services.sshKeys.add(operatorFor(a.userId), `${key.public} bench`);
  const giants: { id: string; name: string }[] = [];
  for (let n = 0; n < GIANTS; n++) giants.push(await install(a, `giant${n}`));
  await homeport.idle();
  await Promise.all(giants.map(({ name }) => makeSparse(name, key.private)));
  const asked = performance.now();
  const backups = await Promise.all(
    giants.map(async ({ id }) => {
      const description = 'giant';
      const { id: backup } = await services.backups.request(operatorFor(a.userId), id, {
        description,
        notification_emails: ['bench@bench.example'],
      });
      return { id, backup };
    }),
  );
  const installed = await activeAfter(b.userId, (await install(b, 'other')).id, asked);
  const statusOf = async ({ id, backup }: (typeof backups)[number]) =>
    (await services.backups.get(operatorFor(a.userId), id, backup)).status;
  const still = (await Promise.all(backups.map(statusOf))).filter((status) => status !== 'completed').length;
  report.figure({
    what: 'install of another account: active',
    value: installed,
    unit: 'ms',
    measured: `${still} of ${GIANTS} backups not complete yet`,
    goal: { atMost: INSTALL_GOAL_MS },
  });
  await until('the backups are not complete', asked, async () =>
    (await Promise.all(backups.map(statusOf))).every((status) => status === 'completed'),
  );
  report.figure({
    what: 'backups: all complete',
    value: performance.now() - asked,
    unit: 'ms',
    goal: { atMost: BACKUPS_GOAL_MS },
  });
  report.end();
  report.finish();
} finally {
  await homeport.stop(0);
  folder.remove();
}

async function install(owner: { userId: string; accountId: string }, name: string) {
  const made = await services.installs.create(operatorFor(owner.userId), {
    name,
    account_id: owner.accountId,
  });
  return { id: made.id, name };
}

/** Creates the file as a customer would. */
async function makeSparse(username: string, privateKey: string): Promise<void> {
  const client = new ssh2.Client();
  const port = homeport.hosting?.ssh.port;
  if (port === undefined) throw new Error('there is no SFTP');
  const ready = once(client, 'ready');
  client.connect({ host: '127.0.0.1', port, username, privateKey });
  await ready;
  try {
    await new Promise<void>((resolve, reject) => {
      client.sftp((failed, sftp) => {
        if (failed) return reject(failed);
        sftp.writeFile('/sparse', 'x'.repeat(4_096), (error) => {
          if (error) return reject(error);
          sftp.setstat('/sparse', { size: FILE_BYTES }, (refused) => (refused ? reject(refused) : resolve()));
        });
      });
    });
  } finally {
    client.end();
  }
}

/** Returns the time from `asked` until the install is active, in milliseconds. */
async function activeAfter(userId: string, installId: string, asked: number): Promise<number> {
  await until(
    'the install is not active',
    asked,
    async () => (await services.installs.get(operatorFor(userId), installId)).status === 'active',
  );
  return performance.now() - asked;
}

async function until(problem: string, asked: number, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    if (performance.now() - asked > PATIENCE_MS) throw new Error(`after ${PATIENCE_MS} ms, ${problem}`);
    await sleep(20);
  }
}
