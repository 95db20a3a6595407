import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyAsVersion } from '../../../../test/host/wordpress-core.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { runPhp } from '../../runtime/linux/run-php.ts';
import { SANDBOX_COMPILED, type SandboxedInstall } from '../isolation/sandbox.ts';
import { type CompiledCores, createCompiledCores } from './compiled-cores.ts';
import { startWordPress, startWordPressMachine, visit, type WordPressMachine } from './machine.fixture.ts';
import type { Websites } from './website.ts';

let machine: WordPressMachine;
let compiledCores: CompiledCores;
let websites: Websites;
let version: string;
let shop: { install: SandboxedInstall; database: string };

beforeAll(async () => {
  machine = await startWordPressMachine({ ownCores: true });
  ({ websites, version } = await startWordPress(machine));
  compiledCores = createCompiledCores(machine);
  await compiledCores.ensure(machine.php, version);
  const made = await machine.newInstall(version);
  shop = { ...made, install: { ...made.install, compiledCore: await found(version) } };
  const site = { primaryHostname: 'shop.test', secure: false };
  await websites.makeFiles(shop.install, { ...site, database: shop.database });
  await websites.fillDatabase(shop.install, shop.database, { ...site, title: 'Shop' });
  await machine.serve(shop.install);
});
afterAll(() => machine?.stop());

async function found(wordpressVersion: string): Promise<string> {
  const folder = await compiledCores.find(machine.php, wordpressVersion);
  if (folder === null) throw new Error(`WordPress ${wordpressVersion} is not compiled`);
  return folder;
}

/** Runs PHP in PHP-FPM of the shop, and gives what it wrote. */
async function run(code: string): Promise<string> {
  const script = join(machine.layout.htdocsOf(shop.install.id), `${crypto.randomUUID()}.php`);
  await writeFile(script, `<?php ${code}`);
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: '/x.php', SCRIPT_FILENAME: script };
  return (await askFastcgi(machine.layout.phpSocketOf(shop.install.id), request)).body;
}

const linesOf = async (...args: string[]) =>
  (await runCommand('/usr/bin/find', args)).stdout.split('\n').filter(Boolean);

describe('a compiled core', () => {
  it('is root’s alone to write, whole, and leaves nothing of its making', async () => {
    const folder = await found(version);
    const core = machine.layout.coreOf(version);
    const sources = await linesOf(core, '-name', '*.php', '!', '-path', '*/homeport/*');
    const compiled = await linesOf(folder, '-name', '*.php.bin');
    expect(compiled.length).toBeGreaterThan(sources.length * 0.95);
    // The script that compiles is compiled as it starts.
    const own = compiled.filter((path) => path.includes('/homeport/'));
    expect(own.map((path) => basename(path))).toEqual(['compile.php.bin']);
    expect(await linesOf(folder, '!', '-user', 'root')).toEqual([]);
    expect(await linesOf(folder, '-perm', '/022')).toEqual([]);
    expect(await linesOf(folder, '!', '-type', 'f', '!', '-type', 'd')).toEqual([]);
    expect((await machine.users.list()).filter(({ name }) => name.startsWith('homeport-'))).toEqual([]);
    expect(await linesOf(machine.layout.scratch, '-mindepth', '1')).toEqual([]);
  });

  it('is made once', async () => {
    const folder = await found(version);
    const before = (await stat(folder)).ino;
    await compiledCores.ensure(machine.php, version);
    expect(await found(version)).toBe(folder);
    expect((await stat(folder)).ino).toBe(before);
  });

  it('is what its websites show, of the same build as their PHP', async () => {
    const page = await visit(machine, shop.install, '/');
    expect(page.status).toBe(200);
    expect(page.body).toContain('</html>');
    expect((await visit(machine, shop.install, '/wp-login.php')).body).toContain('user_login');
    const core = machine.layout.coreOf(version);
    const shown = join(SANDBOX_COMPILED, basename(shop.install.compiledCore ?? ''), core);
    expect(await run(`echo is_file('${shown}/wp-load.php.bin') ? 'shown' : 'not shown';`)).toBe('shown');
    // PHP itself says that it takes it for this file.
    expect(await run(`var_export(opcache_is_script_cached('${core}/wp-load.php'));`)).toBe('true');
    const own = await run(`echo implode(' ', array_diff(scandir('${SANDBOX_COMPILED}'), ['.', '..']));`);
    expect(own).toBe(basename(shop.install.compiledCore ?? ''));
    expect(await run(`echo disk_total_space('${SANDBOX_COMPILED}');`)).toBe(`${1024 * 1024}`);
  });

  it('is not taken for a file that was changed', async () => {
    const file = join(machine.layout.coreOf(version), 'wp-includes/version.php');
    const before = await readFile(file, 'utf8');
    const { atime, mtime } = await stat(file);
    // Copies of the core in other tests are the same file.
    await rm(file);
    await writeFile(file, `${before}\nconst CHANGED = 'changed';\n`);
    await machine.daemons.restart(`php-${shop.install.id}`);
    expect(await run(`require '${file}'; echo CHANGED;`)).toBe('changed');
    await writeFile(file, before);
    await utimes(file, atime, mtime);
  });

  it('is what the commands of its websites read', async () => {
    const { layout } = machine;
    const file = join(layout.coreOf(version), 'wp-includes/version.php');
    const before = await readFile(file, 'utf8');
    const { atime, mtime } = await stat(file);
    const script = join(layout.htdocsOf(shop.install.id), 'command.php');
    await writeFile(script, `<?php require '${file}'; echo $wp_version;`);
    // Of the same date, so that only code that PHP compiles itself is of the changed file.
    await rm(file);
    await writeFile(file, before.replace(/\$wp_version = '.*'/, "$wp_version = 'changed'"));
    await utimes(file, atime, mtime);
    const { compiledCore: _, ...without } = shop.install;
    expect(await runPhp(layout, without, { script })).toBe('changed');
    expect(await runPhp(layout, shop.install, { script })).toBe(version);
    await rm(file);
    await writeFile(file, before);
    await utimes(file, atime, mtime);
  });

  it('does not keep a command from what it replaces', async () => {
    const script = join(machine.layout.htdocsOf(shop.install.id), 'replacing.php');
    await writeFile(
      script,
      `<?php $file = __DIR__ . '/replaced.php';
      foreach ([1, 2] as $n) { file_put_contents($file, "<?php return $n;"); touch($file, 1000 + $n); clearstatcache(); echo include $file; }`,
    );
    await runCommand('chown', [`${shop.install.uid}`, machine.layout.htdocsOf(shop.install.id)]);
    expect(await runPhp(machine.layout, shop.install, { script })).toBe('12');
  });

  onlyInLong(it)(
    'is no longer found when PHP or the core are others, and the new one takes its place',
    async () => {
      const { layout, php } = machine;
      await copyAsVersion(layout.coreOf(version), layout.coreOf('96.1'), '96.1');
      expect(await compiledCores.find(php, '96.1')).toBeNull();
      await compiledCores.ensure(php, '96.1');
      const folder = await found('96.1');
      expect(await compiledCores.find({ ...php, modules: [...php.modules, 'other'] }, '96.1')).toBeNull();
      await utimes(layout.coreOf('96.1'), new Date(), new Date());
      expect(await compiledCores.find(php, '96.1')).toBeNull();
      await compiledCores.ensure(php, '96.1');
      expect(await found('96.1')).not.toBe(folder);
      expect(await linesOf(layout.compiled, '-maxdepth', '1', '-name', '96.1-*')).toHaveLength(1);
      expect(await compiledCores.find(php, version)).toBe(shop.install.compiledCore);
    },
  );

  it('may be gone: websites compile for themselves', async () => {
    const compiledCore = join(machine.layout.compiled, 'gone', basename(shop.install.compiledCore ?? ''));
    await machine.serve({ ...shop.install, compiledCore });
    expect((await visit(machine, shop.install, '/')).status).toBe(200);
    const mounts = await run(`readfile('/proc/self/mountinfo');`);
    expect(mounts).toContain(` ${SANDBOX_COMPILED} `);
    expect(mounts).not.toContain(`${SANDBOX_COMPILED}/`);
  });

  it('cannot be made of what the host does not hold', async () => {
    await expect(compiledCores.ensure(machine.php, '97.1')).rejects.toThrow(
      'this host does not have WordPress 97.1: add it first',
    );
  });
});
