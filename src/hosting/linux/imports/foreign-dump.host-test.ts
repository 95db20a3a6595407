import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { SCRIPTS } from './unpacker.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'dump-'));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

/** The rewritten SQL, or the reason of a refusal. */
function rewrite(sql: string | Buffer, { bytes = 0, format = '' } = {}): string {
  const file = join(folder, `dump-${made++}.sql`);
  writeFileSync(file, sql);
  const { status, stdout, stderr } = spawnSync(
    'php',
    [join(SCRIPTS, 'import-sql.php'), file, `${bytes}`, format],
    {
      encoding: 'utf8',
    },
  );
  expect([0, 3]).toContain(status);
  return status === 0 ? stdout : stderr;
}

describe('a foreign dump', () => {
  test('keeps its rows, and loses the database, its definers and the settings of its server', () => {
    const rows = String.raw`(1,'it''s; -- no \'comment\'',"a\"b; /* c */ # d"),(-2,'\\','é')`;
    const text = rewrite(`/*M!999999\\- enable the sandbox mode */
-- MySQL dump; it's a comment
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
CREATE DATABASE /*!32312 IF NOT EXISTS*/ \`old\`; USE \`old\`;
CREATE TABLE \`old\`.\`t\` ( # note; '
  \`a\` varchar(9) COLLATE utf8mb4_0900_ai_ci) ENGINE=MyISAM COLLATE=utf8mb4_uca1400_ai_ci;
LOCK TABLES t WRITE;
INSERT INTO \`t\` VALUES ${rows};
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = ';'; END */;;
DELIMITER ;
/*!50013 CREATE DEFINER=\`root\`@\`%\` SQL SECURITY DEFINER VIEW v AS SELECT 1 */;
`);
    expect(text).toContain(`INSERT INTO \`t\` VALUES ${rows};\n`);
    expect(text).toContain('CREATE TABLE `t`');
    expect(text).toContain("SET NEW.a = ';'; END */;;\nDELIMITER ;");
    expect(text).toContain("time_zone = '+00:00'");
    expect(text.match(/utf8mb4_unicode_520_ci/g)).toHaveLength(2);
    expect(text).not.toMatch(/DEFINER=|GTID|LOCK TABLES|CREATE DATABASE|USE |comment;|note/);
  });

  test('keeps names and numbers with points, and triggers on its own tables', () => {
    const statements = [
      "INSERT INTO `wp_php_options` (`a`, `b.c`) VALUES (1.5,-.5,2e3,\\N,'x.y; \\\\u -- z',0x2e)",
      'CREATE VIEW v AS select `t`.`a` AS `a` from `t` where (`t`.`a` > 1.0)',
    ];
    const text = rewrite(`CREATE TABLE t (a DECIMAL(4,2) DEFAULT 1.50);\n${statements.join(';\n')};\n`);
    for (const statement of statements) expect(text).toContain(`${statement};\n`);
    expect(
      rewrite(
        'CREATE TABLE t (a INT);\nDELIMITER ;;\nCREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1;;\n',
      ),
    ).toContain('SET NEW.a = 1;;');
  });

  test('keeps generated columns, the mode of programs and sequences', () => {
    const insert = 'INSERT INTO `t` VALUES (1,2)';
    const text = rewrite(`CREATE TABLE \`t\` (a INT, b INT GENERATED ALWAYS AS (\`a\` + 1) STORED);
${insert};
DO SETVAL(\`s\`, 5, 0);
/*!50003 SET sql_mode = 'NO_ZERO_DATE,NO_AUTO_CREATE_USER' */ ;
CREATE PROCEDURE p() SELECT 1;
`);
    expect(text).toContain(`SET STATEMENT sql_mode = 'NO_AUTO_VALUE_ON_ZERO' FOR ${insert};`);
    expect(text).toContain('DO SETVAL(`s`, 5, 0);');
    expect(text).toContain("sql_mode = 'NO_ZERO_DATE';\nDELIMITER ;;\nCREATE PROCEDURE");
  });

  test('of All-in-One WP Migration gets a table prefix, and others keep such a text', () => {
    const sql = "CREATE TABLE `SERVMASK_PREFIX_options` (a INT) COMMENT='SERVMASK_PREFIX_x';";
    expect(rewrite(sql, { format: 'wpress' })).toContain("`wp_options` (a INT) COMMENT='wp_x'");
    expect(rewrite(sql)).toContain("COMMENT='SERVMASK_PREFIX_x'");
  });

  test('in latin1 stays so, unless its texts are UTF-8', () => {
    const table =
      'SET NAMES latin1;\nCREATE TABLE t (a TEXT) DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;\n';
    const real = Buffer.from(`${table}INSERT INTO t VALUES ('\xfc');`, 'latin1');
    expect(rewrite(real)).toContain('SET NAMES latin1');
    const mislabelled = rewrite(`${table}INSERT INTO t VALUES ('ü');`);
    expect(mislabelled).toContain("VALUES ('ü')");
    expect(mislabelled).not.toContain('latin1');
  });

  test.each([
    ['two databases', 'USE a; USE b; CREATE TABLE t (a INT);', 'several databases: "a", and "b"'],
    ['rows for another database', 'USE a; INSERT INTO b.t VALUES (1);', 'several databases'],
    ['LOAD DATA', "LOAD DATA INFILE '/etc/passwd' INTO TABLE t;", 'LOAD DATA'],
    ['rights', 'GRANT ALL ON *.* TO x;', 'GRANT'],
    ['a query', "SELECT 1 INTO OUTFILE 'x';", 'SELECT'],
    ['a command of the client', 'CREATE TABLE t (a INT);\n\\! ls', 'backslash'],
    [
      'a change of the database within',
      'CREATE TABLE t (a INT); INSERT INTO t VALUES (1) \\u hp_x\n;',
      'backslash',
    ],
    ['a backslash in a name', 'CREATE TABLE `t\\` (a INT);', 'backslash'],
    [
      'two statements in one',
      'DELIMITER ;;\nINSERT INTO t VALUES (1); DROP TABLE wp_posts;;',
      'several statements',
    ],
    [
      'another delimiter within',
      'INSERT INTO t VALUES (1) delimiter |\nuse hp_x|\nDROP TABLE wp_posts|;',
      'command of the client',
    ],
    [
      'a comment that ends in a text',
      "DROP TABLE t /*!80000 '*/ , hp_x.wp_posts /*!80000 ' */;",
      'end of a comment',
    ],
    ['a comment by a control character', "DROP TABLE t --\x01 '\n, hp_x.b -- ';", 'characters that cannot'],
    ['an encoding with quotes in characters', 'SET NAMES gbk; CREATE TABLE t (a INT);', 'encoding gbk'],
    ['an end within a text', "CREATE TABLE t (a INT); INSERT INTO t VALUES ('x", 'incomplete'],
    ['no tables', 'SET NAMES utf8mb4;', 'no table'],
    ['another dialect', "SET SQL_MODE='ANSI'; CREATE TABLE t (a INT);", 'without --compatible'],
    ['UTF-16', Buffer.from('\ufeffCREATE TABLE t (a INT);', 'utf16le'), 'UTF-16'],
    ['no encoding', 'SET NAMES binary; CREATE TABLE t (a INT);', 'SET NAMES binary'],
  ])('is refused for %s', (_name, sql, reason) => {
    expect(rewrite(sql)).toContain(reason);
  });

  test('is refused if it is too long', () => {
    expect(
      rewrite(`CREATE TABLE t (a INT);${'INSERT INTO t VALUES (1);'.repeat(100)}`, { bytes: 500 }),
    ).toContain('more bytes');
    const bomb = gzipSync(`CREATE TABLE t (a INT); -- ${' '.repeat(80 << 20)}`);
    expect(rewrite(bomb)).toContain('200 times');
  });

  test('in latin1 is read no further than a bomb may be long', () => {
    const begin = gzipSync('SET NAMES latin1; CREATE TABLE t (a INT); -- ');
    const spaces = gzipSync(Buffer.alloc(64 << 20, ' '));
    const bomb = Buffer.concat([begin, ...Array.from({ length: 12 }, () => spaces)]);
    const [file, small] = ['bomb.sql.gz', 'small.sql.gz'].map((name) => join(folder, name));
    writeFileSync(file ?? '', bomb);
    writeFileSync(small ?? '', begin);
    // The kernel counts what ended children have read, too.
    const readFor = (path = '') => {
      const script = '"$@" > /dev/null 2>&1; read -r _ bytes < /proc/$$/io; echo "$bytes"';
      const php = ['php', join(SCRIPTS, 'import-sql.php'), path, '0', ''];
      return Number(execFileSync('sh', ['-c', script, 'sh', ...php], { encoding: 'utf8' }));
    };
    expect(readFor(file) - readFor(small)).toBeLessThan(bomb.length / 2);
    expect(rewrite(bomb)).toContain('200 times');
  });
});
