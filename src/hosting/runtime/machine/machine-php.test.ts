import { once } from 'node:events';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../../network/probe/address-policy.ts';
import { createPhpSites } from '../wasm/create-php-sites.ts';
import { createDestinations } from '../wasm/destinations.ts';
import { createLoopbackConnections } from '../wasm/loopback-connections.ts';
import type { PhpMail, PhpRequest, PhpSite, PhpSites } from '../wasm/php-sites.ts';
import { findPrograms } from './find-programs.ts';
import { THIS_PHP, whyNoMachinePhp } from './machine.fixture.ts';
import { machinePhp } from './machine-engine.ts';
import { CLI, sandboxCommand } from './sandbox.ts';
import { startSandbox } from './start-sandbox.ts';
import { systemCallFilter } from './system-call-filter.ts';

let folder: string;
/** Answers with the path. */
const server = createServer(({ url }, response) => response.end(url));
let sites: PhpSites;
let site: PhpSite;
const mails: PhpMail[] = [];
const connections: string[] = [];

beforeAll(async () => {
  // Too long for sockets.
  folder = await realpath(await mkdtemp(join(tmpdir(), `${'php-'.repeat(20)}-`)));
  await mkdir(join(folder, 'core/wp-includes'), { recursive: true });
  await mkdir(join(folder, 'core/wp-admin'));
  await writeFile(join(folder, 'core/index.php'), '<?php echo "index ", $_SERVER["REQUEST_URI"];');
  await writeFile(join(folder, 'core/wp-includes/version.php'), '<?php $wp_version = "7.1";');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  sites = createPhpSites(
    {
      folder: join(folder, 'runtime'),
      codeFolder: join(folder, 'code'),
      roots: { writable: [folder], readable: [] },
      idleMs: 600_000,
      memoryMb: 900,
      waitMs: 110_000,
      spare: false,
      // As on a platform with its edge at another port.
      mayConnect: createDestinations({ isPublic: createAddressPolicy([]), edgePorts: [1] }),
      lookUp: async () => ['127.0.0.1'],
      loopbacks: createLoopbackConnections(),
      loopback({ siteId, host, port }) {
        connections.push(`${siteId} ${host}:${port}`);
        return host === 'own.example' ? { host: '127.0.0.1', port } : undefined;
      },
      deliverMail: async (mail) => {
        if (mail.message.includes('refuse me')) throw new Error('refused');
        mails.push(mail);
      },
      log: pino({ level: 'silent' }),
    },
    THIS_PHP,
  );
  site = await newSite('one');
});

afterAll(async () => {
  await sites.close();
  server.close();
  expect(await readdir(join(folder, 'runtime')).catch(() => [])).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

async function newSite(id: string): Promise<PhpSite> {
  const [website = '', own = '', database = ''] = ['files', 'private', 'database'].map((name) =>
    join(folder, id, name),
  );
  for (const path of [join(website, 'wp-content'), own, database]) await mkdir(path, { recursive: true });
  const limits = { memoryMb: 64, seconds: 30, uploadMb: 2, inputVars: 5_000, threads: 2 };
  const prepend = '<?php define("FIRST", 1);';
  return { id, core: join(folder, 'core'), website, private: own, database, readOnly: {}, prepend, limits };
}

const put = (path: string, code: string) => writeFile(join(site.website, path), `<?php ${code}`);

async function ask(target: string, request: Partial<PhpRequest> = {}) {
  const { status, headers, body } = await sites.request(site, {
    method: 'GET',
    target,
    headers: {},
    body: null,
    https: false,
    clientAddress: '192.0.2.7',
    host: 'own.example:8080',
    ...request,
  });
  return { status, headers, text: await text(body) };
}

/** What a script prints as JSON. */
async function result(code: string, network = true): Promise<unknown> {
  const script = `<?php echo json_encode((function () { ${code} })());`;
  const { output, error } = await sites.run(site, {
    code: script,
    host: 'own.example',
    https: false,
    network,
  });
  try {
    return JSON.parse(output);
  } catch {
    throw new Error(`not JSON: ${output} ${error}`);
  }
}

function portOf(): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

describe.skipIf((await whyNoMachinePhp()) !== null)('the PHP of the machine', () => {
  it('answers with the file of the path, or with index.php, and sees new files of the top folder', async () => {
    expect((await ask('/some/post/?x=1')).text).toBe('index /some/post/?x=1');
    await put('page.php', 'echo FIRST, PHP_SAPI, $_SERVER["PATH_INFO"] ?? "";');
    expect((await ask('/page.php/more')).text).toBe('1fpm-fcgi/more');
    await put('new.php', 'echo "former";');
    await rename(join(site.website, 'new.php'), join(site.website, 'page.php'));
    expect((await ask('/page.php')).text).toBe('former');
  });

  it('shows the files of the website over those of the core, which PHP cannot change', async () => {
    expect(
      await result(`return [file_put_contents('own.txt', 'x'), ...array_map(fn ($do) => @$do(), [fn () => file_put_contents('index.php', 'x'),
        fn () => unlink('index.php'), fn () => rename('index.php', 'a.php'), fn () => mkdir('wp-admin/x'), fn () => symlink('/private', 'mine'),
        fn () => file_put_contents('wp-includes/version.php', 'x')])];`),
    ).toEqual([1, false, false, false, false, false, false]);
    const names = ['own.txt', 'page.php', 'wp-content'];
    expect((await readdir(site.website)).sort()).toEqual(names);
    await put('index.php', 'echo "own";');
    expect((await ask('/')).text).toBe('own');
    expect(await result("return unlink('index.php');")).toBe(true);
    expect((await readdir(site.website)).sort()).toEqual(names);
    expect((await ask('/')).text).toBe('index /');
  });

  it('passes on headers byte by byte, and HTTPS only if the visitor uses it', async () => {
    await put(
      'wp-content/headers.php',
      `header('X-Name: Grüße €'); header('constructor: own'); header('X-A: 1'); header('X-A: 2', false);
       echo json_encode([$_SERVER['HTTP_X_WORD'], isset($_SERVER['HTTPS']), isset($_SERVER['HTTP_PROXY'])]);`,
    );
    const bytes = (text: string) => Buffer.from(text).toString('latin1');
    const headers = { 'x-word': bytes('Grüße €'), x_word: 'second', proxy: 'elsewhere' };
    const answer = await ask('/wp-content/headers.php', { headers });
    expect(JSON.parse(answer.text)).toEqual(['Grüße €', false, false]);
    expect(answer.headers).toMatchObject({ 'x-name': bytes('Grüße €'), 'x-a': ['1', '2'] });
    expect(Object.entries(answer.headers)).toContainEqual(['constructor', 'own']);
  });

  it('reads nothing of the machine, the platform or other websites', async () => {
    const other = await newSite('other');
    await writeFile(join(other.website, 'wp-config.php'), 'SECRET');
    await symlink(other.website, join(site.website, 'wp-content/linked'));
    const paths = [
      '/etc/passwd',
      '/etc/hostname',
      '/bin/sh',
      '/proc/1/root/etc/passwd',
      '/wordpress/wp-content/linked/wp-config.php',
    ];
    const all = [...paths, join(other.website, 'wp-config.php'), import.meta.filename, process.execPath];
    expect(
      await result(
        `return array_map(fn ($path) => @file_get_contents($path), json_decode('${JSON.stringify(all)}'));`,
      ),
    ).toEqual(all.map(() => false));
    expect(
      await result(
        `return [file_put_contents('/homeport/etc/prepend.php', 'x'), file_put_contents('/new', 'x'), array_filter(['exec', 'proc_open', 'dl'], 'function_exists')];`,
      ),
    ).toEqual([false, false, []]);
  });

  it('loads no libraries that it has written', async () => {
    const places = `preg_match_all('~ (/\\S*) rw,(\\S*) ~', file_get_contents('/proc/self/mountinfo'), $mounts, PREG_SET_ORDER);
      return array_column(array_filter($mounts, fn ($one) => !str_contains($one[2], 'noexec')), 1);`;
    expect(await result(places)).toEqual([]);
    await put('wp-content/mounts.php', `echo json_encode((function () { ${places} })());`);
    // A removed folder.
    expect(JSON.parse((await ask('/wp-content/mounts.php')).text)).toEqual(['/homeport/listen']);
  });

  it('changes no settings of the kernel, fills no memory by sockets or folders, and ends with its answer', async () => {
    const port = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
    await put(
      'wp-content/limits.php',
      `for ($pairs = []; count($pairs) < 600 && ($one = @stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0)); ) $pairs[] = $one;
       $open = count($pairs); $pairs = [];
       echo json_encode([@fopen('${port}', 'r+'), $open < 512, @file_put_contents('/homeport/listen/x', 'x'),
         array_filter(['fastcgi_finish_request', 'posix_kill'], 'function_exists')]);`,
    );
    expect(JSON.parse((await ask('/wp-content/limits.php')).text)).toEqual([false, true, false, []]);
    expect(
      await result(
        `return [@fopen('${port}', 'r+'), @touch('/dev/full', 1), file_put_contents('/dev/null', 'x')];`,
      ),
    ).toEqual([false, false, 1]);
  });

  it('keeps the settings of the platform, and shows websites neither processes nor shared memory of others', async () => {
    await writeFile(join(site.website, '.user.ini'), 'auto_prepend_file = none\nmemory_limit = 9G\n');
    await put(
      'settings.php',
      `@ini_set('open_basedir', '/'); echo json_encode([defined('FIRST'), ini_get('memory_limit'), getenv('ALL_PROXY'), getenv('PATH')]);`,
    );
    expect(JSON.parse((await ask('/settings.php')).text)).toEqual([true, '64M', false, false]);
    await rm(join(site.website, '.user.ini'));
    expect(
      await result(`$own = @file_get_contents('/proc/1/environ');
        return [is_string($own) && str_contains($own, 'HOMEPORT'), count(glob('/proc/[0-9]*')) < 5,
          @file_put_contents('/dev/shm/x', 'x'), function_exists('shmop_open'),
          count(array_filter(glob('/proc/self/fd/*'), fn ($fd) => preg_match('/^(net|user|mnt):/', (string) @readlink($fd)))) > 0];`),
    ).toEqual([false, true, false, false, false]);
  });

  it('connects where the platform allows it, whichever way PHP asks, and nowhere else', async () => {
    const port = portOf();
    const at = `own.example:${port}`;
    expect(
      await result(`$h = curl_init('http://${at}/curl'); curl_setopt($h, CURLOPT_RETURNTRANSFER, true);
        $f = fsockopen('own.example', ${port}, $n, $e, 20); fwrite($f, "GET /raw HTTP/1.0\\r\\n\\r\\n");
        return [curl_exec($h), file_get_contents('http://${at}/stream'), substr(stream_get_contents($f), -4)];`),
    ).toEqual(['/curl', '/stream', '/raw']);
    connections.length = 0;
    const refused = [
      '192.0.2.1',
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '198.18.9.9',
      'rebound.example',
    ];
    expect(
      await result(`return array_map(function ($host) {
        $raw = @fsockopen($host, ${port}, $n, $e, 20);
        return [$raw ? fgets($raw) : false, @file_get_contents("http://$host:${port}/"), @fsockopen("udp://$host", 53) && false];
      }, json_decode('${JSON.stringify(refused)}'));`),
    ).toEqual(refused.map(() => [false, false, false]));
    expect([...new Set(connections)]).toEqual(refused.map((host) => `one ${host}:${port}`));
    const curl = `$h = curl_init('http://own.example:${port}/'); curl_exec($h); return curl_errno($h);`;
    expect(await result(curl, false)).not.toBe(0);
  });

  it('drops floods of queries for names and of connections before the platform', async () => {
    expect(
      await result(`$names = stream_socket_client('udp://127.0.0.1:53');
        $query = fn ($id) => pack('n6', $id, 0x100, 1, 0, 0, 0) . "\\3own\\7example\\0" . pack('n2', 1, 1);
        for ($id = 1; $id <= 200; $id++) fwrite($names, $query($id));
        stream_set_timeout($names, 1);
        for ($answers = 0; fread($names, 512); $answers++);
        for ($id = 1; $id <= 400; $id++) $all[] = @stream_socket_client('tcp://192.0.2.1:9', $code, $error, 1, STREAM_CLIENT_ASYNC_CONNECT);
        // Those that are open, or were and have been reset.
        $read = $except = []; $open = stream_select($read, $all, $except, 0);
        return [$answers >= 90 && $answers < 200, $open >= 90 && $open < 400, gethostbyname('own.example') !== 'own.example'];`),
    ).toEqual([true, true, true]);
  });

  it('ends a process that exceeds the memory of the website, whatever its settings, and answers the next request', async () => {
    await put(
      'wp-content/greedy.php',
      `ini_set('memory_limit', '-1'); for ($all = [], $mb = 0; $mb < 900; $mb++) $all[] = str_repeat('x', 1 << 20); echo 'all of it';`,
    );
    await expect(ask('/wp-content/greedy.php')).rejects.toThrow('PHP ended early');
    expect((await ask('/wp-content/headers.php')).status).toBe(200);
  });

  it('limits the processes of a website, even for code that could start some', async () => {
    expect(
      await result(
        `preg_match('~Max processes +(\\d+) +(\\d+)~', file_get_contents('/proc/self/limits'), $found); return $found[2];`,
      ),
    ).toBe('256');
    // The kernel counts no processes of root, and a website has no function for it.
    const [programs] = findPrograms(process.env.PATH ?? '');
    if (programs === undefined) throw new Error('there is no PHP');
    const filter = join(folder, 'filter');
    await writeFile(filter, systemCallFilter(process.arch) ?? '');
    const code = `for ($n = 0; $n < 300 && ($id = @pcntl_fork()) > 0; $n++); if ($id === 0) { sleep(600); exit; } echo $n;`;
    const options = { shown: [], environment: {}, folder: '/', memoryMb: 512, processes: 100, joined: null };
    const { command, descriptors } = sandboxCommand(programs, options, [CLI, '-n', '-r', code]);
    // Without privileges, a process cannot raise its own limits.
    expect(sandboxCommand(programs, options, [CLI], () => 90).command).toEqual(
      expect.arrayContaining(['--nproc=90', '--nofile=90', '--data=90']),
    );
    const asUser =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const [program = '', ...rest] = [...asUser, ...command];
    const started = await startSandbox({ command: [program, ...rest], descriptors }, filter);
    const count = Number(await text(started.stdout));
    expect([count > 0, count < 100, await started.ended]).toEqual([true, true, 0]);
  });

  it('hands over email, tells PHP of a refusal, and drops mail of a script without network', async () => {
    const mail = (words: string) =>
      `return mail('to@b.example', 'Subject', '${words}', ['From' => 'me@c.example']);`;
    expect([
      await result(mail('Text')),
      await result(mail('refuse me')),
      await result(mail('dropped'), false),
      // Two ways to begin the text, or another header, in a value of a visitor.
      await result(`return @mail('to@b.example', 'Subject', '', "From: me@c.example\\r\\n\\r\\nText");`),
      await result(`try { return mail('to@b.example', 'Subject', '', ['From' => "me@c.example\\nBcc: all@c.example"]); }
        catch (ValueError) { return 'invalid'; }`),
    ]).toEqual([true, false, true, false, 'invalid']);
    expect(mails.map(({ siteId, message }) => `${siteId} ${message}`)).toEqual([
      'one To: to@b.example\r\nSubject: Subject\r\nFrom: me@c.example\r\n\r\nText\r\n',
    ]);
  });

  it('ends scripts that exceed a limit, and cuts a page that ends with an error', async () => {
    const run = (code: string) =>
      sites.run(site, {
        code: `<?php ${code}`,
        host: 'own.example',
        https: false,
        seconds: 1,
        outputBytes: 9,
      });
    await expect(run('for (;;);')).rejects.toMatchObject({ reason: 'timeout' });
    await expect(run('echo str_repeat("x", 10);')).rejects.toMatchObject({ reason: 'failed' });
    expect(await run('exit(3);')).toMatchObject({ exit: 3 });
    await put(
      'wp-content/large.php',
      `echo str_repeat('x', 10000); flush(); for ($a = [];;) $a[] = str_repeat('x', 1 << 20);`,
    );
    await expect(ask('/wp-content/large.php')).rejects.toThrow('PHP ended early');
    expect(await readFile(join(site.private, 'php-error.log'), 'utf8')).toContain('Allowed memory size');
    await put('wp-content/endless.php', 'for (;;) echo str_repeat("x", 10000);');
    const left = new AbortController();
    const endless = ask('/wp-content/endless.php', { left: left.signal });
    left.abort();
    expect((await endless).status).toBe(200);
  });

  it('notices an update or a removal of its programs', async () => {
    const own = join(folder, 'bin');
    const [programs] = findPrograms('');
    if (programs === undefined) throw new Error('this machine has PHP');
    await mkdir(own);
    await mkdir(join(folder, 'noticing'));
    // The newest of all.
    const copies = { fpm: join(own, 'php-fpm99.1'), cli: join(own, 'php99.1') };
    for (const name of ['fpm', 'cli'] as const) await copyFile(programs[name], copies[name]);
    const path = [own, process.env.PATH].join(':');
    const engine = await machinePhp({ path, date: () => new Date() }).create(join(folder, 'noticing'));
    expect(await engine.isUsable()).toBe(true);
    // As packages do it.
    await copyFile(copies.cli, `${copies.cli}.new`);
    await rename(`${copies.cli}.new`, copies.cli);
    expect(await engine.isUsable()).toBe(false);
    await rm(copies.cli);
    expect(await engine.isUsable()).toBe(false);
    await engine.close();
  });
});
