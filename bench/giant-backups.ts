import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import ssh2 from 'ssh2';
import { operatorFor } from '../src/access/caller.ts';
import { startHomeport } from '../src/app/homeport.ts';
import { table } from '../src/cli/terminal/output.ts';
import { readConfig } from '../src/config/config.ts';
import { newSshKey } from '../test/ssh-key.ts';
import { makeOwner } from './measure/owner.ts';
import { temporaryFolder } from './measure/processes.ts';

/**
 * `node bench/giant-backups.ts`: the time until another account's install becomes active while eight backups of one account run. Each backs up a
 * sparse file of 64 GiB, created by SFTP. Settings come from the environment; HOMEPORT_INSTALL_DISK_GB=0 lets SFTP create the files. Keep
 * the data folder on a disk that supports sparse files (TMPDIR).
 */
const GIANTS = 8;
const FILE_BYTES = 64 * 1024 ** 3;
const PATIENCE_MS = 90_000;
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
});
const homeport = await startHomeport(
  config,
  { log: pino({ level: 'silent' }) },
  { api: true, hosting: true },
);
const { services } = homeport;
const rows: string[][] = [];

try {
  const a = await makeOwner(homeport);
  const b = await makeOwner(homeport);
  const key = newSshKey();
  await services.sshKeys.add(operatorFor(a.userId), `${key.public} bench`);
  const giants: { id: string; name: string }[] = [];
  for (let n = 0; n < GIANTS; n++) giants.push(await install(a, `giant${n}`));
  await homeport.idle();
  rows.push([
    'SFTP setstat',
    (await Promise.all(giants.map(({ name }) => makeSparse(name, key.private))))[0] ?? '',
  ]);
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
  await sleep(2_000);
  const other = await install(b, 'other');
  rows.push(['install of the other account active after', await timeUntilActive(b.userId, other.id)]);
  const statuses = await Promise.all(
    backups.map(
      async ({ id, backup }) => (await services.backups.get(operatorFor(a.userId), id, backup)).status,
    ),
  );
  rows.push([
    `backups, ${Math.round((performance.now() - asked) / 1_000)} s after they were asked for`,
    statuses.join(' '),
  ]);
  process.stdout.write(table(['what', ''], rows));
} finally {
  await Promise.race([homeport.stop(), sleep(20_000)]);
  folder.remove();
  process.exit();
}

async function install(owner: { userId: string; accountId: string }, name: string) {
  const made = await services.installs.create(operatorFor(owner.userId), {
    name,
    account_id: owner.accountId,
  });
  return { id: made.id, name };
}

/** Creates the file as a customer would. Returns the server's response. */
async function makeSparse(username: string, privateKey: string): Promise<string> {
  const client = new ssh2.Client();
  const port = homeport.hosting?.ssh.port;
  if (port === undefined) throw new Error('there is no SFTP');
  const ready = once(client, 'ready');
  client.connect({ host: '127.0.0.1', port, username, privateKey });
  await ready;
  try {
    return await new Promise<string>((resolve, reject) => {
      client.sftp((failed, sftp) => {
        if (failed) return reject(failed);
        sftp.writeFile('/sparse', 'x'.repeat(4_096), (error) => {
          if (error) return reject(error);
          sftp.setstat('/sparse', { size: FILE_BYTES }, (refused) =>
            resolve(refused ? refused.message : 'done'),
          );
        });
      });
    });
  } finally {
    client.end();
  }
}

async function timeUntilActive(userId: string, installId: string): Promise<string> {
  const began = performance.now();
  for (;;) {
    const { status } = await services.installs.get(operatorFor(userId), installId);
    const ms = Math.round(performance.now() - began);
    if (status === 'active') return `${ms} ms`;
    if (ms > PATIENCE_MS) return `${status} after ${ms} ms`;
    await sleep(20);
  }
}
