import {
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
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPhpSites } from '../wasm/create-php-sites.ts';
import { createLoopbackConnections } from '../wasm/loopback-connections.ts';
import type { PhpMail, PhpRequest, PhpSite, PhpSites } from '../wasm/php-sites.ts';
import { chooseMachinePhp, whyNoMachinePhp } from './machine.fixture.ts';

let folder: string;
let sites: PhpSites;
let site: PhpSite;
const mails: PhpMail[] = [];
const connections: string[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'php-')));
  await mkdir(join(folder, 'core/wp-includes'), { recursive: true });
  await mkdir(join(folder, 'core/wp-admin'));
  await writeFile(join(folder, 'core/index.php'), '<?php echo "index ", $_SERVER["REQUEST_URI"];');
  await writeFile(join(folder, 'core/wp-includes/version.php'), '<?php $wp_version = "7.1";');
  sites = createPhpSites(
    {
      folder: join(folder, 'runtime'),
      codeFolder: join(folder, 'code'),
      roots: { writable: [folder], readable: [] },
      idleMs: 600_000,
      memoryMb: 900,
      waitMs: 110_000,
      spare: false,
      mayConnect: () => false,
      loopbacks: createLoopbackConnections(),
      loopback({ siteId, host, port }) {
        connections.push(`${siteId} ${host}:${port}`);
        return undefined;
      },
      deliverMail: async (mail) => {
        if (mail.message.includes('refuse me')) throw new Error('refused');
        mails.push(mail);
      },
      log: pino({ level: 'silent' }),
    },
    chooseMachinePhp(join(folder, 'engine')),
  );
  site = await newSite('one');
});

afterAll(async () => {
  await sites.close();
  expect(await readdir(join(folder, 'engine')).catch(() => [])).toEqual([]);
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
    expect((await readdir(site.website)).sort()).toEqual(['own.txt', 'page.php', 'wp-content']);
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

  it('connects by libcurl where the platform allows it, and nowhere else', async () => {
    const curl = `$h = curl_init('http://192.0.2.1/'); curl_setopt($h, CURLOPT_TIMEOUT, 20); curl_exec($h); return curl_errno($h);`;
    // 97: the proxy has refused.
    expect(await result(curl)).toBe(97);
    expect(connections).toEqual(['one 192.0.2.1:80']);
    expect(await result(`putenv('ALL_PROXY'); ${curl}`)).not.toBe(0);
    expect(await result(curl, false)).not.toBe(0);
    expect(await result(`return @stream_socket_client('tcp://192.0.2.1:80', $n, $e, 20);`)).toBe(false);
    expect(connections).toHaveLength(1);
  });

  it('hands over email, tells PHP of a refusal, and drops mail of a script without network', async () => {
    const mail = (words: string) =>
      `return mail('to@b.example', 'Subject', '${words}', ['From' => 'me@c.example']);`;
    expect([
      await result(mail('Text')),
      await result(mail('refuse me')),
      await result(mail('dropped'), false),
    ]).toEqual([true, false, true]);
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
});
