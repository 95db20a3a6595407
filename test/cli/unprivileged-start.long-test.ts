import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAgent } from '../client.ts';
import { freePort } from '../servers/free-port.ts';
import { makeClone, ROOT } from './clone.ts';

/** Neither this user nor this group owns anything. */
const UNPRIVILEGED = { uid: 54_321, gid: 54_321 };

const whyNot = reasonToSkip();

describe.skipIf(whyNot !== null)(`npm start by an unprivileged user in root's clone${whyNot ?? ''}`, () => {
  let base: string;
  let clone: string;
  let dataDir: string;
  let origin: string;
  let process_: ChildProcess | undefined;
  let printed = '';

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'homeport-unprivileged-'));
    chmodSync(base, 0o755);
    clone = join(base, 'clone');
    makeClone(clone);
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    origin = `https://localhost:${await freePort()}`;
  });
  afterEach(async () => {
    if (process_?.exitCode === null && process_.signalCode === null) {
      process_.kill('SIGKILL');
      await once(process_, 'close');
    }
  });
  afterAll(() => rmSync(base, { recursive: true }));

  /** A folder of the unprivileged user. */
  function ownFolder(name: string): string {
    const folder = join(base, name);
    mkdirSync(folder);
    chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    return folder;
  }

  /** Runs the script of package.json, as npm would. */
  async function start(): Promise<void> {
    printed = '';
    const { scripts } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    const child = spawn('/bin/sh', ['-c', scripts.start], {
      ...UNPRIVILEGED,
      cwd: clone,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: '/nonexistent',
        HOMEPORT_DATA_DIR: dataDir,
        HOMEPORT_LISTEN: `127.0.0.1:${new URL(origin).port}`,
        HOMEPORT_PUBLIC_URL: origin,
        HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
        HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
        HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
        HOMEPORT_EMBEDDED_PHP_MB: '0',
      },
    });
    process_ = child;
    const ended = once(child, 'close');
    const ready = new Promise<void>((resolve) => {
      const onText = (text: string) => {
        printed += text;
        if (printed.includes('Ctrl-C ends it.')) resolve();
      };
      child.stdout.setEncoding('utf8').on('data', onText);
      child.stderr.setEncoding('utf8').on('data', onText);
    });
    await Promise.race([ready, ended.then(() => Promise.reject(new Error(`it ended:\n${printed}`)))]);
  }

  async function stop(): Promise<void> {
    const child = process_;
    if (child === undefined) return;
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }

  /** The portal's first page, once it is built, and a script that it loads. */
  async function visit(): Promise<void> {
    const agent = createAgent(readFileSync(join(dataDir, 'tls', 'api.crt'), 'utf8'));
    const get = (path: string) => agent.request({ origin, path, method: 'GET' });
    try {
      await vi.waitUntil(
        async () => {
          const { statusCode, body } = await get('/');
          await body.dump();
          return statusCode !== 503;
        },
        { timeout: 120_000, interval: 200 },
      );
      const page = await get('/');
      expect(page.statusCode).toBe(200);
      const [script] = /portal\/assets\/[^"]+\.js/.exec(await page.body.text()) ?? [];
      const asset = await get(`/${script}`);
      await asset.body.dump();
      expect(asset.statusCode).toBe(200);
    } finally {
      await agent.close();
    }
  }

  // In the order of a clone's life: never built, built by root, changed.
  it('builds the portal into the data folder if it was never built, and once', async () => {
    dataDir = ownFolder('first');
    await start();
    await visit();
    expect(printed).toContain('The portal was built.');
    await stop();
    expect(existsSync(join(clone, 'web', 'dist'))).toBe(false);
    expect(statSync(join(dataDir, 'portal', 'index.html')).uid).toBe(UNPRIVILEGED.uid);

    await start();
    expect(printed).not.toContain('The portal was built.');
    await visit();
    await stop();
  });

  it('names the closed file of its certificate where it could not create a public one', () => {
    // Of the previous start, whose data folder is in a folder of root.
    expect(printed).toContain('could not publish the certificate');
    expect(printed).toMatch(new RegExp(`Certificate +${join(dataDir, 'tls', 'api.crt')}\n`));
  });

  it('uses what root built', async () => {
    const built = spawnSync(process.execPath, ['web/build.ts'], { cwd: clone });
    expect(built.stderr.toString()).toBe('');
    dataDir = ownFolder('second');
    await start();
    await visit();
    await stop();
    expect(readdirSync(dataDir)).not.toContain('portal');
  });

  it('publishes its certificate to other users, and nothing else', async () => {
    const home = ownFolder('home');
    dataDir = join(home, 'data');
    await start();
    const certificate = join(home, 'data-public', 'api.crt');
    expect(printed).toMatch(new RegExp(`Certificate +${certificate}\n`));
    expect(readFileSync(join(dataDir, 'first-sign-in.txt'), 'utf8')).toContain(`--cacert ${certificate} `);
    const asStranger = (...[file, ...args]: [string, ...string[]]) =>
      spawnSync(file, args, { uid: 54_322, gid: 54_322, encoding: 'utf8' });

    const script = `fetch('${origin}/v1/status').then(({ status }) => console.log(status))`;
    const trusting = spawnSync(process.execPath, ['-e', script], {
      ...{ uid: 54_322, gid: 54_322, encoding: 'utf8' as const },
      env: { NODE_EXTRA_CA_CERTS: certificate },
    });
    expect(trusting.stdout).toBe('200\n');
    expect(asStranger('/usr/bin/test', '-w', dirname(certificate)).status).toBe(1);
    expect(asStranger('/usr/bin/test', '-w', certificate).status).toBe(1);
    for (const file of [
      'homeport.sqlite',
      'sealing.key',
      'tls/api.key',
      'tls/api.crt',
      'first-sign-in.txt',
    ]) {
      expect(existsSync(join(dataDir, file))).toBe(true);
      expect(asStranger('/bin/cat', join(dataDir, file)).stderr).toContain('Permission denied');
    }
    await stop();
  });

  it('builds again once the sources have changed', async () => {
    writeFileSync(join(clone, 'web', 'added.css'), '');
    expect(readdirSync(dataDir)).not.toContain('portal');
    await start();
    await visit();
    await stop();
    expect(readdirSync(dataDir)).toContain('portal');
  });
});

function reasonToSkip(): string | null {
  if (process.getuid?.() !== 0) return ' (skipped: only root can run it as another user)';
  const { status } = spawnSync(
    process.execPath,
    ['-e', `require('node:fs').readdirSync(${JSON.stringify(ROOT)})`],
    UNPRIVILEGED,
  );
  return status === 0 ? null : ` (skipped: ${ROOT} is closed to other users)`;
}
