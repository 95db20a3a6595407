import { createHash } from 'node:crypto';
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wordpressCore } from '../../../../test/host/wordpress-core.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { createWordPressCores } from '../../wordpress/cores.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';

const log = pino({ level: 'silent' });

let folder: string;
let layout: LinuxLayout;
/** A small tree that is a WordPress as far as a core must be one. */
let small: string;
const servers: Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp('/srv/hpt-cores-');
  layout = linuxLayout(join(folder, 'host'), join(folder, 'run'));
  await mkdir(layout.folder);
  small = await smallWordPress('wordpress', '6.5');
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(layout.cores, { recursive: true, force: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cores = (source: string | null = null, url = 'http://127.0.0.1:1') =>
  createWordPressCores({ layout, source, url, isLinked: true, log });

async function smallWordPress(name: string, version: string): Promise<string> {
  const tree = join(folder, `tree-${version}`, name);
  for (const inner of ['wp-admin/includes', 'wp-includes', 'wp-content/themes/plain']) {
    await mkdir(join(tree, inner), { recursive: true });
  }
  const files = [
    'index.php',
    'wp-load.php',
    'wp-login.php',
    'wp-settings.php',
    'wp-cron.php',
    'wp-admin/includes/upgrade.php',
    'wp-content/themes/plain/style.css',
  ];
  for (const file of files) await writeFile(join(tree, file), '<?php');
  await writeFile(join(tree, 'wp-includes/version.php'), `<?php\n$wp_version = '${version}';\n`);
  await writeFile(join(tree, 'wp-config.php'), '<?php // of somebody else');
  return tree;
}

async function pack(kind: 'zip' | 'tar.gz', tree = small): Promise<string> {
  const archive = join(folder, `${kind.length}-${Math.random()}.${kind}`);
  const parent = join(tree, '..');
  if (kind === 'zip')
    await runCommand('zip', ['-q', '-r', '--symlinks', archive, 'wordpress'], { folder: parent });
  else await runCommand('tar', ['-czf', archive, 'wordpress'], { folder: parent });
  return archive;
}

async function serve(files: Record<string, Buffer | string>): Promise<string> {
  const server = createServer((request, response) => {
    const content = files[request.url ?? ''];
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

describe('a core', () => {
  it('is root’s, readable by all, without links, and has our PHP in it', async () => {
    const source = wordpressCore();
    const version = await cores(source).add();
    const core = layout.coreOf(version);
    const count = async (...what: string[]) =>
      (await runCommand('find', [core, ...what])).stdout.split('\n').filter((line) => line !== '').length;
    expect(await count('-type', 'f')).toBeGreaterThan(2000);
    expect(await count('!', '-type', 'f', '!', '-type', 'd')).toBe(0);
    expect(await count('!', '-user', 'root')).toBe(0);
    expect(await count('-perm', '/022')).toBe(0);
    expect(await count('!', '-perm', '-444')).toBe(0);
    expect(await readFile(join(core, 'wp-config.php'), 'utf8')).toContain('website.php');
    expect(await readdir(join(core, 'homeport'))).toContain('settings.php');
    expect((await lstat(join(core, 'wp-includes/certificates/ca-bundle.crt'))).size).toBeGreaterThan(100_000);
    expect(await readdir(layout.scratch)).toEqual([]);
  });

  it('comes from a .zip or a .tar.gz, and is added once', async () => {
    const from = cores(await pack('zip'));
    expect(await from.add()).toBe('6.5');
    await writeFile(join(layout.coreOf('6.5'), 'mark'), '');
    expect(await from.add(await pack('tar.gz'))).toBe('6.5');
    expect(await readdir(layout.coreOf('6.5'))).toContain('mark');
    expect(await from.list()).toEqual(['6.5']);
    await expect(readFile(join(layout.coreOf('6.5'), 'wp-config.php'), 'utf8')).resolves.toContain(
      'website.php',
    );
  });

  it('is removed as a whole', async () => {
    const from = cores(small);
    await from.add();
    await from.remove('6.5');
    await from.remove('6.5');
    expect(await from.list()).toEqual([]);
    expect(await readdir(layout.scratch)).toEqual([]);
    expect(await from.add()).toBe('6.5');
  });

  it('stands beside others, newest first', async () => {
    const from = cores(small);
    await from.ensureAny();
    for (const version of ['6.10', '6.5.3']) await from.add(await smallWordPress('wordpress', version));
    expect(await from.list()).toEqual(['6.10', '6.5.3', '6.5']);
  });

  it('gets our PHP files again at every start', async () => {
    const from = cores(small);
    await from.ensureAny();
    const core = layout.coreOf('6.5');
    await writeFile(join(core, 'homeport/settings.php'), 'old');
    await writeFile(join(core, 'homeport/gone.php'), 'old');
    await rm(join(core, 'wp-config.php'));
    await writeFile(join(core, 'wp-load.php'), '<?php\n');
    await cores(join(folder, 'not-asked-for')).ensureAny();
    expect(await readFile(join(core, 'homeport/settings.php'), 'utf8')).toContain('DB_NAME');
    expect(await readdir(join(core, 'homeport'))).not.toContain('gone.php');
    expect(await readFile(join(core, 'wp-load.php'), 'utf8')).toContain('document-root.php');
    expect(await readFile(join(core, 'wp-config.php'), 'utf8')).toContain('website.php');
  });

  it('that is damaged does not keep the host from starting', async () => {
    await cores(small).add();
    const damaged = layout.coreOf('5.9');
    await cp(layout.coreOf('6.5'), damaged, { recursive: true });
    await rm(join(damaged, 'wp-load.php'));
    const other = layout.coreOf('5.8');
    await cp(layout.coreOf('6.5'), other, { recursive: true });
    await writeFile(join(other, 'wp-load.php'), '#!/usr/bin/php\n<?php\n');
    await rm(join(layout.coreOf('6.5'), 'homeport/settings.php'));
    await cores(small).ensureAny();
    expect(await readdir(join(layout.coreOf('6.5'), 'homeport'))).toContain('settings.php');
    expect(await readFile(join(other, 'wp-load.php'), 'utf8')).toBe('#!/usr/bin/php\n<?php\n');
  });

  it('is refused without leftovers if it contains a link, its archive leads outside, or it is not WordPress', async () => {
    const linked = join(folder, 'linked/wordpress');
    await cp(small, linked, { recursive: true });
    await symlink('/etc', join(linked, 'etc'));
    const outside = join(folder, 'outside.tar.gz');
    await runCommand('tar', ['-czf', outside, '--transform', 's,^wordpress,../wordpress,', 'wordpress'], {
      folder: join(small, '..'),
    });
    const broken = join(folder, 'broken.zip');
    await writeFile(broken, (await readFile(await pack('zip'))).subarray(0, 800));
    const hidden = join(folder, 'hidden/wordpress');
    await cp(small, hidden, { recursive: true });
    await rm(join(hidden, 'wp-includes/version.php'));
    await symlink('/etc/shadow', join(hidden, 'wp-includes/version.php'));
    const cases: [source: string, message: RegExp][] = [
      [linked, /wordpress\/etc is a link: WordPress has no links/],
      [hidden, /version.php/],
      [await pack('zip', linked), /contains a link, wordpress\/etc/],
      [await pack('tar.gz', linked), /contains a link, wordpress\/etc/],
      [outside, /leads outside: ..\/wordpress/],
      [broken, /broken.zip cannot be unpacked/],
      [join(folder, 'none.zip'), /none.zip/],
      [join(small, 'index.php'), /neither a folder nor/],
      ['latest', /not a source of WordPress/],
      [layout.folder, /does not contain WordPress: index.php is missing/],
    ];
    for (const [source, message] of cases) {
      const adding = cores().add(source);
      await expect(adding, source).rejects.toThrow(message);
      await expect(adding, source).rejects.toBeInstanceOf(PermanentHostError);
    }
    expect(await cores().list()).toEqual([]);
    expect(await readdir(layout.scratch)).toEqual([]);
  });
});

describe('the official download', () => {
  const hex = (algorithm: string, content: Buffer) => createHash(algorithm).update(content).digest('hex');

  it('is accepted if its checksum matches', async () => {
    const archive = await readFile(await pack('zip'));
    const url = await serve({ '/latest.zip': archive, '/latest.zip.sha1': hex('sha1', archive) });
    expect(await cores(null, url).add()).toBe('6.5');
    await rm(layout.coreOf('6.5'), { recursive: true });
    const better = await serve({
      '/latest.zip': archive,
      '/latest.zip.sha256': `${hex('sha256', archive)}  latest.zip\n`,
    });
    expect(await cores('official', `${better}/`).add()).toBe('6.5');
  });

  it('is refused if its checksum differs or is missing, without falling back to another source', async () => {
    const archive = await readFile(await pack('zip'));
    const other = await serve({ '/latest.zip': archive, '/latest.zip.sha1': hex('sha1', Buffer.from('x')) });
    await expect(cores(null, other).add()).rejects.toThrow(
      /does not match its published checksum: its sha1 is/,
    );
    const none = await serve({ '/latest.zip': archive });
    await expect(cores(null, none).add()).rejects.toThrow(/no published checksum/);
    const odd = await serve({ '/latest.zip': archive, '/latest.zip.sha1': '<html>' });
    await expect(cores(null, odd).add()).rejects.toThrow(/contains no checksum/);
    expect(await cores().list()).toEqual([]);
  });

  it('is what failed, where only it was asked for', async () => {
    await expect(cores('official').add()).rejects.toThrow();
    expect(await cores().list()).toEqual([]);
  });
});
