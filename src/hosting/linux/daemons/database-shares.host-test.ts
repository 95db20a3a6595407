import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseShares } from './database-shares.ts';
import { type DatabasesMachine, startDatabasesMachine } from './databases.fixture.ts';
import { databasePidFile } from './mariadb.ts';
import { clientCommand } from './mariadb-client.ts';

let here: DatabasesMachine;
const clients: ChildProcess[] = [];

beforeAll(async () => {
  here = await startDatabasesMachine({ isPrepared: true });
  await here.renew();
});
afterAll(async () => {
  for (const client of clients) client.kill();
  await here?.machine.stop();
});

const USUAL = { policy: '0', processors: 'all' };
/** SCHED_IDLE (sched(7)). */
const WAITING = { policy: '5', processors: availableParallelism() > 1 ? 'some' : 'all' };

/** Opens a connection as the user and keeps it open after the statements. */
function connect(user: string, database: string, statements: string): ChildProcess {
  const [program, args] = clientCommand(here.machine.layout.mariadbSocket, { unixUser: user }, 'mariadb', [
    database,
  ]);
  const client = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  clients.push(client);
  client.stdin.write(`${statements};\n`);
  return client;
}

/** How the kernel schedules the thread of each connection of a user (proc_pid_stat(5), proc_pid_status(5)). */
async function schedulingOf(user: string): Promise<{ policy: string; processors: string }[]> {
  const server = `/proc/${(await readFile(databasePidFile(here.machine.layout), 'utf8')).trim()}`;
  const processorsOf = async (folder: string) =>
    /^Cpus_allowed:\t(.+)$/m.exec(await readFile(`${folder}/status`, 'utf8'))?.[1];
  const all = await processorsOf(server);
  const rows = await here.asRoot(`SELECT TID FROM information_schema.PROCESSLIST WHERE USER = '${user}'`);
  return Promise.all(
    rows.map(async ([thread]) => {
      const folder = `${server}/task/${thread}`;
      const stat = await readFile(`${folder}/stat`, 'utf8');
      const policy = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38] ?? '';
      return { policy, processors: (await processorsOf(folder)) === all ? 'all' : 'some' };
    }),
  );
}

test('connections of a website that take much processor time wait for others, and new ones do not', async () => {
  const { machine, shop, blog, asRoot } = here;
  const { layout, log } = machine;
  // A small machine, so that its share does not depend on what else runs.
  const shares = createDatabaseShares({ layout, hasGroup: true, log, processors: 0.1 });
  const heavy = [1, 2, 3].map(() => connect(shop.name, 'hp_shop', "SELECT BENCHMARK(1e12, SHA2('x', 512))"));
  connect(blog.name, 'hp_blog', 'SELECT 1');
  await expect.poll(() => schedulingOf(blog.name)).toEqual([USUAL]);
  await expect
    .poll(async () => {
      await shares.look();
      return schedulingOf(shop.name);
    })
    .toEqual([WAITING, WAITING, WAITING]);
  expect(await schedulingOf(blog.name)).toEqual([USUAL]);
  expect(shares.check()).toBeNull();

  const ended = heavy.map((client) => once(client, 'exit'));
  await asRoot(`KILL USER \`${shop.name}\`@localhost`);
  await Promise.all(ended);
  connect(shop.name, 'hp_shop', 'SELECT 1');
  await expect.poll(() => schedulingOf(shop.name)).toEqual([USUAL]);
});
