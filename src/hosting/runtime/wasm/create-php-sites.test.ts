import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong, onlyInLong, rounds } from '../../../../test/rounds.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { createPhpSites } from './create-php-sites.ts';
import { TESTS_CODE } from './kept-code.fixture.ts';
import { createLoopbackConnections } from './loopback-connections.ts';
import { PhpFailure, type PhpMail, type PhpRequest, type PhpSite, type PhpSites } from './php-sites.ts';

const MIB = 1024 * 1024;
let folder: string;
let sites: PhpSites;
let site: PhpSite;
const mails: PhpMail[] = [];
const connections: string[] = [];
const loopbacks = createLoopbackConnections();
const listening = createServer(async (socket) => {
  await eventually(() => loopbacks.siteOf(socket) === 'one');
  socket.end('from the edge');
});
let port: number;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'php-')));
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  await mkdir(join(folder, 'core/wp-includes'), { recursive: true });
  await mkdir(join(folder, 'core/wp-admin'));
  await writeFile(join(folder, 'core/index.php'), '<?php echo "index ", $_SERVER["REQUEST_URI"];');
  await writeFile(join(folder, 'core/wp-config.php'), '<?php echo "of the core";');
  await writeFile(join(folder, 'core/wp-includes/version.php'), '<?php $wp_version = "7.1";');
  sites = newSites(join(folder, 'runtime'));
  site = await newSite('one');
});

afterAll(async () => {
  await sites.close();
  listening.close();
  await rm(folder, { recursive: true, force: true });
});

function newSites(runtime: string): PhpSites {
  return createPhpSites({
    folder: runtime,
    // Compiling takes seconds of several processors.
    codeFolder: isLong ? join(folder, 'code') : TESTS_CODE,
    roots: { writable: [folder], readable: [] },
    idleMs: 600_000,
    memoryMb: 900,
    waitMs: 110_000,
    spare: isLong,
    mayConnect: () => false,
    loopbacks,
    loopback: ({ siteId, host, port: wanted }) => {
      connections.push(`${siteId} ${host}:${wanted}`);
      return host === 'own.example' ? { host: '127.0.0.1', port } : undefined;
    },
    deliverMail: async (mail) => {
      if (mail.message.includes('refuse me')) throw new Error('refused');
      mails.push(mail);
    },
    log: pino({ level: 'silent' }),
  });
}

async function newSite(id: string, limits: Partial<PhpSite['limits']> = {}): Promise<PhpSite> {
  const website = join(folder, id, 'files');
  const own = join(folder, id, 'private');
  await mkdir(join(website, 'wp-content'), { recursive: true });
  const database = join(folder, id, 'database');
  for (const path of [own, database]) await mkdir(path, { recursive: true });
  return {
    id,
    core: join(folder, 'core'),
    website,
    private: own,
    database,
    readOnly: {},
    prepend: '<?php define("FIRST", 1);',
    limits: { memoryMb: 256, seconds: 60, uploadMb: 64, inputVars: 5_000, threads: 2, ...limits },
  };
}

function put(path: string, content: string): Promise<void> {
  return writeFile(join(site.website, path), content);
}

async function ask(target: string, request: Partial<PhpRequest> = {}, of = site) {
  const { status, headers, body } = await sites.request(of, {
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

async function run(
  code: string,
  options: { input?: string; seconds?: number; outputBytes?: number } = {},
  of = site,
) {
  return sites.run(of, { code: `<?php ${code}`, host: 'own.example', https: false, ...options });
}

/** What a script prints as JSON. */
async function result(code: string): Promise<unknown> {
  const { output, error } = await run(`echo json_encode((function () { ${code} })());`);
  try {
    return JSON.parse(output);
  } catch {
    throw new Error(`not JSON: ${output} ${error}`);
  }
}

describe('requests', () => {
  it('tells the version of PHP', async () => {
    expect(await sites.available()).toEqual({
      version: expect.stringMatching(/^8\.4\./),
      engine: 'wasm',
      notMachine: null,
    });
  });

  it('answers with the file of the path, or with index.php', async () => {
    await put(
      'page.php',
      '<?php echo FIRST, json_encode([$_SERVER["SCRIPT_NAME"], $_SERVER["PATH_INFO"] ?? null]);',
    );
    expect((await ask('/page.php/more?x=1')).text).toBe('1["\\/page.php","\\/more"]');
    expect((await ask('/some/post/?x=1')).text).toBe('index /some/post/?x=1');
    expect((await ask('/../../etc/passwd')).text).toBe('index /../../etc/passwd');
    expect((await ask('/%zz')).text).toBe('index /%zz');
    expect((await ask('/caf\u00e9')).text).toBe('index /caf%e9');
  });

  it('passes headers, cookies, body and scheme', async () => {
    await put(
      'echo.php',
      `<?php http_response_code(418); header('X-Own: 1'); setcookie('a', '1'); setcookie('b', '2');
      echo json_encode([$_SERVER['REQUEST_METHOD'], $_POST, $_COOKIE, $_SERVER['HTTPS'] ?? null, $_SERVER['HTTP_HOST'],
        $_SERVER['SERVER_PORT'], $_SERVER['REMOTE_ADDR'], $_SERVER['HTTP_X_LIST'] ?? null, isset($_SERVER['HTTP_PROXY'])]);`,
    );
    const answer = await ask('/echo.php', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: 'c=3',
        'x-list': ['p', 'q'],
        proxy: 'evil',
        'x-homeport-process-scheme': 'http',
      },
      body: Readable.from(['n=', '5']),
      https: true,
    });
    expect(answer.status).toBe(418);
    expect(answer.headers['set-cookie']).toHaveLength(2);
    expect(answer.headers['x-own']).toBe('1');
    expect(JSON.parse(answer.text)).toEqual([
      'POST',
      { n: '5' },
      { c: '3' },
      'on',
      'own.example:8080',
      '8080',
      '192.0.2.7',
      'p, q',
      false,
    ]);
    expect(JSON.parse((await ask('/echo.php')).text)[3]).toBe('off');
  });

  onlyInLong(it)('takes an upload of the allowed size, and refuses a larger body', async () => {
    await put('size.php', '<?php echo $_FILES["file"]["size"];');
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
    const upload = (mib: number): Partial<PhpRequest> => ({
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: Readable.from([head, ...Array.from({ length: mib }, () => Buffer.alloc(MIB)), '\r\n--b--\r\n']),
    });
    expect((await ask('/size.php', upload(64))).text).toBe(String(64 * MIB));
    await expect(ask('/size.php', upload(66))).rejects.toMatchObject({ reason: 'too_large' });
  });

  onlyInLong(it)('answers a request whose body arrives while the website would rest', async () => {
    await put('wp-content/body.php', '<?php echo file_get_contents("php://input");');
    await ask('/some/');
    const body = new PassThrough();
    body.write('be');
    const answer = ask('/wp-content/body.php', { method: 'POST', body });
    // The request has begun by then.
    await setImmediate();
    const resting = sites.rest(site.id);
    body.end('gun');
    expect((await answer).text).toBe('begun');
    await resting;
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])(
    'takes a body of %s for no request',
    async (method) => {
      await put('wp-content/seen.php', '<?php echo "seen ", strlen(file_get_contents("php://input"));');
      const script = JSON.stringify({ code: '<?php echo "smuggled";', input: '', outputBytes: 100 });
      const smuggled = [
        'POST /wp-content/seen.php HTTP/1.1',
        'host: own.example',
        'x-homeport-process-script: 60',
        `content-length: ${script.length}`,
        '',
        script,
      ].join('\r\n');
      const body = Readable.from([Buffer.from(smuggled)]);
      const answer = await ask('/wp-content/seen.php', { method, headers: { 'content-length': '0' }, body });
      if (method !== 'HEAD') expect(answer.text).toBe(`seen ${Buffer.byteLength(smuggled)}`);
      expect((await ask('/wp-content/seen.php')).text).toBe('seen 0');
    },
  );

  onlyInLong(it)('goes on when a visitor leaves in the middle of an upload', async () => {
    await put('wp-content/slow.php', '<?php sleep(2); echo "done";');
    const other = ask('/wp-content/slow.php');
    const body = new Readable({ read() {} });
    body.push('some');
    const left = new AbortController();
    const upload = sites.request(
      site,
      {
        method: 'POST',
        target: '/',
        headers: {},
        body,
        https: false,
        clientAddress: '192.0.2.7',
        host: 'own.example',
      },
      left.signal,
    );
    setTimeout(() => left.abort(), 500);
    await expect(upload).rejects.toThrow();
    expect((await other).text).toBe('done');
  });

  it.each([1000, 42, 103])('answers 500 for a status of %i', async (status) => {
    await put('wp-content/status.php', `<?php header('HTTP/1.1 ${status} Odd'); echo "x";`);
    expect((await ask('/wp-content/status.php')).status).toBe(500);
    expect((await ask('/some/')).status).toBe(200);
  });

  it('lets PHP bound its answer neither too short nor too long, nor speak for the platform', async () => {
    await put(
      'wp-content/bounds.php',
      `<?php header('Transfer-Encoding: gzip, chunked'); header('Content-Length: 3'); header('Connection: upgrade');
      header('X-Homeport-Process-Failure: busy'); header('X-Homeport-Process-Exit: 1'); header('X-Kept: 1'); echo 'longer than that';`,
    );
    const { status, headers, text: body } = await ask('/wp-content/bounds.php');
    expect({ status, body }).toEqual({ status: 200, body: 'longer than that' });
    expect(headers).toMatchObject({ 'x-kept': '1' });
    for (const name of ['content-length', 'transfer-encoding', 'connection', 'x-homeport-process-failure'])
      expect(headers).not.toHaveProperty(name);
  });

  onlyInLong(it)('refuses an endless head, and goes on', async () => {
    await put('wp-content/head.php', "<?php for ($i = 0; $i < 20000; $i++) header('X-N' . $i . ': x');");
    expect((await ask('/wp-content/head.php')).status).toBe(500);
    expect((await ask('/some/')).status).toBe(200);
  });

  it('shows no private folder that is a link', async () => {
    const linked = await newSite('linked');
    await rm(linked.private, { recursive: true });
    await symlink(site.private, linked.private);
    await expect(ask('/x', {}, linked)).rejects.toThrow('private of the website is not a folder');
    await rm(linked.private);
  });

  it('runs no index among uploads', async () => {
    await mkdir(join(site.website, 'wp-content/uploads/x'), { recursive: true });
    await put('wp-content/uploads/x/index.php', '<?php echo "ran";');
    expect((await ask('/wp-content/uploads/x/')).text).toBe('index /wp-content/uploads/x/');
  });

  it('runs scripts with input, and bounds their output', async () => {
    const { output, exit } = await run('echo getcwd(), file_get_contents("php://input"); exit(3);', {
      input: 'é',
    });
    expect({ output, exit }).toEqual({ output: '/wordpressé', exit: 3 });
    await expect(run('echo str_repeat("x", 100);', { outputBytes: 99 })).rejects.toBeInstanceOf(PhpFailure);
  });
});

onlyInLong(describe)('a spare that has shown a page of another website', () => {
  /** Older than two seconds, so that opcache keeps it. */
  async function putOld(path: string, code: string): Promise<void> {
    await writeFile(path, `<?php ${code}`);
    await utimes(path, 1_000_000_000, 1_000_000_000);
  }

  it('has compiled the core, and shows a website its own files from the first request on', async () => {
    const [pattern, own] = [await newSite('pattern'), await newSite('own')];
    await putOld(join(folder, 'core/wp-includes/common.php'), 'return "common";');
    await putOld(join(pattern.website, 'wp-config.php'), 'return "of the pattern";');
    await putOld(join(pattern.website, 'only.php'), '');
    await writeFile(join(pattern.database, 'rows'), 'of the pattern');
    await putOld(join(own.website, 'wp-config.php'), 'return FIRST;');
    await sites.warmUp({
      pattern,
      code: `<?php foreach (['common', '../wp-config', '../only'] as $name) require "/wordpress/wp-includes/$name.php";
        foreach (['/wordpress/left', '/private/left', '/database/left', '/tmp/left'] as $path) @file_put_contents($path, '');
        if (FIRST !== 1 || file_get_contents('/database/rows') !== 'of the pattern') exit(1);
        if (file_exists('/wordpress/left') || !opcache_is_script_cached('/wordpress/wp-config.php')) exit(2);`,
      host: 'pattern.example',
      https: false,
    });
    const { output } = await run(
      `echo json_encode([opcache_is_script_cached('/wordpress/wp-includes/common.php'), require 'wp-config.php',
        require 'wp-includes/common.php', file_exists('only.php'), scandir('/private'), scandir('/database')]);`,
      {},
      own,
    );
    const names = ['.', '..', 'tmp'];
    expect(JSON.parse(output)).toEqual([true, 1, 'common', false, names, ['.', '..']]);
    expect(await readdir(pattern.website)).toEqual(['only.php', 'wp-config.php', 'wp-content']);
    // Its code serves the processes of the tests after this one.
    expect(await readdir(join(folder, 'code'))).toHaveLength(1);
    await sites.stop('own');
  });

  it('is replaced by one without the page if that fails', async () => {
    const [pattern, own] = [await newSite('broken'), await newSite('after')];
    await sites.warmUp({ pattern, code: '<?php exit(1);', host: 'pattern.example', https: false });
    expect((await run('echo FIRST;', {}, own)).output).toBe('1');
    await sites.stop('after');
  });
});

describe('files', () => {
  it('shows the files of the website over those of the core, which PHP cannot change', async () => {
    await put('robots.txt', 'own');
    expect(
      await result('return array_values(array_diff(scandir("."), ["page.php", "echo.php", "size.php"]));'),
    ).toEqual(['.', '..', 'index.php', 'robots.txt', 'wp-admin', 'wp-content', 'wp-includes']);
    expect(
      await result(`return [@file_put_contents('index.php', 'x'), @unlink('index.php'), @rename('index.php', 'a.php'),
        @file_put_contents('wp-includes/version.php', 'x'), @file_put_contents('wp-includes/new.php', 'x'), @rmdir('wp-admin'),
        @mkdir('wp-admin/x'), @chmod('wp-includes/version.php', 0777), file_exists('wp-config.php')];`),
    ).toEqual(Array(9).fill(false));
  });

  it('creates, changes, moves and deletes files of the website', async () => {
    expect(
      await result(`mkdir('wp-content/a/b', 0777, true); file_put_contents('wp-content/a/b/f', 'one');
        file_put_contents('wp-content/a/b/f', ' two', FILE_APPEND); rename('wp-content/a/b', 'wp-content/a/c');
        touch('wp-content/a/c/f', 1000000000); chmod('wp-content/a/c/f', 0666); clearstatcache();
        $h = fopen('wp-content/a/c/f', 'r+'); ftruncate($h, 3); fsync($h); fclose($h);
        return [file_get_contents('wp-content/a/c/f'), decoct(fileperms('wp-content/a/c/f') & 0777), scandir('wp-content/a')];`),
    ).toEqual(['one', '644', ['.', '..', 'c']]);
    expect(await readFile(join(site.website, 'wp-content/a/c/f'), 'utf8')).toBe('one');
    expect(
      await result(`unlink('wp-content/a/c/f'); rmdir('wp-content/a/c'); return is_dir('wp-content/a/c');`),
    ).toBe(false);
  });

  it('follows no link out of the website, not even one that replaced a folder', async () => {
    const outside = join(folder, 'outside');
    await mkdir(join(outside, 'sub'), { recursive: true });
    await writeFile(join(outside, 'secret.php'), '<?php echo "SECRET";');
    await mkdir(join(site.website, 'swap'));
    await put('swap/secret.php', '<?php echo "own";');
    const look = `return [@file_get_contents('swap/secret.php'), @scandir('swap'), @include 'swap/secret.php'];`;
    await result(`return scandir('swap');`);
    await rename(join(site.website, 'swap'), join(site.website, 'moved'));
    await symlink(outside, join(site.website, 'swap'));
    await symlink(join(outside, 'secret.php'), join(site.website, 'direct.php'));
    await symlink('../../../../outside/secret.php', join(site.website, 'relative.php'));
    expect(await result(look)).toEqual([false, false, false]);
    expect(
      await result(`return [@file_get_contents('direct.php'), @file_get_contents('relative.php'),
        @file_put_contents('swap/sub/x', '1'), @mkdir('swap/y'), @symlink('/private', 'mine'), @readlink('mine')];`),
    ).toEqual(Array(6).fill(false));
  });

  it('reads nothing of the machine, the platform or other websites', async () => {
    const other = await newSite('other');
    await writeFile(join(other.website, 'wp-config.php'), 'SECRET');
    const paths = [
      '/etc/passwd',
      '/proc/self/environ',
      '/proc/self/cmdline',
      '/proc/1/root/etc/passwd',
      '/wordpress/../../../../../../etc/hostname',
      join(other.website, 'wp-config.php'),
      '/site/website/index.php',
      import.meta.filename,
      process.execPath,
      'php://filter/resource=/etc/passwd',
      'glob:///etc/*',
      'file:///etc/passwd',
    ];
    expect(
      await result(
        `return array_map(fn ($p) => @file_get_contents($p), json_decode('${JSON.stringify(paths)}'));`,
      ),
    ).toEqual(paths.map(() => false));
    expect(
      await result('return [getenv("PATH"), getenv("HOME"), $_ENV["_"] ?? $_SERVER["_"], php_uname("n")];'),
    ).toEqual(['/internal/shared/bin', '/home/web_user', 'php', expect.not.stringMatching(/homeport/)]);
  });

  it('lets PHP change nothing of the platform in memory, by whatever way', async () => {
    // One thread, so that each request sees what the one before left.
    const own = {
      ...(await newSite('fixed', { threads: 1 })),
      readOnly: { '/homeport/library': join(folder, 'core/wp-includes') },
    };
    const outcomes = await run(
      `$prepend = '/internal/shared/auto_prepend_file.php';
      $code = '<?php define("OWNED", 1);';
      file_put_contents('/tmp/code.php', $code);
      file_put_contents('/wordpress/code.php', $code);
      $open = fn (string $path, string $mode) => ($file = fopen($path, $mode)) && fwrite($file, $code);
      $attempts = [
        'write' => fn () => file_put_contents($prepend, $code),
        'append' => fn () => file_put_contents($prepend, $code, FILE_APPEND),
        'update' => fn () => $open($prepend, 'r+'),
        'truncate' => fn () => ($file = fopen($prepend, 'r+')) && ftruncate($file, 0),
        'create' => fn () => file_put_contents('/internal/shared/preload/code.php', $code),
        'lock and write' => fn () => file_put_contents($prepend, $code, LOCK_EX),
        'copy' => fn () => copy('/tmp/code.php', $prepend),
        'rename onto' => fn () => rename('/tmp/code.php', $prepend),
        'rename onto from the website' => fn () => rename('/wordpress/code.php', $prepend),
        'rename' => fn () => rename($prepend, '/internal/shared/former.php'),
        'rename out' => fn () => rename($prepend, '/wordpress/former.php') && !file_exists($prepend),
        'unlink' => fn () => unlink($prepend),
        'chmod' => fn () => chmod($prepend, 0777),
        'chmod of the folder' => fn () => chmod('/internal/shared', 0777),
        'touch' => fn () => touch($prepend, 1),
        'symlink' => fn () => symlink('/tmp/code.php', '/internal/shared/link.php'),
        'symlink in the root' => fn () => symlink('/wordpress', '/link'),
        'symlink onto' => fn () => unlink($prepend) && symlink('/wordpress/code.php', $prepend),
        'link' => fn () => link('/tmp/code.php', '/internal/shared/link.php'),
        'through a link of a name' => fn () => file_put_contents('/wordpress/../internal/shared/./auto_prepend_file.php', $code),
        'rename of its folder' => fn () => rename('/internal/shared', '/internal/former'),
        'rename of the uppermost folder' => fn () => rename('/internal', '/former'),
        'rename of a folder with mounts' => fn () => rename('/homeport', '/former'),
        'rename of a mount' => fn () => rename('/homeport/library', '/homeport/former'),
        'rmdir' => fn () => rmdir('/internal/shared/preload'),
        'mkdir' => fn () => mkdir('/own'),
        'settings' => fn () => file_put_contents('/internal/shared/php.ini', 'auto_prepend_file=/wordpress/code.php'),
        'the script of the platform' => fn () => file_put_contents('/internal/eval.php', $code),
        'the output' => fn () => unlink('/request/stdout'),
        'an archive' => fn () => (new ZipArchive())->open('/internal/shared/own.zip', ZipArchive::CREATE | ZipArchive::OVERWRITE) === true
          && file_exists('/internal/shared/own.zip'),
        'a database' => fn () => (bool) (new PDO('sqlite:/internal/shared/own.sqlite'))->exec('CREATE TABLE t (a)') ?: file_exists('/internal/shared/own.sqlite'),
        'a log' => fn () => error_log($code, 3, '/internal/shared/preload/log.php'),
        'a session' => fn () => session_save_path('/internal/shared') && session_start(),
      ];
      foreach ($attempts as &$attempt) {
        try { $attempt = @$attempt(); } catch (Throwable $error) { $attempt = false; }
      }
      echo json_encode(array_keys(array_filter($attempts)));`,
      {},
      own,
    );
    expect(JSON.parse(outcomes.output)).toEqual([]);
    const { output } = await run(
      `echo json_encode([FIRST, defined('OWNED'), include '/internal/shared/auto_prepend_file.php',
        array_values(array_diff(scandir('/internal/shared'), ['.', '..'])), scandir('/internal/shared/preload'),
        file_put_contents('/tmp/new', 'x'), file_put_contents('/private/new', 'x'), file_put_contents('/wordpress/new', 'x')]);`,
      {},
      own,
    );
    expect(JSON.parse(output)).toEqual([
      1,
      false,
      1,
      expect.not.arrayContaining(['link.php', 'own.zip', 'own.sqlite', 'former.php']),
      ['.', '..'],
      1,
      1,
      1,
    ]);
    await put('../../fixed/files/visit.php', '<?php echo defined("OWNED") ? "owned" : FIRST;');
    expect((await ask('/visit.php', {}, own)).text).toBe('1');
    await sites.stop('fixed');
  });

  it('loses no commit of two threads', async () => {
    const commits = rounds(5, 100);
    await run(`$db = new PDO('sqlite:/database/test.sqlite'); $db->exec('PRAGMA journal_mode = TRUNCATE');
      $db->exec('CREATE TABLE t (n INTEGER PRIMARY KEY, by TEXT)');`);
    const writing = (by: string) =>
      run(`$db = new PDO('sqlite:/database/test.sqlite'); $db->exec('PRAGMA busy_timeout = 30000');
        $db->exec('PRAGMA journal_mode = TRUNCATE'); $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        for ($i = 0; $i < ${commits}; $i++) $db->exec("INSERT INTO t (by) VALUES ('${by}')"); echo 'done';`);
    const outcomes = await Promise.all([writing('a'), writing('b'), writing('c'), writing('d')]);
    expect(outcomes.map(({ output }) => output)).toEqual(Array(4).fill('done'));
    expect(
      await result(`$db = new PDO('sqlite:/database/test.sqlite');
        return [$db->query('SELECT count(*) FROM t')->fetchColumn(), $db->query('PRAGMA integrity_check')->fetchColumn()];`),
    ).toEqual([4 * commits, 'ok']);
  });

  onlyInLong(it)('keeps a lock of one thread from the other', async () => {
    const [, second] = await Promise.all([
      run(`$h = fopen('/private/lock', 'c'); flock($h, LOCK_EX); file_put_contents('/private/held', '1');
        for ($i = 0; $i < 600 && !file_exists('/private/seen'); $i++) { usleep(50000); clearstatcache(); }`),
      run(`for ($i = 0; $i < 600 && !file_exists('/private/held'); $i++) { usleep(50000); clearstatcache(); }
        $h = fopen('/private/lock', 'c'); $now = flock($h, LOCK_EX | LOCK_NB); file_put_contents('/private/seen', '1');
        echo json_encode([$now, flock($h, LOCK_EX)]);`),
    ]);
    expect(second.output).toBe('[false,true]');
  });
});

describe('limits', () => {
  it('ends an endless loop alone', async () => {
    // Together, because it may end before the other.
    const [, beside] = await Promise.all([
      expect(run('for (;;);', { seconds: 1 })).rejects.toMatchObject({ reason: 'timeout' }),
      run('echo "beside";'),
    ]);
    expect(beside.output).toBe('beside');
    expect((await run('echo "after";')).output).toBe('after');
  });

  onlyInLong(it)(
    'cuts an answer whose time or memory ends after its first output, and says so in the log of the website',
    async () => {
      const cut = await newSite('cut', { seconds: 4 });
      const grow = "ini_set('memory_limit', '16M'); for ($a = [];;) $a[] = str_repeat('x', 1 << 20);";
      const pages = {
        'slow.php': "echo str_repeat('x', 10000); flush(); fwrite(tmpfile(), 'x'); for (;;);",
        'large.php': `echo str_repeat('x', 10000); flush(); ${grow}`,
        'empty.php': `flush(); ${grow}`,
        'early.php': `echo 'x'; ${grow}`,
      };
      for (const [name, code] of Object.entries(pages))
        await writeFile(join(cut.website, name), `<?php ${code}`);
      const upload: Partial<PhpRequest> = {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: Readable.from([
          '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n--b--\r\n',
        ]),
      };
      await expect(ask('/slow.php?secret=1', upload, cut)).rejects.toThrow('aborted');
      await expect(ask('/large.php', {}, cut)).rejects.toThrow('aborted');
      await expect(ask('/empty.php', {}, cut)).rejects.toMatchObject({ reason: 'failed' });
      expect((await ask('/early.php', {}, cut)).status).toBe(500);
      const log = await readFile(join(cut.private, 'php-error.log'), 'utf8');
      expect(log).toMatch(/^\[\d\d-\w{3}-\d{4} [\d:]{8} UTC\] Homeport ended POST \/slow.php: .* than 4 s\n/);
      expect(log.match(/Allowed memory size/g)).toHaveLength(3);
      expect(await readdir(join(cut.private, 'tmp'))).toEqual([]);
      await sites.stop('cut');
    },
  );

  onlyInLong(it)('keeps the error log of a website short while PHP writes to it', async () => {
    await run(
      `ini_set('display_errors', 0); error_log(str_repeat('y', 1 << 20));
      for ($i = 0; $i < 150; $i++) error_log(str_repeat('x', 60000)); error_log('last');`,
    );
    const [log, former] = await Promise.all(
      ['php-error.log', 'php-error.log.1'].map((name) => readFile(join(site.private, name), 'utf8')),
    );
    expect(log?.endsWith('] last\n')).toBe(true);
    expect([log, former].map((text = '') => text.length < 8.2 * MIB)).toEqual([true, true]);
    expect(former?.indexOf('x')).toBeLessThan(100_000);
  });

  onlyInLong(it)('ends endless output and memory, and goes on', async () => {
    await expect(run('for (;;) echo str_repeat("x", 65536);', { seconds: 1 })).rejects.toMatchObject({
      reason: 'timeout',
    });
    const eaten = await run(
      'ini_set("memory_limit", -1); $a = []; for (;;) $a[] = str_repeat("x", 1 << 20);',
    ).catch((error: unknown) => error);
    expect(eaten instanceof PhpFailure || ('exit' in Object(eaten) && Object(eaten).exit !== 0)).toBe(true);
    expect((await run('echo "after";')).output).toBe('after');
  });

  /** A request for a program of the website, whose visitor can leave. */
  async function visit(code: string) {
    const name = `/left-${++visits}.php`;
    await put(`../files${name}`, `<?php ${code}`);
    const left = new AbortController();
    const { body } = await sites.request(site, { ...GET, target: name, left: left.signal });
    return { body, leave: () => left.abort() };
  }
  let visits = 0;
  const GET = {
    method: 'GET',
    headers: {},
    body: null,
    https: false,
    clientAddress: '192.0.2.7',
    host: 'own.example',
  };

  onlyInLong(it)('ends endless output of visitors who left, at once', async () => {
    const endless = await Promise.all([1, 2].map(() => visit('for (;;) echo str_repeat("x", 10000);')));
    for (const { body, leave } of endless) {
      body.resume();
      leave();
    }
    await Promise.all(endless.map(({ body }) => finished(body)));
    expect((await ask('/some/')).status).toBe(200);
  });

  onlyInLong(it)(
    'ends the script of a visitor who left at its next output, with its shutdown functions, and not before',
    async () => {
      const { body, leave } = await visit(
        `register_shutdown_function(fn () => file_put_contents('/private/shutdown', connection_status() . connection_aborted()));
      echo str_repeat('x', 10000); while (!file_exists('/private/left')) { usleep(10000); clearstatcache(); }
      file_put_contents('/private/worked', 'x'); echo str_repeat('y', 10000); file_put_contents('/private/beyond', 'x');`,
      );
      await once(body, 'readable');
      leave();
      await put('../private/left', '');
      body.resume();
      await finished(body);
      expect(await readFile(join(site.private, 'shutdown'), 'utf8')).toBe('11');
      expect([existsSync(join(site.private, 'worked')), existsSync(join(site.private, 'beyond'))]).toEqual([
        true,
        false,
      ]);
      expect((await run('echo connection_status(), connection_aborted();')).output).toBe('00');
    },
  );

  onlyInLong(it)('lets a script that ignores that its visitor left go on to its end', async () => {
    const { body, leave } = await visit(
      `ignore_user_abort(true); echo str_repeat('x', 10000);
      while (!file_exists('/private/left-too')) { usleep(10000); clearstatcache(); }
      for ($i = 0; $i < 100; $i++) echo str_repeat('y', 10000); file_put_contents('/private/whole', 'x');`,
    );
    await once(body, 'readable');
    leave();
    await put('../private/left-too', '');
    body.resume();
    await finished(body);
    expect(existsSync(join(site.private, 'whole'))).toBe(true);
  });

  onlyInLong(it)('keeps the first errors only', async () => {
    const { error, output } = await run(
      `$h = fopen('php://stderr', 'w'); for ($i = 0; $i < 32; $i++) fwrite($h, str_repeat('x', 65536)); echo 'all';`,
    );
    expect({ length: error.length, output }).toEqual({ length: 64 * 1024, output: 'all' });
    expect(await run(`fwrite(fopen('php://stderr', 'w'), 'later');`)).toMatchObject({ error: 'later' });
  });

  it('starts no program and loads no extension', async () => {
    expect(
      await result(
        `return array_map('function_exists', ['dl', 'exec', 'system', 'passthru', 'shell_exec', 'popen', 'proc_open', 'pcntl_exec', 'pcntl_fork']);`,
      ),
    ).toEqual(Array(9).fill(false));
    expect((await run('mb_send_mail("a@b.example", "s", "t", "", "-X /tmp/log");')).exit).toBeTypeOf(
      'number',
    );
  });

  it('connects only where the platform allows it', async () => {
    const connect = (host: string) =>
      `$s = @stream_socket_client('tcp://${host}', $n, $e, 10); return $s ? stream_get_contents($s) : false;`;
    expect(await result(connect('own.example:80'))).toBe('from the edge');
    // PHP may believe for a moment that it is connected.
    expect(await result(connect(`127.0.0.1:${port}`))).toBeFalsy();
    expect(await result(connect('169.254.169.254:80'))).toBeFalsy();
    expect(connections).toContain('one own.example:80');
    expect(
      await result(
        `return [@stream_socket_server('tcp://127.0.0.1:0'), @stream_socket_client('unix:///site/run/php.sock')];`,
      ),
    ).toEqual([false, false]);
    // However early the refusal comes. 28 is the time limit.
    expect(
      await result(
        `$h = curl_init('http://169.254.169.254/'); curl_setopt($h, CURLOPT_TIMEOUT, 2);
        return array_map(function () use ($h) { curl_exec($h); return curl_errno($h); }, range(1, 20));`,
      ),
    ).toEqual(Array(20).fill(7));
  });

  it('hands over email, and tells PHP of a refusal', async () => {
    mails.length = 0;
    expect(
      await result(
        'return [mail("to@b.example", "Subject", "Text", "From: me@c.example"), mail("to@b.example", "x", "refuse me")];',
      ),
    ).toEqual([true, false]);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.message.toString()).toContain('Subject: Subject');
    expect(mails[0]?.siteId).toBe('one');
  });
});

describe('processes', () => {
  it('keeps settings out of opcache, because the spare process has run others', async () => {
    expect(
      await result(
        `return [opcache_is_script_cached('/wordpress/wp-includes/version.php'), @include '/wordpress/wp-includes/version.php',
          opcache_is_script_cached('/internal/shared/auto_prepend_file.php')];`,
      ),
    ).toEqual([expect.any(Boolean), 1, false]);
  });

  onlyInLong(it)('stops the website that is idle longest when the memory is used up', async () => {
    const second = await newSite('second');
    const third = await newSite('third');
    expect((await run('echo 1;', {}, second)).output).toBe('1');
    expect((await run('echo 2;', {}, third)).output).toBe('2');
    expect(sites.figures.running).toBe(2);
  });

  it('stops a website and starts it again', async () => {
    await sites.stop('second');
    await sites.stop('third');
    await sites.stop('one');
    expect(sites.figures.running).toBe(0);
    expect((await ask('/x')).text).toBe('index /x');
  });

  onlyInLong(it)(
    'does not wait for running requests before a rest that is aborted, and goes on',
    async () => {
      const script = `file_put_contents('/private/busy', ''); while (!file_exists('/private/go')) usleep(10000); echo 'done';`;
      const request = run(script);
      await eventually(() => existsSync(join(site.private, 'busy')));
      const aborting = new AbortController();
      let began = false;
      const rest = sites.atRest(
        'one',
        async () => {
          began = true;
        },
        aborting.signal,
      );
      aborting.abort(new Error('enough'));
      await expect(rest).rejects.toThrow('enough');
      expect((await ask('/x')).text).toBe('index /x');
      await writeFile(join(site.private, 'go'), '');
      expect((await request).output).toBe('done');
      expect(began).toBe(false);
    },
  );

  onlyInLong(it)('stops writing its program when it closes, and leaves nothing of it', async () => {
    const runtime = join(folder, 'closing');
    const closing = newSites(runtime);
    const available = closing.available();
    await eventually(() => existsSync(runtime) && readdirSync(runtime).length > 0);
    await closing.close();
    expect(await available).toEqual({ reason: 'Homeport is stopping', mayPass: true });
    expect(readdirSync(runtime)).toEqual([]);
  });

  onlyInLong(it)('ends an endless request and a start when it closes', async () => {
    const request = run(`file_put_contents('/private/running', ''); for (;;);`, { seconds: 600 });
    await eventually(() => existsSync(join(site.private, 'running')));
    const start = run('echo 1;', {}, await newSite('starting'));
    const both = Promise.allSettled([request, start]);
    await sites.close();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(run('echo 1;')).rejects.toMatchObject({ reason: 'busy' });
    expect(sites.figures.running).toBe(0);
  });
});
