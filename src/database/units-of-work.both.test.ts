import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import type { Queries, UnitHooks } from './database.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(({ queries }) => sql`create table notes (name text primary key)`.execute(queries));
});
beforeEach(() => database.write(({ queries }) => sql`delete from notes`.execute(queries)));
afterAll(() => database.remove());

const note = (queries: Queries, name: string) => sql`insert into notes values (${name})`.execute(queries);
const write = (name: string) => database.write(({ queries }) => note(queries, name));

async function notes(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from notes order by name`.execute(database.reader);
  return rows.map((row) => row.name);
}

function hooks(more: Partial<UnitHooks<unknown>> = {}): UnitHooks<unknown> {
  return { begin: async () => {}, end: async () => {}, interrupted: async () => {}, ...more };
}

it('commits the writes of the work and of both hooks together', async () => {
  const durable: string[] = [];
  const seen = await database.together(
    hooks({
      begin: async ({ queries }) => void (await note(queries, 'a begin')),
      end: async ({ queries }, result) => void (await note(queries, `z end of ${result}`)),
    }),
    async () => {
      await database.write(async (transaction) => {
        transaction.afterCommit(() => durable.push('one'));
        await note(transaction.queries, 'one');
      });
      await write('two');
      expect(durable).toEqual([]);
      return (await notes()).join();
    },
  );
  expect(seen).toBe('a begin,one,two');
  expect(durable).toEqual(['one']);
  expect(await notes()).toEqual(['a begin', 'one', 'two', `z end of ${seen}`]);
});

it('hides the changes from others until the end', async () => {
  const ended = Promise.withResolvers<void>();
  const readOutside = ended.promise.then(notes);
  const end = async () => {
    ended.resolve();
    expect(await readOutside).toEqual([]);
  };
  await database.together(hooks({ end }), () => write('one'));
  expect(await notes()).toEqual(['one']);
});

it('undoes everything if the work fails at the end', async () => {
  const failing = database.together(hooks(), async () => {
    await write('one');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await notes()).toEqual([]);
});

it('undoes one write of the work only if the work continues', async () => {
  await database.together(hooks(), async () => {
    await write('one');
    await expect(
      database.write(async ({ queries }) => {
        await note(queries, 'two');
        await note(queries, 'one');
      }),
    ).rejects.toThrow();
    await write('three');
  });
  expect(await notes()).toEqual(['one', 'three']);
});

it('writes nothing if the begin refuses, even if the work tries again', async () => {
  const refusing = hooks({
    begin: async () => {
      throw new Error('refused');
    },
  });
  const work = () => write('one').catch(() => write('two').catch(() => undefined));
  await expect(database.together(refusing, work)).rejects.toThrow('refused');
  expect(await notes()).toEqual([]);
});

it('runs both hooks for work without a write', async () => {
  await database.together(
    hooks({
      begin: async ({ queries }) => void (await note(queries, 'begin')),
      end: async ({ queries }) => void (await note(queries, 'end')),
    }),
    async () => 'nothing',
  );
  expect(await notes()).toEqual(['begin', 'end']);
});

it('commits early if the work waits for another writer, and notes a later failure', async () => {
  const marked: string[] = [];
  const failing = database.together(
    hooks({ interrupted: async ({ queries }) => void (await note(queries, 'interrupted')) }),
    async () => {
      await write('one');
      // On SQLite, this one waits for the unit's transaction.
      marked.push('waiting');
      await other.promise;
      throw new Error('late');
    },
  );
  const other = Promise.withResolvers<void>();
  while (marked.length === 0) await sleep(1);
  await write('other');
  other.resolve();
  await expect(failing).rejects.toThrow('late');
  // PostgreSQL has no single writer, so there the unit may be undone as a whole.
  const whole = ['interrupted', 'one', 'other'];
  const left = await notes();
  expect([whole, ...(database.dialect === 'postgres' ? [['other']] : [])]).toContainEqual(left);
});

it('leaves timers that outlive the unit outside of it', async () => {
  const late = Promise.withResolvers<void>();
  await database.together(hooks(), async () => {
    await write('one');
    setTimeout(() => write('late').then(() => late.resolve(), late.reject), 5);
  });
  await late.promise;
  expect(await notes()).toEqual(['late', 'one']);
});

it('commits early between the reads of the work, which see its changes before and after', async () => {
  const outside = AsyncLocalStorage.snapshot();
  await database.together(hooks(), async () => {
    await write('one');
    while ((await outside(notes)).length === 0) {
      const reads = Promise.all(Array.from({ length: 8 }, notes));
      await nextTurn();
      expect(new Set((await reads).flat())).toEqual(new Set(['one']));
    }
    expect(await notes()).toEqual(['one']);
    await write('two');
  });
  expect(await notes()).toEqual(['one', 'two']);
});
