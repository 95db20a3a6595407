import { describe, expect, it } from 'vitest';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import { firstContentSql, templateStatements, undoFill } from './first-content.ts';

const DUMP = `/*M!999999\\- enable the sandbox mode */
-- MariaDB dump 10.19
/*!40101 SET NAMES utf8mb4 */;

--
-- Table structure for table \`wp_options\`
--

DROP TABLE IF EXISTS \`wp_options\`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE \`wp_options\` (
  \`option_name\` varchar(191) NOT NULL
) ENGINE=InnoDB;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES \`wp_options\` WRITE;
/*!40000 ALTER TABLE \`wp_options\` DISABLE KEYS */;
INSERT INTO \`wp_options\` VALUES
(1,'siteurl','${PLACEHOLDER.origin}','yes'),
(2,'text','LOCK TABLES;\\n-- no comment','yes'),
(3,'admin_email','${PLACEHOLDER.email}','yes'),
(4,'blogname','${PLACEHOLDER.title}','yes');
/*!40000 ALTER TABLE \`wp_options\` ENABLE KEYS */;
UNLOCK TABLES;
CREATE TABLE \`wp_users\` (
  \`ID\` int
);
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
-- Dump completed
`;

describe('templateStatements', () => {
  it('has the tables first, then all rows in one transaction', () => {
    expect(templateStatements(DUMP)).toBe(`/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE \`wp_options\` (
  \`option_name\` varchar(191) NOT NULL
) ENGINE=InnoDB;
CREATE TABLE \`wp_users\` (
  \`ID\` int
);
START TRANSACTION;
INSERT INTO \`wp_options\` VALUES
(1,'siteurl','${PLACEHOLDER.origin}','yes'),
(2,'text','LOCK TABLES;\\n-- no comment','yes'),
(3,'admin_email','${PLACEHOLDER.email}','yes'),
(4,'blogname','${PLACEHOLDER.title}','yes');
`);
  });

  it('refuses a placeholder that could not be replaced', () => {
    const row = (value: string) => DUMP.replace('LOCK TABLES;\\n-- no comment', value);
    const serialised = `a:1:{s:1:\\"u\\";s:36:\\"${PLACEHOLDER.origin}/feed\\";}`;
    expect(() => templateStatements(row(serialised))).toThrow(/serialised value/);
    expect(() => templateStatements(row(`s:9:\\"${PLACEHOLDER.title}\\";`))).toThrow(/serialised value/);
    expect(() => templateStatements(row(`@${PLACEHOLDER.hostname}`))).toThrow(/a form other/);
  });
});

describe('firstContentSql', () => {
  const content = {
    origin: 'https://shop.test',
    email: "o'neil@shop.test",
    title: `It's "1 < 2" & \\`,
    passwordHash: '$P$hash',
    now: new Date('2026-02-03T04:05:06.789Z'),
  };
  const sql = firstContentSql(templateStatements(DUMP), content);

  it('has what is the website’s own, whatever is in it', () => {
    expect(sql).toContain("(1,'siteurl','https://shop.test','yes')");
    expect(sql).toContain("'admin_email','o\\'neil@shop.test'");
    expect(sql).toContain("'blogname','It&#039;s &quot;1 &lt; 2&quot; &amp; \\\\'");
    expect(sql).not.toContain('homeport');
  });

  it('ends the transaction with the password and the time', () => {
    const hex = (text: string) => Buffer.from(text).toString('hex');
    expect(sql).toContain(`UPDATE wp_users SET user_pass = _utf8mb4 X'${hex('$P$hash')}'`);
    expect(sql).toContain(`X'${hex('2026-02-03 04:05:06')}'`);
    expect(sql.trimEnd().split('\n').at(-1)).toBe('COMMIT;');
  });

  it('can be undone', () => {
    expect(undoFill(templateStatements(DUMP))).toBe('DROP TABLE IF EXISTS `wp_options`, `wp_users`;\n');
  });
});
