import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { layPrepared } from '../../../../test/host/prepared.ts';
import { type DaemonsMachine, startDaemonsMachine } from './daemons-machine.fixture.ts';
import { createDatabases, type Databases } from './databases.ts';
import { createDatabaseServer } from './mariadb.ts';
import { runStatements } from './mariadb-client.ts';
import { textLiteral } from './sql.ts';

export interface DatabaseUser {
  name: string;
  uid: number;
  gid: number;
}

export type DatabasesMachine = Awaited<ReturnType<typeof startDatabasesMachine>>;

/** A test's own database server, with two Unix users for databases. */
export async function startDatabasesMachine({ isPrepared = false }: { isPrepared?: boolean } = {}) {
  const machine: DaemonsMachine = await startDaemonsMachine();
  const { layout, daemons, log } = machine;
  if (isPrepared) await layPrepared(layout, ['mariadb']);
  const server = createDatabaseServer({ layout, daemons, log });
  await server.ensure();
  const databases: Databases = createDatabases({ layout });
  /** A folder of root, for dumps. */
  const folder = join(layout.folder, 'dumps');
  await mkdir(folder, { mode: 0o700 });
  const [shop, blog] = await Promise.all([machine.newUser('shop'), machine.newUser('blog')]);
  const asRoot = (sql: string) => runStatements(layout.mariadbSocket, 'root', sql);

  return {
    machine,
    server,
    databases,
    folder,
    shop: shop satisfies DatabaseUser,
    blog: blog satisfies DatabaseUser,
    asRoot,
    /** `hp_shop` and `hp_blog`, empty. */
    async renew(): Promise<void> {
      await Promise.all(
        [['hp_shop', shop.name] as const, ['hp_blog', blog.name] as const].map(async ([database, user]) => {
          await databases.drop(database, user);
          await databases.create(database, user);
        }),
      );
    },
    /** Names of all tables, views and functions. */
    async thingsIn(database: string): Promise<string[]> {
      const schema = textLiteral(database);
      const rows =
        await asRoot(`SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${schema}
        UNION SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${schema} ORDER BY 1`);
      return rows.flat();
    },
    async definersIn(database: string): Promise<string[]> {
      const schema = textLiteral(database);
      const rows =
        await asRoot(`SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ${schema}
        UNION SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${schema}
        UNION SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ${schema}
        UNION SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ${schema}`);
      return rows.flat();
    },
  };
}

/** One of each object that a database can have, with names and values that are hard to escape. */
export const EVERYTHING = `
  CREATE TABLE parents (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(100)) ENGINE = MyISAM;
  CREATE TABLE children (id INT PRIMARY KEY, parent INT, CONSTRAINT known FOREIGN KEY (parent) REFERENCES parents (id));
  CREATE TABLE \`odd \`\` 'name' -- \\\\ ü\` (\`select\` BLOB, t TEXT);
  CREATE SEQUENCE numbers START WITH 5;
  INSERT INTO parents (name) VALUES ('a\\tb\\nc\\\\d'), (NULL), ('ü 😀');
  INSERT INTO children VALUES (1, 1), (2, 3);
  INSERT INTO \`odd \`\` 'name' -- \\\\ ü\` VALUES (X'00ff0a27', 'CREATE DEFINER=\`root\`@\`localhost\` PROCEDURE x');
  CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n;
  CREATE PROCEDURE fill() INSERT INTO children VALUES (9, 1);
  CREATE VIEW doubled AS SELECT twice(id) AS two FROM children;
  CREATE VIEW onto AS SELECT two + 1 AS three FROM doubled;
  CREATE TRIGGER shout BEFORE INSERT ON parents FOR EACH ROW SET NEW.name = CONCAT(NEW.name, '!');
  CREATE EVENT clean ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DO DELETE FROM children WHERE id = 77;
`;

/** Shows whether all of it exists and works. */
export const LOOK = `
  SELECT * FROM parents; SELECT * FROM children; SELECT HEX(\`select\`), t FROM \`odd \`\` 'name' -- \\\\ ü\`;
  SELECT * FROM onto; CALL fill(); INSERT INTO parents (name) VALUES ('new'); SELECT name FROM parents WHERE id = 4;
  SELECT COUNT(*) FROM children; SELECT NEXTVAL(numbers); SELECT EVENT_NAME FROM information_schema.EVENTS;
`;
