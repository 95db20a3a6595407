import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { type Answer, field, text } from '../client.ts';
import { type Visit, visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

/** The walls between websites (docs/decisions/walls.md), tried at each entrance by the same code. */
const run = promisify(execFile);

let folder: string;
let machine: TestMachine;
let homeport: TestHomeport;
let layout: LinuxLayout;
let owner: Person;
let accountId: string;
let attacker: { id: string; name: string };
let victim: { id: string; name: string };
let ssh: string[];
const services: Server[] = [];
let abstract: string;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-walls-'));
  machine = await createPreparedMachine({ HOMEPORT_WP_CLI_SOURCE: 'packaged' });
  layout = linuxLayout(machine.folder, machine.runFolder);
  await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
  [attacker, victim] = [await made(), await made()];
  await homeport.idle();
  abstract = `homeport-walls-${installName()}`;
  await listening({ path: `\0${abstract}` });
  port = await listening({ host: '127.0.0.1', port: 0 });
  await putCode();
  ssh = await shellOptions();
});
afterAll(async () => {
  for (const service of services) service.close();
  await homeport?.remove();
  await machine?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function made(): Promise<{ id: string; name: string }> {
  const name = installName();
  const { status, body } = await owner.client.post('/installs', { name, account_id: accountId });
  expect(status).toBe(201);
  return { id: text(body, 'id'), name };
}

/** A service of the machine that accepts everyone. */
async function listening(where: { path: string } | { host: string; port: number }): Promise<number> {
  const service = createServer((connection) => connection.on('error', () => {}).end('a secret'));
  services.push(service);
  await new Promise<void>((resolve) => service.listen(where, resolve));
  const address = service.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function shellOptions(): Promise<string[]> {
  const key = join(folder, 'key');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const public_key = await readFile(`${key}.pub`, 'utf8');
  expect((await owner.client.post('/ssh_keys', { public_key })).status).toBe(201);
  return [
    ...['-i', key, '-p', `${machine.config.sshListen.port}`, '-F', 'none', '-o', 'BatchMode=yes'],
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
  ];
}

/** Answers what it could do, as JSON. `bpf`: number of that system call. */
const probe = () => `<?php
function probe_walls() {
  $reach = function ($address) {
    $socket = @stream_socket_client($address, $errno, $error, 5);
    return $socket ? 'connected' : $error;
  };
  $program = function (...$words) {
    exec(implode(' ', array_map('escapeshellarg', $words)) . ' 2>&1', $lines, $status);
    return [$status, implode("\\n", $lines)];
  };
  $listed = [];
  foreach (['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'arp', 'route'] as $name)
    $listed = array_merge($listed, array_slice(file("/proc/self/net/$name"), 1));
  mysqli_report(MYSQLI_REPORT_OFF);
  $link = mysqli_init();
  $link->real_connect('localhost', '${attacker.name}', '', null, 0, '${layout.mariadbSocket}');
  $edge = stream_context_create(['http' => ['header' => 'Host: ${attacker.name}.sites.test']]);
  return json_encode([
    'own page' => substr(file_get_contents('http://127.0.0.1:${machine.config.edgeHttp.port}/own.txt', false, $edge), 0, 3),
    'own database' => (bool) $link->query('SELECT 1 FROM hp_${attacker.id.replaceAll('-', '')}.wp_options LIMIT 1'),
    'names' => gethostbyname('localhost'),
    'connections of the machine' => $listed,
    'port of the machine' => $reach('tcp://127.0.0.1:${port}'),
    'metadata service' => $reach('tcp://169.254.169.254:80'),
    'abstract socket' => $reach("unix://\\0${abstract}"),
    'listens' => (bool) @stream_socket_server('tcp://0.0.0.0:0'),
    'calls' => $program('perl', '-e', 'print syscall(${process.arch === 'x64' ? 321 : 280}, 0, 0, 0) < 0 ? $! : "called"'),
    'namespaces' => $program('unshare', '--user', 'true')[0] === 0,
    'other websites' => array_values(array_diff(scandir('${layout.installs}'), ['.', '..'])),
    'other database' => (bool) $link->query('SELECT 1 FROM hp_${victim.id.replaceAll('-', '')}.wp_options LIMIT 1'),
    'processes' => count(array_filter(glob('/proc/[0-9]*'), fn ($one) => (stat($one)['uid'] ?? -1) !== posix_getuid())),
  ]);
}
`;

/** What a website may do, and the walls around it. */
const expected = () => ({
  'own page': 'own',
  'own database': true,
  names: '127.0.0.1',
  'connections of the machine': [],
  'port of the machine': 'Connection refused',
  'metadata service': 'Connection refused',
  'abstract socket': 'Connection refused',
  listens: false,
  calls: [0, 'Function not implemented'],
  namespaces: false,
  'other websites': [attacker.id],
  'other database': false,
  processes: 0,
});

/** A page, and a plugin with the same code, which also runs with an event of WP-Cron. */
async function putCode(): Promise<void> {
  const htdocs = layout.htdocsOf(attacker.id);
  await writeFile(join(htdocs, 'own.txt'), 'own');
  await writeFile(join(htdocs, 'page.php'), `${probe()} echo probe_walls();`);
  const plugin = join(htdocs, 'wp-content/plugins/walls');
  await mkdir(plugin, { recursive: true });
  const hooks = `
    add_action('init', function () { if (isset($_GET['walls'])) { echo probe_walls(); exit; } });
    add_action('walls_event', fn () => file_put_contents('${layout.privateOf(attacker.id)}/event.json', probe_walls()));`;
  await writeFile(
    join(plugin, 'walls.php'),
    `${probe().replace('<?php', '<?php\n/* Plugin Name: Walls */')}${hooks}`,
  );
}

const look = (path: string): Promise<Visit> => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  return visit({ hosting }, `http://${attacker.name}.sites.test${path}`);
};

async function wp(...args: string[]): Promise<string> {
  const { headers }: Answer = await owner.client.post(`/installs/${attacker.id}/wp_cli`, { args });
  await homeport.idle();
  const { body } = await owner.client.get(String(headers.location).replace('/v1', ''));
  expect(body).toMatchObject({ status: 'succeeded', result: { exit_status: '0' } });
  return text(body, 'result', 'stdout');
}

test('the services of the machine accept others', async () => {
  for (const where of [{ path: `\0${abstract}` }, { host: '127.0.0.1', port }]) {
    const connection = connect(where);
    const first = await new Promise((resolve, reject) => {
      connection.once('data', resolve).once('error', reject);
    });
    expect(String(first)).toBe('a secret');
    connection.destroy();
  }
});

describe('the walls hold for', () => {
  test('a page', async () => {
    expect(JSON.parse((await look('/page.php')).body)).toEqual(expected());
  });

  test('WP-CLI', async () => {
    const page = join(layout.htdocsOf(attacker.id), 'page.php');
    expect(JSON.parse(await wp('eval-file', page))).toEqual(expected());
  });

  test('a plugin', async () => {
    await wp('plugin', 'activate', 'walls');
    expect(JSON.parse((await look('/?walls=yes')).body)).toEqual(expected());
  });

  test('WP-Cron', { timeout: 5 * MINUTE_MS }, async () => {
    await wp('eval', 'wp_schedule_single_event(time() - 60, "walls_event");');
    const file = join(layout.privateOf(attacker.id), 'event.json');
    const found = await vi.waitFor(() => readFile(file, 'utf8'), { timeout: 4 * MINUTE_MS, interval: 1_000 });
    expect(JSON.parse(found)).toEqual(expected());
  });

  test('a shell', async () => {
    const shell = async (command: string) =>
      (await run('ssh', [...ssh, `${attacker.name}@127.0.0.1`, command])).stdout;
    expect(JSON.parse(await shell('php htdocs/page.php'))).toEqual(expected());
    expect(await shell('tail -qn +2 /proc/net/tcp /proc/net/udp')).toBe('');
  });
});

test('doctor tells the same', async () => {
  const row = await homeport.platform.database.reader
    .selectFrom('hosts')
    .select('description')
    .executeTakeFirstOrThrow();
  const walls = field(row.description, 'walls');
  expect(walls).toEqual(
    expect.arrayContaining(
      ['network', 'system calls'].map((name) => ({ name, weakness: null, remedy: null })),
    ),
  );
});
