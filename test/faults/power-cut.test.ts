import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, SQLITE_FILE } from '../../src/database/open.ts';
import { migratedPlace, silent, temporaryFolder } from '../database.ts';
import { onlyInLong, rounds } from '../rounds.ts';

const SYNCS = rounds(12, 400);

let place: Awaited<ReturnType<typeof migratedPlace>>;
let images: ReturnType<typeof temporaryFolder>;
let signal: unknown;
let complaint: string;
let lines: string[];
beforeAll(async () => {
  place = await migratedPlace();
  images = temporaryFolder();
  ({ signal, complaint, lines } = await writeUntilFault(place, images, SYNCS));
}, 120_000);
afterAll(async () => {
  await place.remove();
  images.remove();
});

/** Runs unsynced-writer.ts until it ends after so many syncs. `isHeard`: whether someone reads its errors once it writes. */
async function writeUntilFault(
  { settings: { dataDir } }: typeof place,
  { path }: typeof images,
  syncs: number,
  { isHeard = true, options = [] }: { isHeard?: boolean; options?: string[] } = {},
) {
  const program = join(import.meta.dirname, 'unsynced-writer.ts');
  const settings = JSON.stringify({ dataDir, images: path, syncs });
  const child = spawn(process.execPath, [...options, program, settings], {
    // A core file would be there.
    cwd: dataDir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complained = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    complained += part;
  });
  child.stdout.setEncoding('utf8').on('data', (part) => {
    printed += part;
    if (!isHeard) child.stderr.destroy();
  });
  const [, endedBy] = await once(child, 'close');
  return { signal: endedBy, complaint: complained, lines: printed.trim().split('\n') };
}

const written = (some: readonly string[]) =>
  some.filter((line) => line.startsWith('written ')).map((line) => line.slice('written '.length));

function accountsIn(dataDir: string): Set<unknown> {
  const connection = new Sqlite(join(dataDir, SQLITE_FILE));
  try {
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok');
    return new Set(connection.prepare('select id from accounts').pluck().all());
  } finally {
    connection.close();
  }
}

describe('SQLite, whose commits are synced outside the event loop', () => {
  it('has each acknowledged write after a power cut at any time', () => {
    let proved = 0;
    for (const image of readdirSync(images.path)) {
      const at = lines.indexOf(`synced ${image}`);
      if (at === -1) continue;
      const next = lines.findIndex((line, index) => index > at && line.startsWith('synced '));
      const acknowledged = written(lines.slice(0, next === -1 ? undefined : next));
      if (acknowledged.length === 0) continue;
      const present = accountsIn(join(images.path, image));
      expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
      proved++;
    }
    expect(proved).toBeGreaterThan(SYNCS / 2);
  });

  it('acknowledges nothing after a failed sync, and ends the process', () => {
    expect(signal).toBe('SIGKILL');
    expect(complaint).toMatch(
      /^homeport: The disk failed to store a change of .+ EIO: i\/o error, fdatasync\. /,
    );
    const last = lines.lastIndexOf(`synced ${SYNCS}`);
    const present = accountsIn(join(images.path, String(SYNCS)));
    for (const id of written(lines.slice(last))) expect(present).toContain(id);
  });

  onlyInLong(it)(
    'ends the process even if it can print nothing, and ignores its own signals as the first of a container',
    async () => {
      const [ownPlace, ownImages] = [await migratedPlace(), temporaryFolder()];
      try {
        const ignoring = 'data:text/javascript,process.kill=()=>true';
        const outcome = await writeUntilFault(ownPlace, ownImages, 2, {
          isHeard: false,
          options: ['--import', ignoring],
        });
        expect(outcome.signal).toBe('SIGABRT');
        const present = accountsIn(join(ownImages.path, '2'));
        const acknowledged = written(outcome.lines.slice(outcome.lines.lastIndexOf('synced 2')));
        expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
      } finally {
        await ownPlace.remove();
        ownImages.remove();
      }
    },
  );

  it('writes what is left of the log into the database at the next start', async () => {
    const database = openDatabase(place.settings, silent);
    const look = new Sqlite(join(place.settings.dataDir, SQLITE_FILE));
    const [state] = Object(look.pragma('wal_checkpoint(noop)'));
    expect(state.log).toBeGreaterThan(0);
    expect(state.checkpointed).toBe(state.log);
    const rows = await database.reader.selectFrom('accounts').select('id').execute();
    const present = new Set(rows.map(({ id }) => id));
    expect(written(lines).filter((id) => !present.has(id))).toEqual([]);
    look.close();
    await database.close();
  });
});
