import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';
import { writeSums } from '../../tools/release/artifacts.ts';
import { run } from '../../tools/release/run.ts';
import { allowedSigners, sign, writeInstaller } from '../../tools/release/signature.ts';
import { temporaryFolder } from '../database.ts';
import { commandsIn, page, sectionOf } from '../docs/documented-commands.ts';
import { has } from '../missing-programs.ts';

const it = test.skipIf(!has('ssh-keygen') || !(has('curl') || has('wget')));
const ARCHIVE = `homeport-0.4.0-linux-${process.arch}.tar.gz`;
const TEMPLATE = join(import.meta.dirname, '../../tools/release/install.sh');

let folder: ReturnType<typeof temporaryFolder>;
let dist: string;
let home: string;
let server: Server;
/** Changes an answer of the server. */
let answered: (name: string, body: Buffer) => Buffer = (_name, body) => body;
/** The names that it was asked for. */
let asked: string[] = [];
/** Whether it ends the connection in the middle of a file. */
let cut: string | null = null;

beforeAll(async () => {
  folder = temporaryFolder();
  dist = join(folder.path, 'dist');
  makeArchive('0.4.0');
  for (const name of ['key', 'other', 'later']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder.path, name)]);
  }
  server = createServer((request, response) => {
    const name = (request.url ?? '').split('/').at(-1) ?? '';
    asked.push(name);
    if (!existsSync(join(dist, name))) return response.writeHead(404).end();
    const body = answered(name, readFileSync(join(dist, name)));
    response.writeHead(200, { 'content-length': body.length });
    if (cut !== name) return response.end(body);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await publish();
});
afterAll(async () => {
  server?.close();
  await folder?.remove();
});
beforeEach(() => {
  answered = (_name, body) => body;
  cut = null;
  asked = [];
  home = join(folder.path, 'home');
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
});

function makeArchive(version: string): void {
  const stage = join(folder.path, `homeport-${version}`);
  mkdirSync(stage, { recursive: true });
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(stage, 'release.json'), '{}');
  writeFileSync(join(stage, 'package.json'), JSON.stringify({ name: 'homeport', version }, null, 2));
  writeFileSync(join(stage, 'homeport'), `#!/bin/sh\necho "${version} (commit 1)"\n`);
  chmodSync(join(stage, 'homeport'), 0o755);
  execFileSync('tar', ['-czf', join(dist, ARCHIVE), '-C', folder.path, `homeport-${version}`]);
}

/** Writes the installer and the signed checksums of what `dist` has. */
async function publish(key = 'key', next: string | null = null): Promise<void> {
  rmSync(join(dist, 'SHA256SUMS'), { force: true });
  rmSync(join(dist, 'SHA256SUMS.sig'), { force: true });
  const keys = { key: join(folder.path, key), next: next === null ? null : join(folder.path, `${next}.pub`) };
  await writeInstaller(
    { template: TEMPLATE, file: join(dist, 'install.sh') },
    { signers: await allowedSigners(keys), address: '' },
  );
  await writeSums(dist);
  await sign(dist, 'SHA256SUMS', keys, run);
}

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest`;

const install = (...words: string[]) => installWith({}, ...words);

/** Runs the installer with more in its environment, and with a umask that lets everyone change new files. */
async function installWith(
  environment: Record<string, string>,
  ...words: string[]
): Promise<{ code: unknown; output: string }> {
  const all = [join(dist, 'install.sh'), '--from', address(), ...words];
  const child = spawn('/bin/sh', ['-c', 'umask 0 && exec /bin/sh "$@"', 'sh', ...all], {
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, ...environment },
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, output: out + err };
}

const installed = () => join(home, '.local/share/homeport/homeport');

/** Nothing installed, and no temporary file left. */
function expectNothing(): void {
  expect(execFileSync('find', [home, '-type', 'f'], { encoding: 'utf8' })).toBe('');
}

it('installs an archive without root, and a newer one in its place', async () => {
  const first = await install('--archive');
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('0.4.0 is installed') });
  expect(statSync(join(home, '.local/share')).mode & 0o777).toBe(0o755);
  const before = readFileSync(join(dist, ARCHIVE));
  try {
    makeArchive('0.4.1');
    await publish();
    expect(await install('--archive')).toMatchObject({ code: 0 });
    expect(readFileSync(installed(), 'utf8')).toContain('0.4.1');
    expect(execFileSync('ls', ['-A', join(home, '.local/share')], { encoding: 'utf8' })).toBe('homeport\n');
    // As a server would that offers an old release as the newest.
    writeFileSync(join(dist, ARCHIVE), before);
    await publish();
    expect(await install('--archive')).toMatchObject({
      code: 1,
      output: expect.stringContaining('has 0.4.1, and'),
    });
    expect(readFileSync(installed(), 'utf8')).toContain('0.4.1');
  } finally {
    writeFileSync(join(dist, ARCHIVE), before);
    await publish();
  }
});

it('can be replaced by the commands of the page', async () => {
  const signers = await allowedSigners({ key: join(folder.path, 'key'), next: null });
  writeFileSync(join(dist, 'release-signers'), `${signers}\n`);
  const [block = ''] = commandsIn(sectionOf(page('docs/install.md'), 'By hand'));
  // Only the last command needs root.
  const script = `set -e; sudo() { echo "as root: $*"; }; ${block}`;
  const follow = () => spawnSync('/bin/bash', ['-c', script], { cwd: dist, encoding: 'utf8' });
  expect(follow()).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/Good "homeport-release" signature[\s\S]*: OK\nas root: apt-get install/),
  });
  writeFileSync(join(dist, 'SHA256SUMS'), `${readFileSync(join(dist, 'SHA256SUMS'), 'utf8')}\n`);
  expect(follow().status).not.toBe(0);
  rmSync(join(dist, 'release-signers'));
  await publish();
});

it('refuses a file with another checksum', async () => {
  answered = (name, body) => (name === ARCHIVE ? Buffer.concat([body, Buffer.from('x')]) : body);
  const { code, output } = await install('--archive');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('checksum') });
  expectNothing();
});

it.each([
  [
    'a changed list',
    (name: string, body: Buffer) => (name === 'SHA256SUMS' ? Buffer.from(`${body} `) : body),
  ],
  [
    'a changed signature',
    (name: string, body: Buffer) => (name.endsWith('.sig') ? body.fill(65, 120, 130) : body),
  ],
])('refuses %s, and downloads nothing else', async (_what, change) => {
  answered = change;
  const { code, output } = await install('--archive');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('signature') });
  expect(asked).toEqual(['SHA256SUMS', 'SHA256SUMS.sig']);
  expectNothing();
});

it('refuses the signature of another key, and of another purpose', async () => {
  const installer = readFileSync(join(dist, 'install.sh'));
  try {
    await publish('other');
    writeFileSync(join(dist, 'install.sh'), installer);
    expect((await install('--archive')).output).toContain('signature');
    const words = [
      '-Y',
      'sign',
      '-q',
      '-f',
      join(folder.path, 'key'),
      '-n',
      'mail',
      join(dist, 'SHA256SUMS'),
    ];
    rmSync(join(dist, 'SHA256SUMS.sig'));
    execFileSync('ssh-keygen', words);
    expect((await install('--archive')).output).toContain('signature');
    expectNothing();
  } finally {
    await publish();
  }
});

it('accepts the next key of the release before', async () => {
  try {
    await publish('key', 'later');
    const installer = readFileSync(join(dist, 'install.sh'));
    await publish('later');
    writeFileSync(join(dist, 'install.sh'), installer);
    expect(await install('--archive', '--check')).toMatchObject({ code: 0 });
    expectNothing();
  } finally {
    await publish();
  }
});

it.each([ARCHIVE, 'SHA256SUMS'])('installs nothing if the download of %s is cut', async (name) => {
  cut = name;
  const { code, output } = await install('--archive');
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringContaining('cannot be downloaded'),
  });
  expectNothing();
});

it.each([100, 3_000, 6_000])(
  'a copy of the installer that was cut after %i bytes does nothing',
  async (size) => {
    const whole = readFileSync(join(dist, 'install.sh'));
    const child = spawn('sh', ['-s', '--', '--from', address(), '--archive'], {
      env: { PATH: process.env.PATH, HOME: home },
    });
    child.stdin.end(whole.subarray(0, size));
    await once(child, 'close');
    expect(asked).toEqual([]);
    expectNothing();
  },
);

it('keeps what people put into the folder of the program, such as the data of a server', async () => {
  await install('--archive');
  const database = join(installed(), '../data/homeport.sqlite');
  mkdirSync(join(database, '..'));
  writeFileSync(database, 'Harbour');
  expect(await install('--archive')).toMatchObject({
    code: 1,
    output: expect.stringContaining('homeport/data does not belong to the program'),
  });
  expect(readFileSync(database, 'utf8')).toBe('Harbour');
  expect(execFileSync('ls', ['-A', join(home, '.local/share')], { encoding: 'utf8' })).toBe('homeport\n');
});

it('keeps a link to the folder of the program', async () => {
  mkdirSync(join(home, 'large disk'));
  await install('--archive', '--into', join(home, 'large disk/homeport'));
  symlinkSync(join(home, 'large disk/homeport'), join(home, 'link'));
  expect(await install('--archive', '--into', `${join(home, 'link')}/`)).toMatchObject({ code: 0 });
  expect(execFileSync('ls', ['-A', join(home, 'large disk')], { encoding: 'utf8' })).toBe('homeport\n');
  expect(readFileSync(join(home, 'link/homeport'), 'utf8')).toContain('0.4.0');
});

it('brings the former version back if the new one cannot take its place', async () => {
  await install('--archive');
  const bin = programs([]);
  // The new folder cannot be moved, and the former one can be moved back.
  const failing = `case "$1" in */.homeport-*) [ -e ${bin}/failed ] || { touch ${bin}/failed; exit 1; };; esac`;
  writeFileSync(join(bin, 'mv'), `#!/bin/sh\n${failing}\nexec /usr/bin/mv "$@"\n`, { mode: 0o755 });
  expect(await installWith({ PATH: `${bin}:${process.env.PATH}` }, '--archive')).toMatchObject({ code: 1 });
  expect(existsSync(join(bin, 'failed'))).toBe(true);
  expect(readFileSync(installed(), 'utf8')).toContain('0.4.0');
  expect(execFileSync('ls', ['-A', join(home, '.local/share')], { encoding: 'utf8' })).toBe('homeport\n');
});

it('does not take an old ssh-keygen for a wrong signature', async () => {
  const bin = programs([]);
  writeFileSync(join(bin, 'ssh-keygen'), '#!/bin/sh\necho "ssh-keygen: unknown option -- Y" >&2\nexit 1\n', {
    mode: 0o755,
  });
  const { code, output } = await installWith({ PATH: `${bin}:${process.env.PATH}` }, '--archive');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('too old') });
  expect(output).not.toContain('report it');
});

it.each([
  ['glibc 2.31', 'this system has 2.31'],
  ['glibc 2.4', 'this system has 2.4'],
  ['', 'this system has another C library'],
])('installs no program that cannot start with the C library "%s"', async (library, said) => {
  const bin = programs([]);
  writeFileSync(join(bin, 'getconf'), `#!/bin/sh\n[ '${library}' ] && echo '${library}'\n`, { mode: 0o755 });
  const environment = { PATH: `${bin}:${process.env.PATH}` };
  const { code, output } = await installWith(environment, '--archive');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(said) });
  expect(asked).toEqual([]);
  // The files may be for another machine.
  expect(await installWith(environment, '--archive', '--check')).toMatchObject({ code: 0 });
});

/** A folder with links to programs. */
function programs(names: string[]): string {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of names) symlinkSync(join('/usr/bin', name), join(bin, name));
  return bin;
}

const NEEDED = ['uname', 'sha256sum', 'ssh-keygen', 'mktemp', 'sed', 'grep', 'rm'];
const DOWNLOADERS = ['curl', 'wget'].filter((name) => existsSync(join('/usr/bin', name)));

it.each(DOWNLOADERS)('downloads with %s over HTTPS, and follows no redirect to plain HTTP', async (name) => {
  const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  const cert = join(folder.path, 'tls.crt');
  writeFileSync(cert, chain);
  let isRedirecting = false;
  const secure = createTlsServer({ key, cert: chain }, (request, response) => {
    const file = (request.url ?? '').split('/').at(-1) ?? '';
    if (isRedirecting) response.writeHead(302, { location: `${address()}/${file}` }).end();
    else response.end(readFileSync(join(dist, file)));
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  try {
    const settings = join(folder.path, 'wgetrc');
    writeFileSync(settings, `ca_certificate = ${cert}\n`);
    const environment = { PATH: programs([...NEEDED, name]), CURL_CA_BUNDLE: cert, WGETRC: settings };
    const from = `https://localhost:${(secure.address() as AddressInfo).port}/latest`;
    const words = ['--from', from, '--archive', '--check'];
    expect(await installWith(environment, ...words)).toMatchObject({ code: 0 });
    isRedirecting = true;
    expect(await installWith(environment, ...words)).toMatchObject({
      code: 1,
      output: expect.stringContaining('cannot be downloaded'),
    });
    expect(asked).toEqual([]);
  } finally {
    secure.close();
  }
});

it('keeps a folder that is no Homeport', async () => {
  mkdirSync(join(home, 'website'));
  writeFileSync(join(home, 'website/index.html'), 'Harbour');
  const { code, output } = await install('--archive', '--into', join(home, 'website'));
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('no Homeport') });
  expect(readFileSync(join(home, 'website/index.html'), 'utf8')).toBe('Harbour');
});

it.each([
  [['--from', 'http://releases.example'], 'no HTTPS address'],
  [['--from', 'http://127.0.0.1:80@releases.example'], 'no HTTPS address'],
  [['--from', ''], 'no address of releases'],
  [['--from'], 'needs a value'],
  [['--force'], 'no option --force'],
])('explains what is wrong with %j', async (words, sentence) => {
  const { code, output } = await install(...words);
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(sentence) });
});

it('names what the release does not have', async () => {
  const { code, output } = await install('--check');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(/no package|no Debian/) });
});
