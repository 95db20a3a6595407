/** A thread that runs PHP, one request at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import type { PhpThreadSite, PhpWarmUp } from '../process-protocol.ts';
import { FileLocks } from './file-locks.ts';
import { type LoadedPhp, loadPhp, writePrepend } from './load-php.ts';
import { LockTable } from './lock-table.ts';
import { raiseWalls } from './machine-walls.ts';
import { createPhpOutput } from './php-output.ts';
import { phpSockets } from './php-sockets.ts';
import { isSpelledSo, scriptFor } from './script-path.ts';
import { deliverMail, MailProgram } from './sendmail.ts';
import type { FromThread, PhpCall, ThreadStart, ToThread } from './thread-messages.ts';
import { createVirtualFiles } from './virtual-files.ts';

/** Prints PHP's version after it has used the parts of PHP that every page of WordPress uses. */
const WARM_UP = `<?php
for ($i = 0; $i < 200; $i++) {
  $text = preg_replace_callback('/[a-z]+/', fn ($m) => strtoupper($m[0]), "some text $i");
  $list = array_map('md5', explode(' ', $text));
  $kept = unserialize(serialize(['a' => $list, 'b' => json_decode(json_encode($list), true)]));
  $html = htmlspecialchars(sprintf('<p>%s</p>', implode(',', $kept['a'])));
}
$db = new PDO('sqlite::memory:');
$db->exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)');
for ($i = 0; $i < 50; $i++) $db->prepare('INSERT INTO t (b) VALUES (?)')->execute([$html]);
$db->query('SELECT b, count(*) FROM t GROUP BY b')->fetchAll();
echo PHP_VERSION;`;
/**
 * Forgets what PHP knows of the files of the pattern. Compiled files of the core, whose folders no website can cover, and of the
 * other folders that PHP only reads stay.
 */
const FORGET = `<?php
clearstatcache(true);
$kept = array_merge(['/wordpress/wp-admin/', '/wordpress/wp-includes/'], json_decode(file_get_contents('php://input')));
foreach (array_keys(opcache_get_status(true)['scripts'] ?? []) as $file) {
  foreach ($kept as $folder) if (str_starts_with($file, $folder)) continue 2;
  opcache_invalidate($file, true);
}`;
/** The disks of other systems usually ignore case. */
const IS_EXACT = process.platform === 'linux';
const STANDARD_STREAM = /^\/request\/std(out|err)$/;

const start: ThreadStart = workerData;
const port = parentPort;
if (port === null) throw new Error('this module is a thread');

const send = (message: FromThread): void => port.postMessage(message);
let services = '';
/** Whether the present call may use them. */
let hasNetwork = true;
/** Paths of programs that never run; null until the website is known. */
let closed: RegExp | null = null;

raiseWalls(start.settings);
const loaded = await load();
const { php, runtime, memory } = loaded;
const files = createVirtualFiles(runtime.FS, (name) => send({ kind: 'temporary', name }));
php.setCommandSpawnHandler(
  'sendmail',
  (_command: string, parameters: string[]) =>
    new MailProgram(parameters, async (message) => {
      if (hasNetwork) await deliverMail(services, message, parameters);
    }),
);
// The first request initialises PHP, and the code that it needs is compiled.
const warm = await php.runStream({ code: WARM_UP });
const version = await warm.stdoutText;
await warm.exitCode;
closeStandardStreams();
const output = createPhpOutput({ runtime, ring: start.ring, unread: start.unread, send });
port.on('message', (message: ToThread) => {
  if ('warmUp' in message) warmUp(message.warmUp);
  else if ('site' in message) serve(message.site);
  else answer(message.call);
});
send({ kind: 'ready', version });

function load(): Promise<LoadedPhp> {
  const locks = new FileLocks(new LockTable(start.lockTable, start.thread), start.thread);
  const { module, thread, settings } = start;
  return loadPhp({
    module,
    thread,
    settings,
    locks,
    sockets: phpSockets(() => {
      if (!hasNetwork) throw new Error('the script has no network');
      return services;
    }),
    readInput: () => null,
  });
}

function serve(site: PhpThreadSite): void {
  services = site.services;
  closed = new RegExp(site.closedPrograms, 's');
  files.show(site.folders);
  writePrepend(loaded, site.prepend);
  memory.close();
  send({ kind: 'serving' });
}

/** Shows a page of a website that is like the coming one, to nobody. */
async function warmUp({ folders, code, host, https }: PhpWarmUp): Promise<void> {
  const visit = { id: 0, target: '/', headers: { host }, https, client: '127.0.0.1', network: true };
  const kept = JSON.stringify(folders.readOnly.map(({ path }) => `${path}/`));
  let error: string | null;
  try {
    files.showPattern(folders);
    error = await runUnseen({ ...visit, method: 'GET', body: null, code });
    error ??= await runUnseen({
      ...visit,
      method: 'POST',
      body: new TextEncoder().encode(kept),
      code: FORGET,
    });
  } catch (reason) {
    error = String(reason).slice(0, 500);
  }
  send({ kind: 'warm', error });
}

/** Returns what went wrong, or null. */
async function runUnseen(call: PhpCall): Promise<string | null> {
  php.chdir('/wordpress');
  const response = await php.runStream(requestFor(call));
  const exit = await response.exitCode;
  const errors = output.finish();
  const error = exit === 0 ? null : `exit code ${exit}: ${errors.slice(0, 500)}`;
  closeStandardStreams();
  return error;
}

async function answer(call: PhpCall): Promise<void> {
  const { id } = call;
  output.begin(id);
  hasNetwork = call.network;
  // The last request may have changed it.
  php.chdir('/wordpress');
  let exit = 0;
  let error = '';
  let crash: string | null = null;
  try {
    const response = await php.runStream(requestFor(call));
    exit = await response.exitCode;
    error = output.finish();
    closeStandardStreams();
  } catch (reason) {
    crash = String(reason).slice(0, 500);
  }
  send({ kind: 'end', id, exit, error, memory: runtime.HEAPU8.length, crash });
}

function requestFor(call: PhpCall) {
  const { method, target, headers, body, https, client, code } = call;
  const [path = '/'] = target.split('?', 1);
  const { script, rest } = scriptFor(path, {
    isFile: (at) => php.isFile(at) && (IS_EXACT || isSpelledSo(at, (folder) => php.listFiles(folder))),
    isFolder: (at) => php.isDir(at),
    isClosed: (at) => closed === null || closed.test(at),
  });
  const [, name = '', given] = /^(.*?)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  return {
    ...(code === null ? { scriptPath: `/wordpress${script}` } : { code }),
    relativeUri: target,
    protocol: https ? 'https' : 'http',
    method,
    headers: body === null ? headers : { ...headers, 'content-length': String(body.byteLength) },
    ...(body === null ? {} : { body }),
    $_SERVER: {
      // Any value but an empty one becomes `on`.
      ...(https ? { HTTPS: 'on' } : {}),
      DOCUMENT_ROOT: '/wordpress',
      SCRIPT_FILENAME: `/wordpress${script}`,
      SCRIPT_NAME: script,
      PHP_SELF: script + rest,
      ...(rest === '' ? {} : { PATH_INFO: rest }),
      REMOTE_ADDR: client,
      REQUEST_SCHEME: https ? 'https' : 'http',
      SERVER_NAME: name,
      SERVER_PORT: given ?? (https ? '443' : '80'),
      SERVER_PROTOCOL: 'HTTP/1.1',
      SERVER_SOFTWARE: 'Homeport',
      GATEWAY_INTERFACE: 'CGI/1.1',
    },
  };
}

/** PHP opens both for each request and closes neither. After 2,000 requests, no descriptors would be left. */
function closeStandardStreams(): void {
  for (const stream of runtime.FS.streams) {
    if (stream && STANDARD_STREAM.test(stream.path)) runtime.FS.close(stream);
  }
}
