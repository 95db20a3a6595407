import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { USAGE_PAGE } from '../../contract/usage.ts';
import { CLOSE_AFTER_MS, createUsageLedger, type UsageLedger } from './ledger.ts';

const INSTALL = '0b8f7f4e-8f0f-4f5a-9a51-6d2f3c1d0001';
const OTHER = '0b8f7f4e-8f0f-4f5a-9a51-6d2f3c1d0002';

let folder: string;
let clock: ReturnType<typeof manualClock>;
let lines: string[];
const ledgers: UsageLedger[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-usage-'));
  clock = manualClock(new Date('2026-03-01T12:00:00Z'));
  lines = [];
});
afterEach(async () => {
  for (const ledger of ledgers.splice(0)) await ledger.stop();
  rmSync(folder, { recursive: true });
});

function openLedger(): UsageLedger {
  const ledger = createUsageLedger({
    file: join(folder, 'usage.sqlite'),
    clock,
    log: pino({}, { write: (line: string) => lines.push(line) }),
    flushMs: HOUR_MS,
  });
  ledger.start();
  ledgers.push(ledger);
  return ledger;
}

async function closeAll(): Promise<void> {
  for (const ledger of ledgers.splice(0)) await ledger.stop();
}

function visit(ledger: UsageLedger, visitor: string, { install = INSTALL, bytes = 100 } = {}): void {
  ledger.count(install, clock.now().getTime(), bytes);
  ledger.visit(install, clock.now().getTime(), visitor);
}

const day = (text: string, requests: number, bytes: number, visits: number, installId = INSTALL) => ({
  installId,
  day: text,
  requests,
  bytes,
  visits,
});

describe('a usage ledger', () => {
  it('counts requests, bytes and different visitors for each install and day', () => {
    const ledger = openLedger();
    for (const visitor of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) visit(ledger, visitor);
    visit(ledger, '192.0.2.1', { install: OTHER, bytes: 7 });
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 3, 300, 2), day('2026-03-01', 1, 7, 1, OTHER)]);
  });

  it('counts pages, their cache hits and times, across restarts and in a file of an earlier version', async () => {
    const at = clock.now().getTime();
    const asked = { installId: INSTALL, atMs: at, bytes: 1, visitor: null };
    visit(openLedger(), 'a');
    await closeAll();
    const file = new Sqlite(join(folder, 'usage.sqlite'));
    for (const column of ['page_requests', 'page_hits', 'page_ms'])
      file.exec(`alter table days drop column ${column}`);
    file.close();

    openLedger().countAll([asked, { ...asked, page: { isHit: true, milliseconds: 3 } }]);
    await closeAll();
    const ledger = openLedger();
    ledger.countAll([{ ...asked, page: { isHit: false, milliseconds: 120 } }]);
    expect(ledger.read(null).days).toEqual([
      { ...day('2026-03-01', 4, 103, 1), pages: { requests: 2, hits: 1, milliseconds: 123 } },
    ]);
  });

  it('returns totals, and only those that changed after the cursor', () => {
    const ledger = openLedger();
    visit(ledger, 'a');
    visit(ledger, 'a', { install: OTHER });
    const first = ledger.read(null);
    expect(ledger.read(first).days).toEqual([]);
    visit(ledger, 'b');
    expect(ledger.read(first).days).toEqual([day('2026-03-01', 2, 200, 2)]);
    expect(ledger.read(first).days).toEqual([day('2026-03-01', 2, 200, 2)]);
  });

  it('returns pages', () => {
    const ledger = openLedger();
    const ids = Array.from({ length: USAGE_PAGE + 5 }, () => crypto.randomUUID());
    for (const install of ids) visit(ledger, 'a', { install });
    const first = ledger.read(null);
    const second = ledger.read(first);
    expect([first.days.length, first.more]).toEqual([USAGE_PAGE, true]);
    expect([second.days.length, second.more]).toEqual([5, false]);
    expect(new Set([...first.days, ...second.days].map(({ installId }) => installId))).toEqual(new Set(ids));
  });

  it('counts a visitor once across flushes and restarts', async () => {
    visit(openLedger(), 'a');
    await closeAll();
    const ledger = openLedger();
    visit(ledger, 'a');
    ledger.flush();
    visit(ledger, 'b');
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 3, 300, 2)]);
  });

  it('counts a visitor again on the next day, with a new salt', () => {
    const ledger = openLedger();
    visit(ledger, 'a');
    clock.advance(DAY_MS);
    visit(ledger, 'a');
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 1, 100, 1), day('2026-03-02', 1, 100, 1)]);
  });

  it('counts an answer that ended before midnight on its own day', () => {
    const ledger = openLedger();
    clock.advance(12 * HOUR_MS + 2_000);
    ledger.count(INSTALL, Date.parse('2026-03-01T23:59:59.999Z'), 5);
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 1, 5, 0)]);
  });

  it('counts an answer of a closed day on the first open day', () => {
    const ledger = openLedger();
    visit(ledger, 'a');
    const before = ledger.read(null);
    clock.advance(DAY_MS);
    ledger.flush();
    ledger.count(INSTALL, Date.parse('2026-03-01T23:00:00Z'), 5);
    expect(ledger.read(before).days).toEqual([day('2026-03-02', 1, 5, 0)]);
  });

  it('keeps the visits of a closed day if the clock is set back', () => {
    const ledger = openLedger();
    visit(ledger, 'a');
    clock.advance(DAY_MS);
    ledger.flush();
    clock.advance(-DAY_MS);
    visit(ledger, 'b');
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 2, 200, 2)]);
  });

  it('begins another ledger if its file is unusable', async () => {
    const first = openLedger();
    visit(first, 'a');
    const { ledger: id, revision } = first.read(null);
    await closeAll();
    writeFileSync(join(folder, 'usage.sqlite'), 'damaged '.repeat(1_000));
    const second = openLedger();
    visit(second, 'a');
    const page = second.read({ ledger: id, revision });
    expect(page.ledger).not.toBe(id);
    expect(page.days).toEqual([day('2026-03-01', 1, 100, 1)]);
    expect(lines.join('')).toContain('damaged');
    expect(readFileSync(join(folder, 'usage.sqlite.damaged'), 'utf8')).toMatch(/^damaged /);
  });

  it('begins another ledger if pages of its file are damaged', async () => {
    const first = openLedger();
    visit(first, 'a');
    const { ledger: id } = first.read(null);
    await closeAll();
    const file = join(folder, 'usage.sqlite');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096);
    writeFileSync(file, bytes);
    const second = openLedger();
    visit(second, 'a');
    expect(second.read(null)).toMatchObject({ days: [day('2026-03-01', 1, 100, 1)] });
    expect(second.read(null).ledger).not.toBe(id);
    expect(readFileSync(`${file}.damaged`)).toEqual(bytes);
    // It may have a salt.
    clock.advance(DAY_MS);
    second.flush();
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
  });

  it('keeps a file that cannot be opened, counts on, and opens it later', async () => {
    const first = openLedger();
    visit(first, 'a');
    const { ledger: id } = first.read(null);
    first.setPosition('one.log', 7);
    await closeAll();
    const file = join(folder, 'usage.sqlite');
    renameSync(file, `${file}.there`);
    // As a lost permission, which root has always: it cannot be opened, and its content is not the reason.
    mkdirSync(file);
    const second = openLedger();
    expect(second.fault()).toContain('unable to open');
    visit(second, 'b');
    expect(() => second.position('one.log')).toThrow('is not open');
    expect(() => second.countAll([])).toThrow('is not open');
    expect(() => second.read(null)).toThrow('is not open');
    expect([second.flush(), readdirSync(folder).sort()]).toEqual([
      false,
      ['usage.sqlite', 'usage.sqlite.there'],
    ]);
    rmSync(file, { recursive: true });
    renameSync(`${file}.there`, file);
    expect([second.flush(), second.fault(), second.position('one.log')]).toEqual([true, null, 7]);
    expect(second.read(null)).toMatchObject({ ledger: id, days: [day('2026-03-01', 2, 200, 2)] });
  });
});

describe('while the file cannot be used', () => {
  it('counts what waited once, even if a part of it cannot be counted at first', async () => {
    const first = openLedger();
    visit(first, 'a');
    visit(first, 'a', { install: OTHER });
    first.flush();
    await closeAll();
    const file = join(folder, 'usage.sqlite');
    const setSketch = (sketch: string) =>
      change(`update days set sketch = ${sketch} where install = '${OTHER}'`);
    setSketch(`x'00'`);
    renameSync(file, `${file}.there`);
    mkdirSync(file);
    const second = openLedger();
    second.count(INSTALL, clock.now().getTime(), 100);
    second.count(OTHER, clock.now().getTime(), 100);
    rmSync(file, { recursive: true });
    renameSync(`${file}.there`, file);
    for (let attempt = 0; attempt < 3; attempt++) {
      expect([second.flush(), second.fault()]).toEqual([false, 'a sketch cannot have 1 bytes']);
    }
    setSketch(`x''`);
    expect([second.flush(), second.fault()]).toEqual([true, null]);
    expect(second.read(null).days).toEqual([
      day('2026-03-01', 2, 200, 1),
      day('2026-03-01', 2, 200, 0, OTHER),
    ]);
  });

  /** Changes the file's tables as a fault of the disk would. */
  function change(statement: string): void {
    const file = new Sqlite(join(folder, 'usage.sqlite'));
    file.exec(statement);
    file.close();
  }
  const at = (install: string, visitor: string) => ({
    installId: install,
    atMs: clock.now().getTime(),
    bytes: 100,
    visitor,
  });

  it('counts on, also on another day, and stores everything later', async () => {
    const ledger = openLedger();
    ledger.countAll([at(INSTALL, 'a')]);
    expect([ledger.flush(), ledger.fault()]).toEqual([true, null]);
    change(`create trigger full before insert on days begin select raise(abort, 'disk is full'); end`);
    ledger.countAll([at(INSTALL, 'b')]);
    expect([ledger.flush(), ledger.fault()]).toEqual([false, 'disk is full']);
    clock.advance(DAY_MS);
    ledger.countAll([at(OTHER, 'a')]);
    expect(ledger.flush()).toBe(false);
    change('drop trigger full');
    expect([ledger.flush(), ledger.fault()]).toEqual([true, null]);
    const days = [day('2026-03-01', 2, 200, 2), day('2026-03-02', 1, 100, 1, OTHER)];
    await closeAll();
    const next = openLedger();
    expect(next.read(null).days).toEqual(days);
    next.countAll([at(OTHER, 'a')]);
    expect(next.read(null).days.at(-1)).toEqual(day('2026-03-02', 2, 200, 1, OTHER));
  });

  it('counts all requests or none', () => {
    const ledger = openLedger();
    ledger.countAll([at(INSTALL, 'a')]);
    ledger.flush();
    change('alter table days rename to gone');
    const both = [at(INSTALL, 'b'), at(OTHER, 'b')];
    for (let attempt = 0; attempt < 3; attempt++) expect(() => ledger.countAll(both)).toThrow('days');
    change('alter table gone rename to days');
    ledger.countAll(both);
    expect(ledger.read(null).days).toEqual([
      day('2026-03-01', 2, 200, 2),
      day('2026-03-01', 1, 100, 1, OTHER),
    ]);
  });
});

describe('the salt and the sketches of a day', () => {
  /** The salts and sketches in the file. */
  function secrets(): Buffer[] {
    const file = new Sqlite(join(folder, 'usage.sqlite'), { readonly: true });
    try {
      const salts = file.prepare<[], { salt: Buffer }>('select salt from salts').all();
      const sketches = file
        .prepare<[], { sketch: Buffer }>('select sketch from days where sketch is not null')
        .all();
      return [...salts.map(({ salt }) => salt), ...sketches.map(({ sketch }) => sketch)];
    } finally {
      file.close();
    }
  }

  const onDisk = () => Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

  it('are destroyed soon after midnight; the number stays', () => {
    const ledger = openLedger();
    visit(ledger, '192.0.2.77');
    ledger.flush();
    const past = secrets();
    expect(past).toHaveLength(2);
    for (const secret of past) expect(onDisk().includes(secret)).toBe(true);

    clock.advance(12 * HOUR_MS + CLOSE_AFTER_MS - 1);
    ledger.flush();
    expect(secrets()).toEqual(past);
    clock.advance(1);
    ledger.flush();
    expect(secrets()).toEqual([]);
    for (const secret of past) expect(onDisk().includes(secret)).toBe(false);
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 1, 100, 1)]);
  });

  it('are destroyed by the next start if the host was down at midnight', async () => {
    visit(openLedger(), 'a');
    await closeAll();
    const past = secrets();
    clock.advance(DAY_MS);
    const ledger = openLedger();
    ledger.flush();
    expect(secrets()).toEqual([]);
    for (const secret of past) expect(onDisk().includes(secret)).toBe(false);
    expect(ledger.read(null).days).toEqual([day('2026-03-01', 1, 100, 1)]);
  });

  it('contain no address', () => {
    const ledger = openLedger();
    visit(ledger, '192.0.2.77');
    ledger.flush();
    expect(onDisk().includes('192.0.2.77')).toBe(false);
  });

  it('deletes days after two months', () => {
    const ledger = openLedger();
    visit(ledger, 'a');
    clock.advance(30 * DAY_MS);
    visit(ledger, 'a');
    clock.advance(35 * DAY_MS);
    ledger.flush();
    expect(ledger.read(null).days.map((one) => one.day)).toEqual(['2026-03-31']);
  });
});
