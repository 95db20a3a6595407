import { execFileSync } from 'node:child_process';
import { fdatasyncSync, mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { SQLITE_FILE } from '../../src/database/open.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { silent } from '../database.ts';

/**
 * The process of power-cut.test.ts: it writes accounts into a current database until a sync fails. Each sync first copies the database as a power cut would leave it
 * afterwards. Prints a line for each completed sync and each acknowledged write, in order. Its settings are its only argument, in JSON.
 */
const { dataDir, images, syncs } = Parse(
  Type.Object({ dataDir: Type.String(), images: Type.String(), syncs: Type.Integer() }),
  JSON.parse(process.argv[2] ?? ''),
);
const file = join(dataDir, SQLITE_FILE);
const print = (line: string) => writeSync(1, `${line}\n`);
const turn = () => new Promise((resolve) => setTimeout(resolve, 2));

let begun = 0;
const syncFile = async (descriptor: number) => {
  begun++;
  const image = join(images, String(begun));
  mkdirSync(image);
  // Another process, because closing the file in this one would release SQLite's locks.
  execFileSync('cp', ['--', `${file}-wal`, file, image], { stdio: 'ignore' });
  // Writes that come in meanwhile must wait for the next sync.
  await turn();
  if (begun > syncs) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  fdatasyncSync(descriptor);
  print(`synced ${begun}`);
};
const database = openSqlite(file, silent, { disk: { syncFile } });

async function write(): Promise<void> {
  for (;;) {
    const id = crypto.randomUUID();
    await database.write(({ queries }) =>
      queries
        .insertInto('accounts')
        .values({ id, name: 'Written', created_at: new Date().toISOString() })
        .execute(),
    );
    print(`written ${id}`);
    await turn();
  }
}
await Promise.all(Array.from({ length: 4 }, write));
