import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { LogQuery } from '../src/hosting/contract/logs.ts';
import { logLine } from '../src/hosting/websites/logs/log-line.ts';
import { readLog } from '../src/hosting/websites/logs/read-log.ts';
import { SEGMENT_BYTES } from '../src/hosting/websites/logs/segments.ts';
import { tendLogs } from '../src/hosting/websites/logs/upkeep.ts';
import { MINUTE_MS } from '../src/lib/durations.ts';

// Searches an access log for a text that only its oldest line has, and compares the time with `grep -F -i` on the same files. Then the
// same with compressed files, and a page of a range of time. Shows the longest turn of the event loop. Usage: bin/node bench/logs.ts [MB], by default 1,000.

const BYTES = Number(process.argv[2] ?? 1_000) * 1e6;
const DAY = '2026-01-31';
const NEEDLE = '/Oldest-Line/';
const TURNS = 3;

let longestTurn = 0;

const folder = await mkdtemp(join(tmpdir(), 'homeport-bench-logs-'));
try {
  await mkdir(folder, { recursive: true });
  const bytes = await fill();
  const [load = 0] = loadavg();
  const files = (await readdir(folder)).length;
  console.log(`${Math.round(bytes / 1e6)} MB in ${files} files, best of ${TURNS}, load ${load.toFixed(1)}`);
  const grep = best(await times(async () => void runGrep()));
  const own = best(await times(search));
  console.log(`grep -F -i   ${grep.toFixed(2)} s`);
  console.log(`search       ${own.toFixed(2)} s, ${(own / grep).toFixed(2)} × grep`);
  showLongestTurn();
  const alone = async <Result>(_kind: string, _id: string, work: () => Promise<Result>) => work();
  const rules = { days: 400, wholeAddressMs: 0, mostBytes: Number.POSITIVE_INFINITY };
  await tendLogs(folder, 'bench', { logs: { alone }, rules, now: new Date(`2026-02-03T00:00:00Z`) });
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  const stored = sizes.reduce((sum, size) => sum + size, 0);
  const begun = process.cpuUsage();
  const compressed = best(await times(search));
  const { user, system } = process.cpuUsage(begun);
  console.log(
    `compressed   ${compressed.toFixed(2)} s, ${(compressed / grep).toFixed(2)} × grep on the plain files; ${Math.round(stored / 1e6)} MB stored`,
  );
  console.log(`             ${((user + system) / 1e6 / TURNS).toFixed(2)} s of processor time`);
  showLongestTurn();
  const to = new Date(Date.parse(DAY) + MINUTE_MS).toISOString();
  const range = best(await times(() => found({ to }, 100)));
  console.log(`a page of the first minute, compressed: ${range.toFixed(2)} s`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function fill(): Promise<number> {
  let written = 0;
  for (let part = 1; written < BYTES; part++) {
    const out = createWriteStream(join(folder, `access-${DAY}${part === 1 ? '' : `.${part}`}.log`));
    let size = 0;
    for (let number = 0; size < SEGMENT_BYTES && written < BYTES; number++) {
      const line = logLine<'access'>({
        time: new Date(Date.parse(DAY) + Math.floor(written / 100)).toISOString(),
        address: `203.0.113.${number % 256}`,
        method: 'GET',
        scheme: 'https',
        host: 'shop.example',
        path: written === 0 ? NEEDLE : `/product/${(number * 7919) % 100_000}/some-name`,
        status: number % 50 === 0 ? 404 : 200,
        bytes: 12_345 + (number % 999),
        cache: 'HIT',
        seconds: 0.012,
        php_seconds: null,
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        referrer: 'https://shop.example/',
      });
      if (!out.write(line)) await once(out, 'drain');
      size += line.length;
      written += line.length;
    }
    out.end();
    await finished(out);
  }
  return written;
}

function runGrep(): void {
  const found = spawnSync('grep', ['-F', '-i', '-r', NEEDLE.toLowerCase(), folder], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  if (found.status !== 0) throw new Error('grep found nothing');
}

async function search(): Promise<void> {
  const watch = watchTurns();
  await found({ search: NEEDLE.toLowerCase() }, 1);
  watch();
}

/** Throws if there are not as many lines as expected. */
async function found(asked: Partial<LogQuery>, lines: number): Promise<void> {
  const query: LogQuery = {
    kind: 'access',
    from: null,
    to: null,
    search: null,
    status: null,
    cursor: null,
    direction: 'older',
    limit: 100,
    ...asked,
  };
  const options = { now: () => performance.now(), withinMs: 120_000, today: DAY };
  const page = await readLog(folder, query, options);
  if (page.lines.length !== lines) throw new Error(`the search found ${page.lines.length} lines`);
}

/** Measures the most processor time of this thread between two turns of the event loop, until the returned function is called. */
function watchTurns(): () => void {
  let last = threadMs();
  const timer = setInterval(() => {
    const now = threadMs();
    longestTurn = Math.max(longestTurn, now - last);
    last = now;
  }, 1);
  return () => clearInterval(timer);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function showLongestTurn(): void {
  console.log(`event loop   ${longestTurn.toFixed(0)} ms of processor time between two turns at most`);
  longestTurn = 0;
}

async function times(work: () => Promise<void>): Promise<number[]> {
  const taken: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const begun = performance.now();
    await work();
    taken.push((performance.now() - begun) / 1_000);
  }
  return taken;
}

function best(taken: number[]): number {
  return Math.min(...taken);
}
