import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlatform } from '../../src/app/open-platform.ts';
import { readConfig } from '../../src/config/config.ts';
import { scheduleRecoveryPoints } from '../../src/features/backups/recovery-points/jobs.ts';
import { changeStates, pointsOf, stateOf } from '../../src/features/backups/recovery-points/store.ts';
import { createHostService } from '../../src/features/hosts/service.ts';
import { loadDesiredState } from '../../src/features/provisioning/desired-state.ts';
import { clearLane } from '../../src/features/provisioning/moves/jobs.ts';
import { latestMove } from '../../src/features/provisioning/moves/store.ts';
import { PLACE_MARK } from '../../src/hosting/linux/backups/place-mark.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { timestamp } from '../../src/lib/clock.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { field, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { isLong, onlyInLong } from '../rounds.ts';
import { CONTROL_PORT, connectHosts, type FarHost, startFarHost } from './far-host.ts';
import { sshUser } from './ssh-client.ts';
import { tracesOf } from './traces.ts';

const run = promisify(execFile);

const SETUP_MS = 5 * MINUTE_MS;
/** A move makes and restores two backups. */
const MOVE_MS = 8 * MINUTE_MS;
const SPLIT_MS = 10 * MINUTE_MS;
/** A gigabyte of pictures. */
const FILES = 2_000;
const FILE_BYTES = 500_000;

let folder: string;
let place: DatabasePlace;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let east: FarHost;
let west: FarHost;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-moves-'));
  place = await databasePlace();
  const environment = {
    HOMEPORT_HOST: 'linux',
    // The control plane has no host at its own socket.
    HOMEPORT_HOST_RUN_FOLDER: folder,
    HOMEPORT_SITE_DOMAIN: 'sites.test',
    HOMEPORT_DELETED_DAYS: '0',
    // Tests ask for looks themselves.
    HOMEPORT_RECOVERY_POINT_MINUTES: '1440',
  };
  const config = readConfig({ ...environment, HOMEPORT_DATA_DIR: place.settings.dataDir });
  const platform = await openPlatform(config, { log: silent });
  const hosts = createHostService(platform);
  const registered = (name: string) => async (address: string) => (await hosts.add(name, address)).identity;
  east = await startFarHost('east', folder, registered('east'));
  west = await startFarHost('west', folder, registered('west'));
  // New websites come to the other one.
  await hosts.setAccepting('west', false);
  await connectHosts(east, west);
  await platform.database.close();
  homeport = await startTestHomeport({ environment, place });
  ({ accountId, owner } = await homeport.ownedAccount());
  // Each edge has its identity, which it gets in the first status checks.
  await until(async () =>
    (await homeport.services.hosts.list()).every(({ description }) => description?.forwarding?.identity),
  );
}, SETUP_MS);

afterAll(async () => {
  await homeport?.remove();
  await east?.remove();
  await west?.remove();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

interface Install {
  id: string;
  name: string;
}

async function install(): Promise<Install> {
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  expect(made.status).toBe(201);
  await homeport.idle();
  const id = text(made.body, 'id');
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active' });
  return { id, name };
}

/** Writes a file of a website, as its user. */
async function write({ machine }: FarHost, { id }: Install, path: string, content: string): Promise<void> {
  const file = join(machine.folder, 'installs', id, 'htdocs', path);
  const { stdout } = await run('stat', ['-c', '%u:%g', join(machine.folder, 'installs', id, 'htdocs')]);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  await run('chown', [
    '-R',
    stdout.trim(),
    join(machine.folder, 'installs', id, 'htdocs/wp-content/uploads'),
  ]);
}

/** Runs a statement in the database of a website, and returns what it prints. */
async function query({ machine }: FarHost, { id }: Install, sql: string): Promise<string> {
  const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
  const database = `hp_${id.replaceAll('-', '')}`;
  return (await run('mariadb', [`--socket=${socket}`, '-N', database, '-e', sql])).stdout.trim();
}

const rename = (host: FarHost, of: Install, name: string) =>
  query(host, of, `UPDATE wp_options SET option_value = '${name}' WHERE option_name = 'blogname'`);

/** The status of a POST request, and its header Retry-After. */
function post({ namespace }: FarHost, hostname: string, path: string): Promise<[number, string | undefined]> {
  return new Promise((resolve, reject) => {
    const headers = { host: hostname, 'content-length': 0 };
    request(
      { host: namespace.address, port: 80, path, headers, method: 'POST', agent: false },
      (response) => {
        response.resume();
        resolve([response.statusCode ?? 0, response.headers['retry-after']]);
      },
    )
      .once('error', reject)
      .end();
  });
}

/** A POST request whose body arrives in two parts, as in a slow upload. `finish` sends the second one, and returns the status line. */
async function slowPost(
  { namespace }: FarHost,
  hostname: string,
  path: string,
): Promise<{ finish(): Promise<string> }> {
  const socket = connect(80, namespace.address);
  await once(socket, 'connect');
  const headers = [
    `Host: ${hostname}`,
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 8',
  ];
  socket.write(`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\nlog=`);
  return {
    async finish() {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write('user');
      await once(socket, 'close');
      return Buffer.concat(chunks).toString().split('\r\n')[0] ?? '';
    },
  };
}

/** Reads the home page until the end. `end` returns the answers that were no home page. */
function readAll(host: FarHost, hostname: string): { end(): Promise<string[]> } {
  const failed: string[] = [];
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      const { status, body } = await host.visit(hostname, '/');
      if (status !== 200 || !body.includes('</html>')) failed.push(`${status} ${body.slice(0, 200)}`);
    }
  })();
  return {
    async end() {
      isOver = true;
      await reading;
      return failed;
    },
  };
}

const hostOf = async ({ id }: Install) => {
  const { reader } = homeport.platform.database;
  const query = reader
    .selectFrom('installs as install')
    .innerJoin('hosts as host', 'host.id', 'install.host_id');
  const row = await query.select('host.name').where('install.id', '=', id).executeTakeFirstOrThrow();
  return row.name;
};

test(
  'an install moves with its files, database and backups, and the former machine is emptied',
  async () => {
    const shop = await install();
    const address = `${shop.name}.sites.test`;
    await write(east, shop, 'wp-content/uploads/menu.txt', 'soup');
    await rename(east, shop, 'Before the backup');
    const made = await owner.client.post(`/installs/${shop.id}/backups`, {
      description: 'one',
      notification_emails: [],
    });
    await homeport.idle();
    await rename(east, shop, 'Harbour Shop');

    await expect(homeport.services.moves.request(shop.name, 'west')).rejects.toThrow(/takes no installs/);
    await homeport.services.hosts.setAccepting('west', true);
    await expect(homeport.services.moves.request(shop.name, 'east')).rejects.toThrow(/already/);
    // A user of SSH is served at both, before and after the move, and knows one host key.
    const user = await sshUser(owner, folder);
    const menu = (host: FarHost) => user.run(host, shop.name, 'cat htdocs/wp-content/uploads/menu.txt');
    await until(async () => (await menu(west)) === 'soup');
    expect(await menu(east)).toBe('soup');
    const reader = readAll(east, address);
    await homeport.services.moves.request(shop.name, 'west');
    await homeport.idle();
    expect(await menu(west)).toBe('soup');
    await until(async () => (await menu(east)) === 'soup');
    expect(await reader.end()).toEqual([]);

    const move = await latestMove(homeport.platform.database.reader, shop.id);
    expect(await homeport.platform.queue.find(move?.job_id ?? '')).toMatchObject({ error: null });
    expect(move).toMatchObject({ step: 'moved', reason: null });
    expect(await hostOf(shop)).toBe('west');
    // The former machine forwards its visitors.
    expect((await east.visit(address, '/')).body).toContain('Harbour Shop');
    expect((await post(east, address, '/wp-login.php'))[0]).toBe(200);
    const home = await west.visit(address, '/');
    expect(home.status).toBe(200);
    expect(home.body).toContain('Harbour Shop');
    const [, stylesheet = ''] = /(\/wp-[^"' ]+\.css)/.exec(home.body) ?? [];
    expect((await west.visit(address, stylesheet)).status).toBe(200);
    expect((await west.visit(address, '/wp-content/uploads/menu.txt')).body).toBe('soup');
    expect((await west.visit(address, '/wp-login.php')).body).toContain('user_login');
    expect((await post(west, address, '/wp-login.php'))[0]).toBe(200);

    // Its backup is there, can be browsed and restored, and nothing else is.
    const backupId = text(made.body, 'id');
    const listed = await owner.client.get(`/installs/${shop.id}/backups`);
    expect(field(listed.body, 'results', 0)).toMatchObject({ id: backupId, status: 'completed' });
    expect(field(listed.body, 'count')).toBe(1);
    const restored = await owner.client.post(`/installs/${shop.id}/backups/${backupId}/restore`, {
      notification_emails: [],
      create_checkpoint: false,
    });
    expect(restored.status).toBe(202);
    await homeport.idle();
    expect(
      await query(west, shop, "SELECT option_value FROM wp_options WHERE option_name = 'blogname'"),
    ).toBe('Before the backup');

    // The former machine has a stopped copy, which is no unknown website, until its time is over.
    expect(await tracesOf(east.machine)).toContain(`/installs/${shop.id}`);
    const { database, queue } = homeport.platform;
    const lane = clearLane(move?.id ?? '');
    await database.write((transaction) => queue.reschedule(transaction, lane, 0));
    await homeport.idle();
    expect(await tracesOf(east.machine)).toEqual([`/backups/${PLACE_MARK}`]);
    expect((await west.visit(address, '/')).status).toBe(200);
    expect((await east.visit(address, '/')).status).toBe(200);
    // Without the copy, too.
    expect(await menu(east)).toBe('soup');
  },
  MOVE_MS,
);

test(
  'a held website is read, and takes no changes until its hold ends',
  async () => {
    const blog = await install();
    const host = (await hostOf(blog)) === 'east' ? east : west;
    const address = `${blog.name}.sites.test`;
    const { services } = homeport;
    const target = await services.hosts.target(host.name);
    const { connectHost } = await import('../../src/hosting/remote/client.ts');
    const remote = connectHost(target);
    try {
      expect((await post(host, address, '/wp-login.php'))[0]).toBe(200);
      const slow = await slowPost(host, address, '/wp-login.php');
      await host.visit(address, '/');
      await remote.holdWebsite(blog, 600);
      // It began before, but its body is complete only now.
      expect(await slow.finish()).toMatch(/^HTTP\/1.1 50[234] /);
      expect(await post(host, address, '/wp-login.php')).toEqual([503, expect.any(String)]);
      expect((await host.visit(address, '/wp-admin/')).status).toBe(503);
      expect((await host.visit(address, '/')).status).toBe(200);
      expect((await host.visit(address, '/wp-login.php')).status).toBe(200);
      // WordPress takes this for a deletion.
      expect((await host.visit(address, '/wp-json/wp/v2/posts/1?_method=DELETE')).status).toBe(503);
      expect((await host.visit(address, '/wp-json/wp/v2/posts/1')).status).toBe(200);
      await remote.releaseWebsite(blog);
      expect((await post(host, address, '/wp-login.php'))[0]).toBe(200);
      // No one releases it.
      await remote.holdWebsite(blog, 1);
      await until(async () => (await post(host, address, '/wp-login.php'))[0] === 200);
      await expect(remote.handOver(blog)).rejects.toThrow(/takes changes again/);
      expect((await host.visit(address, '/')).status).toBe(200);
      // Its copy stays held, so that it runs no scheduled task if the website comes back.
      await remote.holdWebsite(blog, 600);
      await remote.handOver(blog);
      const { aside } = linuxLayout(host.machine.folder, host.machine.runFolder);
      const kept = JSON.parse(await readFile(join(aside, `${blog.id}.json`), 'utf8'));
      expect(kept).toMatchObject({ placement: { held: { until: null } } });
      // The return of a move whose new machine is lost.
      const desired = await loadDesiredState(homeport.platform, blog.id);
      if (desired === undefined) throw new Error('the install has no website');
      await remote.apply(desired);
      expect((await post(host, address, '/wp-login.php'))[0]).toBe(503);
      await remote.releaseWebsite(blog);
      expect((await post(host, address, '/wp-login.php'))[0]).toBe(200);
    } finally {
      await remote.close();
    }
  },
  MOVE_MS,
);

onlyInLong(describe)('a move goes on after a machine was killed, and loses nothing', () => {
  test.each<['former' | 'new', string]>([
    ['former', 'the hold'],
    ['new', 'the first copy'],
  ])(
    'the %s machine, during %s',
    async (which) => {
      await homeport.services.hosts.setAccepting('west', true);
      const cafe = await install();
      const from = (await hostOf(cafe)) === 'east' ? east : west;
      const to = from === east ? west : east;
      const address = `${cafe.name}.sites.test`;
      await homeport.services.moves.request(cafe.name, to.name);
      if (which === 'former') {
        await until(async () => (await post(from, address, '/wp-login.php'))[0] === 503);
      } else {
        await until(async () => (await tracesOf(to.machine)).includes(`/records/${cafe.id}.json`));
        await rename(from, cafe, 'During the copy');
      }
      const killed = which === 'former' ? from : to;
      killed.process.kill('SIGKILL');
      await once(killed.process, 'exit');
      await killed.start();
      await until(async () => (await homeport.services.moves.show(cafe.name))?.step === 'moved');
      expect(await hostOf(cafe)).toBe(to.name);
      for (const host of [from, to]) expect((await host.visit(address, '/')).status).toBe(200);
      expect((await post(to, address, '/wp-login.php'))[0]).toBe(200);
      if (which === 'new') expect((await to.visit(address, '/')).body).toContain('During the copy');
    },
    MOVE_MS,
  );
});

onlyInLong(describe)('a large install', () => {
  test(
    'moves while many read it, and takes no changes for a short time only',
    async () => {
      await homeport.services.hosts.setAccepting('west', true);
      const shop = await install();
      const from = (await hostOf(shop)) === 'east' ? east : west;
      const to = from === east ? west : east;
      const address = `${shop.name}.sites.test`;
      await write(from, shop, 'wp-content/uploads/first.txt', 'first');
      const uploads = join(from.machine.folder, 'installs', shop.id, 'htdocs/wp-content/uploads');
      for (let number = 0; number < FILES; number++) {
        await writeFile(join(uploads, `picture${number}.jpg`), randomBytes(FILE_BYTES), { mode: 0o644 });
      }
      const readers = Array.from({ length: 4 }, () => readAll(from, address));
      let heldFrom = 0;
      let heldMs = 0;
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          const [status] = await post(from, address, '/wp-login.php');
          if (status === 503 && heldFrom === 0) heldFrom = performance.now();
          if (status === 200 && heldFrom > 0) heldMs = performance.now() - heldFrom;
          if (heldMs > 0) return;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      await homeport.services.moves.request(shop.name, to.name);
      await homeport.idle();
      expect((await homeport.services.moves.show(shop.name))?.step).toBe('moved');
      for (const reader of readers) expect(await reader.end()).toEqual([]);
      isOver = true;
      await watching;
      const last = join(
        to.machine.folder,
        'installs',
        shop.id,
        `htdocs/wp-content/uploads/picture${FILES - 1}.jpg`,
      );
      expect((await stat(last)).size).toBe(FILE_BYTES);
      const megabytes = Math.round((FILES * FILE_BYTES) / 1e6);
      process.stderr.write(
        `A website of ${megabytes} MB took no changes for ${(heldMs / 1000).toFixed(1)} s of its move.\n`,
      );
    },
    4 * MOVE_MS,
  );
});

onlyInLong(describe)('a machine that the control plane does not reach', () => {
  test(
    'serves its websites for ten minutes, and takes commands afterwards',
    async () => {
      const diner = await install();
      const host = (await hostOf(diner)) === 'east' ? east : west;
      const other = host === east ? west : east;
      const address = `${diner.name}.sites.test`;
      await until(async () => (await other.visit(address, '/')).status === 200);
      const nft = (...words: string[]) => {
        const [program = '', ...rest] = [...host.namespace.enter, '/usr/sbin/nft', ...words];
        return run(program, rest);
      };
      await nft('add', 'table', 'inet', 'split');
      await nft('add', 'chain', 'inet', 'split', 'input', '{ type filter hook input priority 0; }');
      await nft('add', 'rule', 'inet', 'split', 'input', 'tcp', 'dport', String(CONTROL_PORT), 'drop');
      const failed: string[] = [];
      const backup = await owner.client.post(`/installs/${diner.id}/backups`, {
        description: 'during the split',
        notification_emails: [],
      });
      await owner.client.post(`/installs/${diner.id}/domains`, { name: 'diner.example' });
      for (const end = Date.now() + SPLIT_MS; Date.now() < end; ) {
        for (const edge of [host, other]) {
          const { status, body } = await edge.visit(address, '/');
          if (status !== 200 || !body.includes('</html>')) failed.push(`${edge.name} ${status}`);
        }
        // Log-ins have a limit.
        const [status] = await post(host, address, '/');
        if (status !== 200) failed.push(`POST ${status}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      expect(failed).toEqual([]);
      const list = await homeport.services.hosts.list();
      expect(list.find(({ name }) => name === host.name)?.reason).not.toBeNull();
      await nft('delete', 'table', 'inet', 'split');
      const status = async () =>
        field(
          (await owner.client.get(`/installs/${diner.id}/backups/${text(backup.body, 'id')}`)).body,
          'status',
        );
      await until(async () => (await status()) === 'completed');
      await until(async () => (await host.visit('diner.example', '/')).status === 200);
      for (const edge of [host, other]) expect((await edge.visit(address, '/')).status).toBe(200);
      expect((await owner.client.get(`/installs/${diner.id}`)).body).toMatchObject({ lost_data: null });
    },
    SPLIT_MS + MOVE_MS,
  );
});

test(
  'an install of a lost machine is rebuilt on the other one, with its files, database and backups',
  async () => {
    const { hosts, lostHosts, rebuilds } = homeport.services;
    const depot = await install();
    const from = (await hostOf(depot)) === 'east' ? east : west;
    const to = from === east ? west : east;
    const address = `${depot.name}.sites.test`;
    await write(from, depot, 'wp-content/uploads/menu.txt', 'bread');
    await rename(from, depot, 'In the backup');
    const made = await owner.client.post(`/installs/${depot.id}/backups`, {
      description: 'one',
      notification_emails: [],
    });
    await homeport.idle();
    // Three looks: the first point has all files, the second has the changes, and the third is not made.
    await rename(from, depot, 'In the first point');
    expect(await pointsAfterLook(depot)).toHaveLength(1);
    await rename(from, depot, 'In the last point');
    await write(from, depot, 'wp-content/uploads/order.txt', 'an order');
    expect(await pointsAfterLook(depot)).toHaveLength(2);
    const repositorySize = async () =>
      (await run('du', ['-sb', join(from.machine.folder, 'backups', depot.id)])).stdout;
    await untilUnchanged(depot);
    const size = await repositorySize();
    const points = await pointsAfterLook(depot);
    expect(await repositorySize()).toBe(size);
    await rename(from, depot, 'After the last point');

    from.process.kill('SIGKILL');
    await once(from.process, 'exit');
    await lostHosts.giveUp(from.name);
    await hosts.setAccepting(to.name, true);
    // As if both had one folder or bucket for their backups.
    const repository = (host: FarHost) => join(host.machine.folder, 'backups', depot.id);
    await run('cp', ['-a', repository(from), repository(to)]);
    await rebuilds.request(from.name, []);
    await homeport.idle();
    const report = (await rebuilds.report(from.name)).find(({ name }) => name === depot.name);
    expect(report).toMatchObject({
      ...{ step: 'rebuilt', host: to.name, reason: null },
      backupId: points[0]?.id,
    });
    const home = await to.visit(address, '/');
    expect(home.status).toBe(200);
    expect(home.body).toContain('In the last point');
    expect((await to.visit(address, '/wp-content/uploads/order.txt')).body).toBe('an order');
    const [, stylesheet = ''] = /(\/wp-[^"' ]+\.css)/.exec(home.body) ?? [];
    expect((await to.visit(address, stylesheet)).status).toBe(200);
    expect((await to.visit(address, '/wp-content/uploads/menu.txt')).body).toBe('bread');
    expect((await post(to, address, '/wp-login.php'))[0]).toBe(200);
    const restored = await owner.client.post(
      `/installs/${depot.id}/backups/${text(made.body, 'id')}/restore`,
      { notification_emails: [], create_checkpoint: false },
    );
    expect(restored.status).toBe(202);
    await homeport.idle();
    expect((await to.visit(address, '/')).body).toContain('In the backup');
    await homeport.services.recoveryPoints.requestRestore(depot.name);
    await homeport.idle();
    expect((await to.visit(address, '/')).body).toContain('In the last point');
    // The new machine does not know what the points of the former one had.
    expect((await pointsAfterLook(depot))[0]?.base_id).toBeNull();

    if (!isLong) return;
    // The lost machine returns: it serves nothing, and deletes nothing.
    await from.start();
    await until(async () => (await from.visit(address, '/')).status !== 200);
    expect(await tracesOf(from.machine)).toContain(`/installs/${depot.id}`);
    await lostHosts.takeBack(from.name);
    await until(async () => (await from.visit(address, '/')).body.includes('In the last point'));
    expect((await to.visit(address, '/')).status).toBe(200);
  },
  MOVE_MS,
);

/** Looks at an install, and makes a recovery point if it changed. Returns its points, newest first. */
async function pointsAfterLook({ id }: Install) {
  const { database, queue, clock } = homeport.platform;
  const look = () =>
    database.write((transaction) =>
      queue.enqueue(transaction, scheduleRecoveryPoints, { payload: {}, lane: scheduleRecoveryPoints.name }),
    );
  // The first one adds its state.
  await look();
  await homeport.idle();
  const due_at = timestamp(clock);
  await database.write(({ queries }) => changeStates(queries, [id], { due_at }));
  await look();
  await homeport.idle();
  expect(await stateOf(database.reader, id)).toMatchObject({ reason: null });
  return pointsOf(database.reader, id);
}

/** Waits until looks find no change: what changed a second before a point may be in it or not. */
async function untilUnchanged(install: Install): Promise<void> {
  let before = await pointsAfterLook(install);
  await until(async () => {
    const after = await pointsAfterLook(install);
    const isSame = after[0]?.id === before[0]?.id;
    before = after;
    return isSame;
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 4 * MINUTE_MS; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the condition was not met in time');
}
