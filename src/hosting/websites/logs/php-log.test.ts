import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import type { PhpEntry } from '../../contract/logs.ts';
import { type LinuxLayout, linuxLayout } from '../../linux/machine/layout.ts';
import { linuxRecords } from '../../runtime/linux/linux-runtime.ts';
import type { Records } from '../../runtime/runtime.ts';
import { wasmRecords } from '../../runtime/wasm/wasm-runtime.ts';
import { parsePhpLog } from './php-entries.ts';
import { createPhpLogReader } from './php-log-reader.ts';

const ID = '0b6f3c1a-8d52-4f7e-9a10-2c3d4e5f6071';
const clock = manualClock(new Date('2026-03-10T10:00:00.000Z'));

let place: ReturnType<typeof temporaryFolder>;
let layout: LinuxLayout;
let file: string;
let entries: PhpEntry[];

beforeEach(async () => {
  place = temporaryFolder();
  layout = linuxLayout(place.path, place.path);
  for (const folder of [layout.privateOf(ID), layout.logsOf(ID)]) await mkdir(folder, { recursive: true });
  file = join(layout.privateOf(ID), 'php-error.log');
  entries = [];
});
afterEach(() => place.remove());

/** A reader as after a start of the host. */
function reader(records: Records = linuxRecords(layout, ID)) {
  return createPhpLogReader({
    recordsOf: () => records,
    clock,
    logs: {
      async append(_kind, _install, added: readonly object[]) {
        for (const entry of added) if (isMessage(entry)) entries.push(entry);
      },
    },
  });
}

const isMessage = (entry: object): entry is PhpEntry => 'message' in entry;

const parse = (text: string, options: Partial<Parameters<typeof parsePhpLog>[1]> = {}) =>
  parsePhpLog(Buffer.from(text), { after: 0, now: clock.now().getTime(), isEnd: true, ...options });
const messages = () => entries.map(({ message }) => message);

test('a message with several lines is one entry', () => {
  const text =
    '[10-Mar-2026 09:00:00 UTC] PHP Fatal error:  Uncaught Exception: no in /x.php:3\nStack trace:\n#0 {main}\n  thrown in /x.php on line 3\n' +
    '[10-Mar-2026 09:00:01 UTC] PHP Warning:  foo\n[10-Mar-2026 09:00:02 UTC] own words\n';
  expect(parse(text).entries).toEqual([
    {
      time: '2026-03-10T09:00:00.000Z',
      level: 'error',
      message:
        'PHP Fatal error:  Uncaught Exception: no in /x.php:3\nStack trace:\n#0 {main}\n  thrown in /x.php on line 3',
    },
    { time: '2026-03-10T09:00:01.000Z', level: 'warning', message: 'PHP Warning:  foo' },
    { time: '2026-03-10T09:00:02.000Z', level: 'message', message: 'own words' },
  ]);
});

test('times never fall, and are never in the future', () => {
  const stamp = (time: string, zone = 'UTC') => `[${time} ${zone}] x\n`;
  const text = [
    stamp('10-Mar-2026 09:00:00'),
    stamp('01-Jan-1999 00:00:00'),
    stamp('01-Jan-2099 00:00:00'),
    stamp('10-Mar-2026 09:30:00', 'Europe/Berlin'),
  ].join('');
  expect(parse(text).entries.map(({ time }) => time)).toEqual([
    '2026-03-10T09:00:00.000Z',
    '2026-03-10T09:00:00.000Z',
    '2026-03-10T10:00:00.000Z',
    '2026-03-10T10:00:00.000Z',
  ]);
});

test('a message that may continue is left for the next reading', () => {
  const first = '[10-Mar-2026 09:00:00 UTC] one\n';
  const second = '[10-Mar-2026 09:00:01 UTC] two\nmore';
  expect(parse(first + second, { isEnd: false })).toMatchObject({
    entries: [{ message: 'one' }],
    bytes: first.length,
  });
  expect(parse(first + second)).toMatchObject({ entries: [{ message: 'one' }, { message: 'two' }] });
});

test('each message is read once, over restarts and rotations', async () => {
  let current = reader();
  await current.read(ID);
  await writeFile(file, '[10-Mar-2026 09:00:00 UTC] one\n');
  await current.read(ID);
  await current.read(ID);
  await appendFile(file, '[10-Mar-2026 09:00:01 UTC] two\n');
  current = reader();
  await current.read(ID);
  await appendFile(file, '[10-Mar-2026 09:00:02 UTC] three\n');
  await rename(file, `${file}.1`);
  await writeFile(file, '[10-Mar-2026 09:00:03 UTC] four\n');
  await current.read(ID);
  await current.read(ID);
  expect(messages()).toEqual(['one', 'two', 'three', 'four']);
  // The customer emptied the log.
  await writeFile(file, '[10-Mar-2026 09:00:04 UTC] 5\n');
  await current.read(ID);
  expect(messages().at(-1)).toBe('5');
});

test('a restored log brings no message again', async () => {
  const before = '[10-Mar-2026 07:00:00 UTC] one\n[10-Mar-2026 08:00:00 UTC] two\n';
  await writeFile(file, before);
  await reader().read(ID);
  await appendFile(file, '[10-Mar-2026 09:00:00 UTC] three\n');
  await reader().read(ID);
  await writeFile(`${file}.restored`, before);
  await rename(`${file}.restored`, file);
  await reader().read(ID);
  expect(messages()).toEqual(['one', 'two', 'three']);
  await appendFile(file, '[10-Mar-2026 09:59:00 UTC] four\n');
  await reader().read(ID);
  expect(messages()).toEqual(['one', 'two', 'three', 'four']);
});

test('readings at once copy each message once', async () => {
  const current = reader();
  await writeFile(file, '[10-Mar-2026 09:00:00 UTC] one\n');
  await Promise.all([current.read(ID), current.read(ID), current.read(ID)]);
  expect(messages()).toEqual(['one']);
});

test('too many messages are left out, with a note', async () => {
  await writeFile(file, `[10-Mar-2026 09:00:00 UTC] ${'x'.repeat(100)}\n`.repeat(60_000));
  await reader().read(ID);
  expect(entries[0]?.message).toMatch(/^\d+ bytes of the log are left out/);
  expect(entries.length).toBeLessThan(12_000);
});

test.each([
  ['Linux', () => linuxRecords(layout, ID)],
  [
    'WebAssembly',
    () => wasmRecords({ root: place.path, private: layout.privateOf(ID), logs: layout.logsOf(ID) }),
  ],
])('neither a link nor a pipe nor a folder in its place is read (%s)', async (_runtime, recordsOf) => {
  const readAll = () => reader(recordsOf()).read(ID);
  await writeFile(join(place.path, 'secret'), '[10-Mar-2026 09:00:00 UTC] secret\n');
  await symlink(join(place.path, 'secret'), file);
  await readAll();
  await rm(file);
  execFileSync('mkfifo', [file]);
  await readAll();
  await rm(file);
  await mkdir(file);
  await readAll();
  expect(entries).toEqual([]);
});

test('a link in the place of the private folder leads to no other website', async () => {
  const root = join(place.path, 'website');
  await mkdir(root);
  await symlink(layout.privateOf(ID), join(root, '.private'));
  await writeFile(file, '[10-Mar-2026 09:00:00 UTC] secret\n');
  const records = wasmRecords({ root, private: join(root, '.private'), logs: layout.logsOf(ID) });
  await reader(records).read(ID);
  expect(entries).toEqual([]);
});
