import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Layout, layoutOf } from '../host-folder/layout.ts';
import { adoptDatabase, announceDatabase } from './adopted-database.ts';

const ID = '0198a0e0-0000-7000-8000-000000000001';
let folder: string;
let layout: Layout;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'adopted-'));
  layout = layoutOf(folder);
});
afterEach(() => rm(folder, { recursive: true }));

const inside = () => join(layout.filesOf(ID), '.private/database');

/** Makes a folder with a database of that content. */
async function put(path: string, content: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'wordpress.sqlite'), content);
}

/** The content of the database, and what else is in the folders around it. */
async function state() {
  const names = await readdir(layout.installOf(ID));
  return {
    database: await readFile(join(layout.databaseOf(ID), 'wordpress.sqlite'), 'utf8'),
    names: names.sort(),
    private: await readdir(join(layout.filesOf(ID), '.private')),
  };
}
const adopted = (database: string) => ({ database, names: ['database', 'files'], private: [] });

test('a database of an earlier version leaves the document root, once', async () => {
  await put(inside(), 'live');
  await writeFile(join(inside(), 'wordpress.sqlite-journal'), 'open');
  await adoptDatabase(layout, ID);
  expect(await state()).toEqual(adopted('live'));
  expect(await readFile(join(layout.databaseOf(ID), 'wordpress.sqlite-journal'), 'utf8')).toBe('open');
  await adoptDatabase(layout, ID);
  expect(await state()).toEqual(adopted('live'));
});

test('a folder that the owner put into the document root replaces nothing', async () => {
  await put(layout.databaseOf(ID), 'live');
  await put(inside(), 'uploaded');
  await adoptDatabase(layout, ID);
  expect(await state()).toEqual({ ...adopted('live'), private: ['database'] });
});

const former = () => join(layout.installOf(ID), '.former-database');
/** How far a killed process can have come with a restored database. */
const interruptions: Record<string, () => Promise<unknown>> = {
  'before it began': async () => {},
  'after the present one was put aside': () => rename(layout.databaseOf(ID), former()),
  'after the restored one was put in place': async () => {
    await rename(layout.databaseOf(ID), former());
    await rename(inside(), layout.databaseOf(ID));
  },
  'after the present one was removed': async () => {
    await rm(layout.databaseOf(ID), { recursive: true });
    await rename(inside(), layout.databaseOf(ID));
  },
};
test.each(Object.entries(interruptions))(
  'a restored database replaces the present one: %s',
  async (_when, interrupt) => {
    await put(layout.databaseOf(ID), 'live');
    await put(inside(), 'restored');
    await announceDatabase(layout.filesOf(ID), inside());
    await interrupt();
    await adoptDatabase(layout, ID);
    expect(await state()).toEqual(adopted('restored'));
  },
);

test('a restore that was announced and not made leaves the present one', async () => {
  await put(layout.databaseOf(ID), 'live');
  await mkdir(join(layout.filesOf(ID), '.private'), { recursive: true });
  const next = join(folder, 'next');
  await put(next, 'restored');
  await announceDatabase(layout.filesOf(ID), next);
  await adoptDatabase(layout, ID);
  expect(await state()).toEqual(adopted('live'));
  await put(inside(), 'uploaded');
  await announceDatabase(layout.filesOf(ID), next);
  await adoptDatabase(layout, ID);
  expect(await state()).toEqual({ ...adopted('live'), private: ['database'] });
});

test('no link is followed, and none takes the place of the database', async () => {
  await put(join(folder, 'other'), 'of another website');
  await mkdir(layout.filesOf(ID), { recursive: true });
  await symlink(join(folder, 'other'), join(layout.filesOf(ID), '.private'));
  await adoptDatabase(layout, ID);
  await rm(join(layout.filesOf(ID), '.private'));
  await mkdir(join(layout.filesOf(ID), '.private'));
  await symlink(join(folder, 'other'), inside());
  await adoptDatabase(layout, ID);
  expect(await readdir(layout.installOf(ID))).toEqual(['files']);
  expect(await readdir(join(folder, 'other'))).toEqual(['wordpress.sqlite']);
});
