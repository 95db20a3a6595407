import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import type { DaemonsMachine } from './daemons-machine.fixture.ts';
import { createDatabaseQuotas } from './database-quotas.ts';
import {
  type DatabasesMachine,
  type DatabaseUser,
  EVERYTHING,
  LOOK,
  startDatabasesMachine,
} from './databases.fixture.ts';
import type { Databases } from './databases.ts';
import { createDatabaseServer } from './mariadb.ts';
import { textLiteral } from './sql.ts';

let here: DatabasesMachine;
let machine: DaemonsMachine;
let databases: Databases;
let folder: string;
let shop: DatabaseUser;
let blog: DatabaseUser;

beforeAll(async () => {
  here = await startDatabasesMachine();
  ({ machine, databases, folder, shop, blog } = here);
});

afterAll(() => machine.stop());

beforeEach(() => here.renew());

/** Queries the database from a website's PHP. */
async function php(
  user: { uid: number; gid: number },
  name: string,
  database: string,
  sql: string,
): Promise<string> {
  const program = `mysqli_report(MYSQLI_REPORT_OFF); $m = @new mysqli("localhost", $argv[1], "", $argv[2], 0, $argv[3]);
    if ($m->connect_error) exit($m->connect_error); $r = $m->query($argv[4]);
    echo $r === false ? $m->error : json_encode($r === true ? true : $r->fetch_all());`;
  const switched = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const args = [...switched, 'php', '-r', program, '--', name, database, machine.layout.mariadbSocket, sql];
  return (await runCommand('setpriv', args)).stdout;
}

describe('the server', () => {
  test('is not touched if it is right', async () => {
    const processes = async () =>
      (await machine.daemons.list()).map(({ name, state, pid }) => ({ name, state, pid }));
    const before = await processes();
    await here.server.ensure();
    expect(await processes()).toEqual(before);
  });

  test('restarts for a changed configuration', async () => {
    const { layout, daemons, log } = machine;
    const pool = async () => (await here.asRoot('SELECT @@innodb_buffer_pool_size DIV 1048576')).flat();
    await createDatabaseServer({ layout, daemons, log, memory: 4 * 1024 ** 3 }).ensure();
    expect(await pool()).toEqual(['512']);
    await createDatabaseServer({ layout, daemons, log, memory: 1024 ** 3 }).ensure();
    expect(await pool()).toEqual(['128']);
    await here.server.ensure();
  });

  test('records which release created or upgraded its tables', async () => {
    const known = join(machine.layout.mariadb, 'version');
    await writeFile(known, '10.0.1');
    await here.server.ensure();
    const [running = ''] = (await here.asRoot('SELECT VERSION()')).flat();
    expect(running.startsWith(`${await readFile(known, 'utf8')}-`)).toBe(true);
  });

  test('keeps written data after a crash', async () => {
    await databases.query('hp_shop', 'CREATE TABLE kept (id INT); INSERT INTO kept VALUES (1)');
    await machine.daemons.signal('mariadb', 'SIGKILL');
    await pause(50);
    await here.server.ensure();
    expect(await databases.query('hp_shop', 'SELECT * FROM kept')).toEqual([['1']]);
  });

  test('listens on no port, and no one can list its folder', async () => {
    expect(await here.asRoot('SELECT @@skip_networking, @@local_infile')).toEqual([['1', '0']]);
    const switched = [
      `--reuid=${shop.uid}`,
      `--regid=${shop.gid}`,
      '--clear-groups',
      'ls',
      machine.layout.mariadbRun,
    ];
    await expect(runCommand('setpriv', switched)).rejects.toThrow('Permission denied');
  });

  test('stores everything in InnoDB, for consistent snapshots', async () => {
    await databases.query('hp_shop', 'CREATE TABLE plugin (id INT) ENGINE = MyISAM');
    const engines = await here.asRoot(
      "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hp_shop'",
    );
    expect(engines).toEqual([['InnoDB']]);
  });
});

describe('limits of a website on the server', () => {
  const asked = async (sql: string) => php(shop, shop.name, 'hp_shop', sql);

  test('bound the memory of a session, even if it raises its settings', async () => {
    const names = [
      ...['max_session_mem_used', 'tmp_table_size', 'tmp_memory_table_size', 'max_heap_table_size'],
      ...['sort_buffer_size', 'join_buffer_size', 'join_buffer_space_limit', 'read_buffer_size'],
      ...['read_rnd_buffer_size', 'mrr_buffer_size', 'bulk_insert_buffer_size', 'group_concat_max_len'],
    ];
    const values = (scope: string) => `SELECT ${names.map((name) => `@@${scope}.${name}`).join()}`;
    const [limits = []] = await here.asRoot(values('GLOBAL'));
    const raised = names.map((name) => `SET SESSION ${name} = 1 << 40;`).join(' ');
    const greedy = `BEGIN NOT ATOMIC ${raised} ${values('SESSION')}; END`;
    expect(JSON.parse(await asked(greedy))).toEqual([limits]);
    const hoarding = `BEGIN NOT ATOMIC DECLARE i INT DEFAULT 0; WHILE i < 12 DO SET i = i + 1;
      EXECUTE IMMEDIATE CONCAT('SET @v', i, ' = REPEAT(''x'', 30000000)'); END WHILE; SELECT i; END`;
    expect(await asked(hoarding)).toContain('max-session-mem-used');
  });

  test('bound connections and statement time, of existing users too', async () => {
    const limits = () =>
      here.asRoot(
        `SELECT max_user_connections, max_statement_time FROM mysql.user WHERE User = ${textLiteral(shop.name)}`,
      );
    expect(await limits()).toEqual([['24', '300.000000']]);
    await here.asRoot(
      `ALTER USER \`${shop.name}\`@localhost WITH MAX_USER_CONNECTIONS 60 MAX_STATEMENT_TIME 0`,
    );
    await databases.create('hp_shop', shop.name);
    expect(await limits()).toEqual([['24', '300.000000']]);
    expect(await asked('SELECT @@max_statement_time')).toBe('[["300.000000"]]');
    expect(await databases.query('hp_shop', 'SELECT @@max_statement_time')).toEqual([['0.000000']]);
  });

  test('let it only read and delete while its database is too large', async () => {
    const mostBytes = 2 * 1024 * 1024;
    const { log } = machine;
    const quotas = createDatabaseQuotas({ databases, names: () => ['hp_shop', 'hp_blog'], mostBytes, log });
    const check = async () => {
      // Otherwise the server takes 10 s to notice.
      await here.asRoot('ANALYZE TABLE hp_shop.notes');
      await quotas.check();
    };
    await quotas.check();
    expect(await databases.stateOf('hp_shop', shop.name)).toBe('empty');
    const grow = `INSERT INTO notes SELECT REPEAT('x', 60000) FROM seq_1_to_60`;
    await databases.query('hp_shop', `CREATE TABLE notes (text MEDIUMTEXT); ${grow}`);
    await check();
    expect(await databases.stateOf('hp_shop', shop.name)).toBe('read-only');
    expect([...(await databases.readOnly())]).toEqual(['hp_shop']);
    for (const refused of [grow, "UPDATE notes SET text = ''", 'CREATE TABLE more (id INT)'])
      expect(await asked(refused)).toContain('denied');
    expect(await asked('SELECT COUNT(*) FROM notes')).toBe('[["60"]]');
    expect(await php(blog, blog.name, 'hp_blog', 'CREATE TABLE more (id INT)')).toBe('true');

    expect(await asked('TRUNCATE notes')).toBe('true');
    await check();
    expect(await databases.stateOf('hp_shop', shop.name)).toBe('whole');
    expect(await asked(grow)).toBe('true');
  });

  test('end a connection that would keep its rights, and take the content of a restore', async () => {
    await databases.create('hp_scratch', shop.name);
    for (const database of ['hp_shop', 'hp_scratch'])
      await databases.query(database, 'CREATE TABLE notes (id INT)');
    const held = asked('SELECT SLEEP(60)');
    const connections = async () =>
      (
        await here.asRoot(`SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = '${shop.name}'`)
      ).flat();
    await expect.poll(connections).toEqual(['1']);
    await databases.setReadOnly('hp_shop', true);
    expect(await held).not.toContain('[[');
    await databases.replaceTables('hp_scratch', 'hp_shop');
    expect(await databases.stateOf('hp_shop', shop.name)).toBe('whole');
    await databases.drop('hp_scratch', shop.name);
  });

  test('keep temporary tables out of the machine’s /tmp', async () => {
    const [[tmpdir = ''] = []] = await here.asRoot('SELECT @@tmpdir');
    expect(tmpdir).toBe(join(machine.layout.mariadb, 'tmp'));
    expect((await runCommand('stat', ['-c', '%a %U', tmpdir])).stdout).toBe('700 mysql\n');
  });
});

describe('a database', () => {
  test('is open to its own user without a password, and to no one else', async () => {
    expect(await php(shop, shop.name, 'hp_shop', 'SELECT CURRENT_USER()')).toBe(
      `[["${shop.name}@localhost"]]`,
    );
    expect(await php(blog, shop.name, 'hp_shop', 'SELECT 1')).toMatch(/^Access denied/);
    expect(await php(shop, shop.name, 'hp_blog', 'SELECT 1')).toMatch(/^Access denied/);
    expect(await php(shop, 'root', 'hp_shop', 'SELECT 1')).toMatch(/^Access denied/);
    expect(await php(shop, shop.name, 'hp_shop', 'SELECT * FROM mysql.global_priv')).toMatch(
      /command denied/,
    );
    expect(await php(shop, shop.name, 'hp_shop', 'SHOW DATABASES')).toBe(
      '[["hp_shop"],["information_schema"]]',
    );
    const reading = "SELECT LOAD_FILE('/etc/passwd')";
    expect(await php(shop, shop.name, 'hp_shop', reading)).toBe('[[null]]');
  });

  test('gives no rights on a database with a similar name', async () => {
    await databases.create('hp_a_b', shop.name);
    await databases.create('hp_axb', blog.name);
    expect(await php(shop, shop.name, 'hp_axb', 'SELECT 1')).toMatch(/^Access denied/);
    expect(await php(shop, shop.name, 'hp_a_b', 'SELECT 1')).toBe('[["1"]]');
    await databases.drop('hp_a_b', shop.name);
    await databases.drop('hp_axb', blog.name);
  });

  test('is created once, listed and dropped, and its user is dropped with the last one', async () => {
    await databases.create('hp_shop', shop.name);
    await databases.create('hp_more', shop.name);
    expect(await databases.list()).toEqual(['hp_blog', 'hp_more', 'hp_shop']);
    await databases.drop('hp_shop', shop.name);
    expect(await php(shop, shop.name, 'hp_more', 'SELECT 1')).toBe('[["1"]]');
    await databases.drop('hp_more', shop.name);
    await databases.drop('hp_more', shop.name);
    expect(await databases.list()).toEqual(['hp_blog']);
    expect(
      await here.asRoot(`SELECT User FROM mysql.global_priv WHERE User = ${textLiteral(shop.name)}`),
    ).toEqual([]);
    expect(await here.asRoot(`SELECT Db FROM mysql.db WHERE User = ${textLiteral(shop.name)}`)).toEqual([]);
  });

  test('refuses foreign names', async () => {
    for (const name of ['mysql', 'hp_', 'hp_A', 'hp_a`b', "hp_a';", 'hp_a.b', `hp_${'a'.repeat(51)}`]) {
      await expect(databases.create(name, shop.name)).rejects.toThrow('cannot be the name of a database');
      await expect(databases.drop(name, shop.name)).rejects.toThrow('cannot be the name of a database');
      await expect(databases.query(name, 'SELECT 1')).rejects.toThrow('cannot be the name of a database');
    }
    for (const user of ['root', 'mysql', 'a', 'a`b', '', 'A-b', 'x'.repeat(41)]) {
      await expect(databases.create('hp_x', user)).rejects.toThrow('cannot be the name of a user');
    }
    await expect(databases.query('hp_nothing', 'SELECT 1')).rejects.toThrow(
      'this host has no database hp_nothing',
    );
  });

  test('is queried as its user, so that a customer’s objects gain no rights', async () => {
    const [[secret = ''] = []] = await here.asRoot('SELECT COUNT(*) FROM mysql.global_priv');
    expect(Number(secret)).toBeGreaterThan(0);
    await databases.query(
      'hp_shop',
      `CREATE FUNCTION spy() RETURNS INT SQL SECURITY INVOKER RETURN (SELECT COUNT(*) FROM mysql.global_priv);
      CREATE SQL SECURITY INVOKER VIEW wp_options AS SELECT spy() AS option_value`,
    );
    await expect(databases.query('hp_shop', 'SELECT * FROM wp_options')).rejects.toThrow(/lack rights/);
  });

  test('returns text unchanged', async () => {
    const text = 'a\tb\nc\\d\'"`;\u0000 ü😀 \\n NULL';
    expect(await databases.query('hp_shop', `SELECT ${textLiteral(text)}, 1; SELECT NULL`)).toEqual([
      [text, '1'],
      ['NULL'],
    ]);
    expect(await databases.query('hp_shop', 'DO 1')).toEqual([]);
    await expect(databases.query('hp_shop', 'SELECT nothing')).rejects.toThrow(/Unknown column 'nothing'/);
  });
});

describe('a dump', () => {
  test('contains everything, and can be loaded for another user', async () => {
    await databases.query('hp_shop', EVERYTHING);
    const file = join(folder, 'everything.sql');
    expect(await databases.dump('hp_shop', file)).toEqual([]);
    await databases.query('hp_blog', 'CREATE TABLE old (id INT); CREATE VIEW older AS SELECT * FROM old');
    await databases.load('hp_blog', file);
    expect(await databases.query('hp_blog', LOOK)).toEqual(await databases.query('hp_shop', LOOK));
    expect(await here.definersIn('hp_blog')).toEqual([`${blog.name}@localhost`]);
    expect(
      await here.asRoot(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hp_blog' AND TABLE_NAME LIKE 'old%'",
      ),
    ).toEqual([]);
  });

  test('can contain rows of many megabytes', async () => {
    await databases.query('hp_shop', 'CREATE TABLE large (id INT PRIMARY KEY, content LONGBLOB)');
    await databases.query('hp_shop', `INSERT INTO large VALUES (1, X'${'ab'.repeat(15_000_000)}')`);
    const file = join(folder, 'large.sql');
    await databases.dump('hp_shop', file);
    await databases.load('hp_blog', file);
    expect(await databases.query('hp_blog', 'SELECT LENGTH(content) FROM large')).toEqual([['15000000']]);
  });

  test('is equal for equal databases, and readable by root only', async () => {
    await databases.query('hp_shop', EVERYTHING);
    const [one, two] = [join(folder, 'one.sql'), join(folder, 'two.sql')];
    await databases.dump('hp_shop', one);
    await databases.dump('hp_shop', two);
    expect(await readFile(one)).toEqual(await readFile(two));
    expect((await runCommand('stat', ['-c', '%a %u', one])).stdout).toBe('600 0\n');
  });

  test('leaves out broken views, and names them', async () => {
    await databases.query(
      'hp_shop',
      `${EVERYTHING}; CREATE TABLE gone (id INT); CREATE VIEW lost AS SELECT * FROM gone; DROP TABLE gone`,
    );
    const file = join(folder, 'lost.sql');
    expect(await databases.dump('hp_shop', file)).toEqual(['lost']);
    await databases.load('hp_blog', file);
    expect(await databases.query('hp_blog', 'SELECT * FROM doubled')).toEqual([['2'], ['4']]);
  });

  test('of a missing database leaves no file', async () => {
    await here.asRoot('DROP DATABASE hp_shop');
    await expect(databases.dump('hp_shop', join(folder, 'none.sql'))).rejects.toThrow(/Unknown database/);
    await expect(readFile(join(folder, 'none.sql'))).rejects.toThrow('ENOENT');
    await expect(readFile(join(folder, 'none.sql.part'))).rejects.toThrow('ENOENT');
  });

  test('leaves no file if interrupted', async () => {
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(databases.dump('hp_shop', join(folder, 'off.sql'), aborted)).rejects.toThrow('enough');
    await databases.query(
      'hp_shop',
      'CREATE TABLE big AS SELECT seq, REPEAT("x", 1000) AS t FROM seq_1_to_20000',
    );
    const soon = AbortSignal.timeout(60);
    await expect(databases.dump('hp_shop', join(folder, 'off.sql'), soon)).rejects.toThrow(/timeout/);
    await expect(readFile(join(folder, 'off.sql'))).rejects.toThrow('ENOENT');
  });

  test('of a stranger leaves no statement on the server after an abort, and has a time limit', async () => {
    const file = join(folder, 'slow.sql');
    await writeFile(
      file,
      'CREATE TABLE t (a DOUBLE);\nINSERT INTO t SELECT @@max_statement_time;\nCOMMIT;\nINSERT INTO t SELECT SLEEP(600);\n',
    );
    const sessions = async () =>
      (await here.asRoot("SELECT INFO FROM information_schema.PROCESSLIST WHERE USER = 'hp_shop'")).flat();
    const cancelled = new AbortController();
    const load = databases.loadForeign('hp_shop', file, { signal: cancelled.signal });
    await expect.poll(sessions).toEqual(['INSERT INTO t SELECT SLEEP(600)']);
    expect(await databases.query('hp_shop', 'SELECT a FROM t')).toEqual([['1800']]);
    cancelled.abort(new Error('cancelled'));
    await expect(load).rejects.toThrow('cancelled');
    await expect.poll(sessions).toEqual([]);
    expect(await here.asRoot("SELECT 1 FROM mysql.global_priv WHERE User = 'hp_shop'")).toEqual([]);
    await databases.drop('hp_shop', shop.name);
  });

  test('that is malicious can only harm its own database, and runs no programs', async () => {
    const file = join(folder, 'evil.sql');
    const marked = join('/tmp', `${machine.instance}-evil`);
    await writeFile(file, `\\! touch ${marked}\nSELECT 1;\n`);
    await expect(databases.load('hp_shop', file)).rejects.toThrow();
    await expect(readFile(marked)).rejects.toThrow('ENOENT');
    for (const evil of [
      'DROP TABLE hp_blog.t',
      'CREATE USER x@localhost',
      'SELECT * FROM mysql.global_priv',
      'CREATE DEFINER=`root`@`localhost` VIEW v AS SELECT 1',
      "SELECT 1 INTO OUTFILE '/tmp/x'",
    ]) {
      await writeFile(file, `${evil};\n`);
      await expect(databases.load('hp_shop', file)).rejects.toThrow(/denied/);
    }
  });
});
