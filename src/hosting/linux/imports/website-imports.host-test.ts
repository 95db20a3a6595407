import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong, onlyInLong, rounds, steps } from '../../../../test/rounds.ts';
import { certificateMaker } from '../../../../test/servers/certificate-maker.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { ImportOptions, ImportSource } from '../../contract/imports.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { IMPORT_LIMITS, importCases } from '../../websites/imports/import-cases.fixture.ts';
import { createWebsiteImports } from '../../websites/imports/website-imports.ts';
import { REPLACEMENT_STEPS } from '../backups/website-replacement.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  type WordPressMachine,
} from '../wordpress/machine.fixture.ts';
import { startOldHost } from './old-host.fixture.ts';
import { createImportStaging, type ImportStagingOptions } from './staged-website.ts';

const run = promisify(execFile);

let machine: WordPressMachine;
let wordpress: Awaited<ReturnType<typeof startWordPress>>;
let shop: HostedInstall;
let scratch: string;

beforeAll(async () => {
  machine = await startWordPressMachine();
  wordpress = await startWordPress(machine);
  scratch = await mkdtemp(join(tmpdir(), 'imports-'));
  shop = await newShop();
});
afterAll(async () => {
  await machine?.stop();
  if (scratch) await rm(scratch, { recursive: true });
});

async function newShop(): Promise<HostedInstall> {
  const made = await machine.newInstall(wordpress.version);
  const site = { primaryHostname: 'shop.test', secure: false };
  await wordpress.websites.makeFiles(made.install, { ...site, database: made.database });
  await wordpress.websites.fillDatabase(made.install, made.database, { ...site, title: 'first' });
  const { id, name } = made.install;
  return { ref: { id, name }, sandbox: made.install, database: made.database, unixUser: name, ...site };
}

const home = () => machine.layout.homeOf(shop.ref.id);

/** Imports without a web server: nobody visits the website after it. */
function importsWith({ authority, ...options }: Partial<ImportStagingOptions> & { authority?: string } = {}) {
  const log = pino({ level: 'silent' });
  const staging = createImportStaging({
    layout: machine.layout,
    databases: machine.databases,
    quotas: machine.quotas,
    websites: wordpress.websites,
    enter: () => [],
    log,
    ...options,
  });
  const importsOf = (target: HostedInstall) =>
    createWebsiteImports({
      websiteOf: async () => ({
        ...staging.of(target),
        recover: () => staging.recover(target.ref.id),
        serve: async () => {},
        warning: async () => null,
      }),
      log,
      ...(authority === undefined ? {} : { authority }),
    });
  return {
    importsOf,
    import: (
      target: HostedInstall,
      source: ImportSource,
      { report, ...given }: ImportOptions & { report?: ReportProgress },
    ) => importsOf(target).importWebsite(target.ref, source, given, undefined, report),
    last: (target: HostedInstall) => importsOf(target).lastImport(target.ref),
    recover: staging.recover,
  };
}

/** An archive of the website with this title and more statements, in a file that only root can read. */
async function archiveOf(title: string, more = ''): Promise<string> {
  const folder = join(scratch, title);
  await mkdir(join(folder, 'wp-content'), { recursive: true });
  await machine.databases.dump(shop.database, join(folder, 'dump.sql'));
  const dump = await readFile(join(folder, 'dump.sql'), 'utf8');
  const titled = `${dump}\nUPDATE wp_options SET option_value = '${title}' WHERE option_name = 'blogname';\n${more}`;
  await writeFile(join(folder, 'dump.sql'), titled);
  await writeFile(join(folder, 'wp-content', 'title.txt'), title);
  const archive = join(scratch, `${title}.tar.gz`);
  await run('tar', ['--create', '--gzip', `--file=${archive}`, '.'], { cwd: folder });
  return archive;
}

/** Puts an archive where the owner uploads it. */
async function upload(archive: string, name: string): Promise<{ file: string }> {
  const place = join(home(), 'private', name);
  await run('cp', [archive, place]);
  await run('chown', [`${shop.sandbox.uid}:${shop.sandbox.gid}`, place]);
  return { file: `private/${name}` };
}

/** The titles in the files and in the database. */
async function titles(): Promise<(string | null)[]> {
  const [[title] = []] = await machine.databases.query(
    shop.database,
    "SELECT option_value FROM wp_options WHERE option_name = 'blogname'",
  );
  return [await ifThere(readFile(join(home(), 'htdocs/wp-content/title.txt'), 'utf8')), title ?? null];
}

describe('an import', () => {
  test.each(steps(['tables'], REPLACEMENT_STEPS))(
    'killed after "%s" leaves the former or the new website',
    async (step) => {
      const [, before] = await titles();
      const next = `at ${step}`;
      const source = await upload(await archiveOf(next.replace(' ', '-')), 'website.tar.gz');
      const reached = Promise.withResolvers<void>();
      // It stands still there for ever, as a killed process does.
      const killed = importsWith({
        reached: (at) => (at === step ? new Promise(() => reached.resolve()) : Promise.resolve()),
      });
      const [filesBefore] = await titles();
      const importId = `id of ${next}`;
      void killed.import(shop, source, { importId });
      await reached.promise;
      await importsWith().recover(shop.ref.id);
      const after = await titles();
      const isNew = after[1] !== before;
      expect(after).toEqual(isNew ? [next.replace(' ', '-'), next.replace(' ', '-')] : [filesBefore, before]);
      expect(isNew).toBe(!['prepared'].includes(step));
      // A repeated import learns whether it has replaced the website.
      expect((await importsWith().last(shop)) === importId).toBe(isNew);
      const { stdout } = await run('ls', ['-A', home()]);
      expect(stdout).not.toContain('.restore');
      expect((await machine.databases.list()).filter((name) => /_new$/.test(name))).toEqual([]);
      // The uploaded archive is still there.
      expect(await ifThere(readFile(join(home(), 'private/website.tar.gz')))).not.toBeNull();
    },
  );

  onlyInLong(test)('downloads by HTTPS, and follows redirects to HTTPS only', async () => {
    const make = certificateMaker(new Date());
    const authority = await make({ name: 'authority' });
    const leaf = await make({ name: 'localhost', names: ['localhost'] }, authority);
    const key = leaf.key.export({ type: 'pkcs8', format: 'pem' });
    const archive = await readFile(await archiveOf('downloaded'));
    const server = createServer({ key, cert: leaf.pem }, (request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/website.tar.gz?s=1' }).end();
      else if (request.url === '/plain') response.writeHead(302, { location: 'http://localhost/' }).end();
      else if (request.url?.startsWith('/website.tar.gz')) response.end(archive);
      else response.writeHead(404).end();
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    try {
      await writeFile(join(home(), 'private/ca.pem'), authority.pem, { mode: 0o644 });
      const imports = importsWith({
        authority: join(home(), 'private/ca.pem'),
      });
      const from = (path: string) => imports.import(shop, { url: `https://localhost:${port}${path}` }, {});
      const steps = new Set<string | undefined>();
      await imports.import(
        shop,
        { url: `https://localhost:${port}/moved` },
        { report: (_done, _total, step) => void steps.add(step) },
      );
      expect([...steps]).toEqual(expect.arrayContaining(['unpack', 'database', 'urls']));
      expect(await titles()).toEqual(['downloaded', 'downloaded']);
      await expect(from('/absent')).rejects.toThrow('the server answers 404');
      await expect(from('/plain')).rejects.toThrow('could not be downloaded');
      await expect(
        importsWith().import(shop, { url: `https://localhost:${port}/moved` }, {}),
      ).rejects.toThrow('could not be downloaded from localhost');
      expect(await titles()).toEqual(['downloaded', 'downloaded']);
    } finally {
      server.close();
    }
  });

  test('fetches the website by SSH from the sandbox, and keeps the key from the website', async () => {
    const oldHost = await startOldHost();
    try {
      await archiveOf('by-ssh');
      const former = join(scratch, 'by-ssh');
      await run('cp', ['-r', join(former, 'wp-content'), oldHost.folder]);
      await writeFile(
        join(oldHost.folder, 'wp-config.php'),
        "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_USER', 'x');\ndefine('DB_PASSWORD', 'x');\n$table_prefix = 'wp_';\n",
      );
      oldHost.program('wp', '#!/bin/sh\nexit 1\n');
      oldHost.program('mysqldump', `#!/bin/sh\nexec cat ${join(former, 'dump.sql')}\n`);
      const { port, hostKey, privateKey, folder: path } = oldHost;
      const ssh = { host: '127.0.0.1', port, user: 'root', path, hostKey, privateKey };
      const before = await titles();
      await expect(importsWith().import(shop, { ssh: { ...ssh, hostKey: null } }, {})).rejects.toThrow(
        hostKey,
      );
      expect(await titles()).toEqual(before);
      const steps = new Set<string | undefined>();
      await importsWith().import(shop, { ssh }, { report: (_done, _total, step) => void steps.add(step) });
      expect(await titles()).toEqual(['by-ssh', 'by-ssh']);
      expect([...steps]).toEqual(expect.arrayContaining(['unpack', 'database', 'urls']));
      const { stdout } = await run('grep', ['-rl', 'PRIVATE KEY', home()]).catch(() => ({ stdout: '' }));
      expect(stdout).not.toContain('import');
    } finally {
      await oldHost.stop();
    }
  });

  test('cannot reach the present database, although both belong to the install', async () => {
    const before = await titles();
    const statements = [
      `DROP TABLE IF EXISTS wp_links, ${shop.database}.wp_links;`,
      `CREATE VIEW spy AS SELECT * FROM ${shop.database}.wp_options;`,
      `UPDATE wp_options, ${shop.database}.wp_posts SET post_title = '';`,
    ];
    for (const [index, sql] of statements.slice(0, rounds(1, statements.length)).entries()) {
      const source = await upload(await archiveOf(`reaching-${index}`, sql), 'reaching.tar.gz');
      await expect(importsWith().import(shop, source, {})).rejects.toThrow(/refuses the dump: .*denied/);
    }
    expect(await titles()).toEqual(before);
    expect(await machine.databases.query(shop.database, 'SELECT COUNT(*) FROM wp_links')).toEqual([['0']]);
  });

  test('runs no PHP of the imported website before the exchange', async () => {
    const archive = await archiveOf(
      'hostile',
      "REPLACE INTO wp_options (option_name, option_value) VALUES ('WPLANG', 'de_DE');",
    );
    const content = join(scratch, 'hostile', 'wp-content');
    for (const path of [
      'mu-plugins/spy.php',
      'themes/twentytwentythree/functions.php',
      'languages/de_DE.php',
      'install.php',
      'fatal-error-handler.php',
      'db-error.php',
      'php-error.php',
      'maintenance.php',
      'object-cache.php',
      'db.php',
      'advanced-cache.php',
    ]) {
      await mkdir(join(content, path, '..'), { recursive: true });
      await writeFile(
        join(content, path),
        `<?php touch(__FILE__ . '.ran'); $spy = new mysqli('localhost', '${shop.unixUser}', '', '${shop.database}', 0, '${machine.layout.mariadbSocket}');
        $spy->query('CREATE TABLE IF NOT EXISTS ${shop.database}.ran (id INT)'); return null;`,
      );
    }
    await run('tar', ['--create', '--gzip', `--file=${archive}`, '.'], { cwd: join(scratch, 'hostile') });
    let tables: string[][] = [];
    const imports = importsWith({
      reached: async (step) => {
        if (step === 'begun') tables = await machine.databases.query(shop.database, "SHOW TABLES LIKE 'ran'");
      },
    });
    await imports.import(shop, await upload(archive, 'hostile.tar.gz'), {});
    expect(tables).toEqual([]);
    expect(await titles()).toEqual(['hostile', 'hostile']);
    const { stdout } = await run('find', [join(home(), 'htdocs/wp-content/'), '-name', '*.ran']);
    expect(stdout).toBe('');
    if (!isLong) return;
    // For the tests after it.
    await importsWith().import(shop, await upload(await archiveOf('plain'), 'plain.tar.gz'), {});
  });

  onlyInLong(test)('is refused if its database is larger than that of an install may be', async () => {
    const limits = { ...machine.layout.limits, bytes: 2 * 1024 ** 2 };
    const imports = importsWith({ layout: { ...machine.layout, limits } });
    const large = "CREATE TABLE wp_large AS SELECT REPEAT('x', 60000) AS t FROM wp_options a, wp_users;";
    const source = await upload(await archiveOf('large', large), 'large.tar.gz');
    const before = await titles();
    await expect(imports.import(shop, source, {})).rejects.toThrow(/larger than .* \(2 MiB\)/);
    expect(await titles()).toEqual(before);
    expect((await machine.databases.list()).filter((name) => /_new$/.test(name))).toEqual([]);
  });

  onlyInLong(test)('keeps views, triggers and procedures, which then belong to the install', async () => {
    const programs = `CREATE TABLE \`wp_odd\` (\`a.b\` INT, c INT GENERATED ALWAYS AS (\`a.b\` * 2) STORED);
--
INSERT INTO wp_odd VALUES (1,NULL);
CREATE DEFINER=\`old\`@\`%\` VIEW wp_doubled AS SELECT c FROM wp_odd;
CREATE DEFINER=\`old\`@\`%\` TRIGGER wp_more BEFORE INSERT ON wp_odd FOR EACH ROW SET NEW.\`a.b\` = NEW.\`a.b\` + 1;
CREATE PROCEDURE wp_add() INSERT INTO wp_odd (\`a.b\`) VALUES (4);
`;
    const source = await upload(await archiveOf('programs', programs), 'programs.tar.gz');
    await importsWith().import(shop, source, {});
    const look = 'CALL wp_add(); SELECT * FROM wp_doubled';
    expect(await machine.databases.query(shop.database, look)).toEqual([['2'], ['10']]);
    const users = await machine.databases.query(
      shop.database,
      'SELECT DEFINER FROM information_schema.TRIGGERS UNION SELECT DEFINER FROM information_schema.VIEWS UNION SELECT DEFINER FROM information_schema.ROUTINES',
    );
    expect(users).toEqual([[`${shop.unixUser}@localhost`]]);
    // Another import replaces them by none.
    await importsWith().import(shop, await upload(await archiveOf('plain'), 'plain.tar.gz'), {});
  });

  onlyInLong(test)(
    'in a wrong encoding is refused by the database server, and leaves the website',
    async () => {
      const folder = join(scratch, 'wrong');
      await mkdir(join(folder, 'wp-content'), { recursive: true });
      const text = Buffer.from("CREATE TABLE t (a VARCHAR(9));\nINSERT INTO t VALUES ('\xfc');\n", 'latin1');
      await writeFile(join(folder, 'dump.sql'), text);
      const archive = join(scratch, 'wrong.tar.gz');
      await run('tar', ['--create', '--gzip', `--file=${archive}`, '.'], { cwd: folder });
      const source = await upload(archive, 'wrong.tar.gz');
      const before = await titles();
      await expect(importsWith().import(shop, source, {})).rejects.toThrow(/encoding than it says/);
      expect(await titles()).toEqual(before);
    },
  );
});

describe('on Debian', () => {
  importCases(async () => {
    const other = await newShop();
    const { ref, sandbox, database } = other;
    const limits = { ...machine.layout.limits, ...IMPORT_LIMITS };
    const imports = importsWith({ layout: { ...machine.layout, limits } }).importsOf(other);
    return {
      install: ref,
      imports,
      origin: 'http://shop.test:8080',
      root: machine.layout.htdocsOf(ref.id),
      async upload(name, bytes) {
        const place = join(machine.layout.homeOf(ref.id), 'private', name);
        await writeFile(place, bytes);
        await run('chown', [`${sandbox.uid}:${sandbox.gid}`, place]);
        return `private/${name}`;
      },
      async dump() {
        const file = join(scratch, 'former.sql');
        await machine.databases.dump(database, file);
        return readFile(file, 'utf8');
      },
      inWordPress: (code) => runInWordPress(machine, sandbox, code),
      async title(tablePrefix) {
        const sql = `SELECT option_value FROM ${tablePrefix}options WHERE option_name = 'blogname'`;
        return (await machine.databases.query(database, sql))[0]?.[0] ?? '';
      },
      stop: async () => {},
    };
  });
});
