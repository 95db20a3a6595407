import { createHash } from 'node:crypto';
import { dropPrograms as dropAll, type ProgramKind, programsOf, triggersOf } from './database-programs.ts';
import { type OwnedDatabase, runStatements } from './mariadb-client.ts';
import { databaseName, identifier, textLiteral } from './sql.ts';

/** A website that holds a table lock must not block the server's own work for ever. */
const LOCK_TIMEOUT = 'SET SESSION lock_wait_timeout = 60';

/**
 * Implements {@link Databases.replaceTables}. Tables move in one RENAME TABLE, which is atomic. Views, triggers, functions and
 * events cannot be renamed: their definitions are saved before and run again afterwards. A separate database stores the
 * progress as the name of a table (`begun`, `moved`, `ended`), which changes in the same RENAME TABLE, so any interruption
 * leaves a known state. `ended` stays until {@link forgetReplacement}, so that a repeated call does not use the emptied
 * database as new content.
 */
export async function replaceTables(
  socket: string,
  from: OwnedDatabase,
  to: OwnedDatabase,
  tables: readonly string[] | null = null,
): Promise<void> {
  const asRoot = (...statements: string[]) =>
    runStatements(socket, 'root', [LOCK_TIMEOUT, ...statements].join(';\n'));
  const { progress, aside } = namesFor(from.database);
  const source = databaseName(from.database);
  const target = databaseName(to.database);

  async function begin(): Promise<void> {
    const [mine, theirs] = await Promise.all([savedPrograms(from), savedPrograms(to)]);
    await asRoot(
      `DROP DATABASE IF EXISTS ${aside}`,
      `CREATE DATABASE ${aside}`,
      `CREATE DATABASE IF NOT EXISTS ${progress}`,
      `CREATE OR REPLACE TABLE ${progress}.begun (mine LONGTEXT, theirs LONGTEXT)
         ENGINE = InnoDB CHARACTER SET utf8mb4 AS
         SELECT ${textLiteral(mine)} AS mine, ${textLiteral(theirs)} AS theirs`,
    );
  }

  async function savedPrograms(owned: OwnedDatabase): Promise<string> {
    if (tables === null) return programsOf(socket, owned);
    return triggersOf(socket, owned, await namesOf(owned.database));
  }

  async function move(): Promise<void> {
    const present = (await namesOf(to.database)).map(identifier);
    const coming = (await namesOf(from.database)).map(identifier);
    await asRoot(...(await dropPrograms(from.database, ['TRIGGER'])), ...(await dropPrograms(to.database)));
    const moves = [
      ...present.map((table) => [`${target}.${table}`, `${aside}.${table}`]),
      ...coming.map((table) => [`${source}.${table}`, `${target}.${table}`]),
      [`${progress}.begun`, `${progress}.moved`],
    ];
    await asRoot(`RENAME TABLE ${moves.map((names) => names.join(' TO ')).join(', ')}`);
  }

  async function rollBack(): Promise<void> {
    const [[mine = '', theirs = ''] = []] = await asRoot(`SELECT mine, theirs FROM ${progress}.begun`);
    await asRoot(...(await dropPrograms(from.database)), ...(await dropPrograms(to.database)));
    await runPrograms(from, mine);
    await runPrograms(to, theirs);
    await asRoot(forgetReplacement(from.database));
  }

  async function end(): Promise<void> {
    const [[programs = ''] = []] = await asRoot(`SELECT mine FROM ${progress}.moved`);
    await asRoot(...(await dropPrograms(to.database)), ...(await dropPrograms(from.database)));
    await runPrograms(to, programs);
    await asRoot(`RENAME TABLE ${progress}.moved TO ${progress}.ended`, `DROP DATABASE IF EXISTS ${aside}`);
  }

  /** The tables to move. */
  async function namesOf(database: string): Promise<string[]> {
    const rows = await asRoot(
      `SELECT TABLE_NAME FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE <> 'VIEW' ORDER BY TABLE_NAME`,
    );
    return rows.flat().filter((name) => tables?.includes(name) ?? true);
  }

  async function dropPrograms(database: string, kinds?: ProgramKind[]): Promise<string[]> {
    if (tables !== null && database === to.database) return dropTriggers(database, tables);
    return dropAll(socket, database, kinds);
  }

  /** The triggers of some tables. All other programs stay with the tables that stay. */
  async function dropTriggers(database: string, of: readonly string[]): Promise<string[]> {
    const rows = await asRoot(
      `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
        WHERE TRIGGER_SCHEMA = ${textLiteral(database)} AND EVENT_OBJECT_TABLE IN (${of.map(textLiteral).join(', ')})`,
    );
    return rows.flat().map((name) => `DROP TRIGGER IF EXISTS ${databaseName(database)}.${identifier(name)}`);
  }

  async function runPrograms({ database, owner }: OwnedDatabase, programs: string): Promise<void> {
    await runStatements(socket, owner, programs, { database });
  }

  const stage = (await asRoot(progressOf(progress))).flat();
  if (stage.includes('ended')) return;
  if (!stage.includes('moved')) {
    if (!stage.includes('begun')) await begin();
    try {
      await move();
    } catch (error) {
      await rollBack();
      throw error;
    }
  }
  await end();
}

/** Statements for root to run when `from` gets new content or is dropped. */
export function forgetReplacement(from: string): string {
  const { progress, aside } = namesFor(from);
  return `DROP DATABASE IF EXISTS ${aside}; DROP DATABASE IF EXISTS ${progress}`;
}

/** The database of the progress, and the one for the replaced tables. */
function namesFor(from: string): { progress: string; aside: string } {
  const hash = createHash('sha256').update(from).digest('hex').slice(0, 16);
  return { progress: databaseName(`hp_exchange_${hash}`), aside: databaseName(`hp_replaced_${hash}`) };
}

function progressOf(progress: string): string {
  const schema = textLiteral(progress.slice(1, -1));
  return `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${schema}`;
}
