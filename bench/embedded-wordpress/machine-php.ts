import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../measure/report.ts';
import { median } from '../measure/units.ts';
import { cpuMsBelow, pssMbBelow } from './php-processes.ts';
import { startPlainFpm } from './plain-fpm.ts';
import { type Platform, startPlatform } from './platform.ts';

const SITE = 'machine';
const ROUNDS = 5;
const PAGES = 5;
/** Fills opcache in both workers. */
const WARM_PAGES = 4;
/** So that what a page leaves to do is part of its round. */
const REST_MS = 300;

/** Where one kind of page comes from, and what it uses meanwhile. */
interface Source {
  name: string;
  page(number: number): Promise<void>;
  /** Processor time of PHP so far. */
  phpMs(): number;
  /** The same, with what serves its pages. */
  allMs(): number;
}

/** An uncached page on the PHP of the machine, beside the same website on nginx with a plain PHP-FPM, and in WebAssembly. */
export async function measureMachinePhp(wasm: Platform, report: Report): Promise<void> {
  report.part('A page that is not cached, on the PHP of the machine');
  const machine = await startPlatform({ HOMEPORT_EMBEDDED_PHP: 'machine' });
  try {
    for (const platform of [machine, wasm]) await platform.ensure(SITE);
    const fpm = await startPlainFpm(machine, SITE);
    try {
      await measure(
        [sourceOf('machine', machine), sourceOf('WebAssembly', wasm), { name: 'PHP-FPM', ...fpm }],
        report,
      );
      const { pid } = machine;
      report.figure({
        what: 'memory of a website on the PHP of the machine, beside PHP-FPM',
        value: pssMbBelow(pid) / fpm.pssMb(),
        unit: 'ratio',
        measured: `${Math.round(pssMbBelow(pid))} MB`,
        beside: `${Math.round(fpm.pssMb())} MB`,
        goal: { atMost: 1.2 },
      });
    } finally {
      await fpm.stop();
    }
  } finally {
    await machine.stop();
  }
  report.end();
}

async function measure([machine, wasm, fpm]: [Source, Source, Source], report: Report): Promise<void> {
  const sources = [machine, wasm, fpm];
  let number = 0;
  for (const source of sources) for (let page = 0; page < WARM_PAGES; page++) await source.page(number++);
  const php = new Map<Source, number[]>(sources.map((source) => [source, []]));
  const all = new Map<Source, number[]>(sources.map((source) => [source, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const source of round % 2 === 0 ? sources : sources.toReversed()) {
      await sleep(REST_MS);
      const before = { php: source.phpMs(), all: source.allMs() };
      for (let page = 0; page < PAGES; page++) await source.page(number++);
      await sleep(REST_MS);
      php.get(source)?.push((source.phpMs() - before.php) / PAGES);
      all.get(source)?.push((source.allMs() - before.all) / PAGES);
    }
  }
  const [ofPhp, ofAll] = [php, all].map((times) => (source: Source) => median(times.get(source) ?? []));
  if (ofPhp === undefined || ofAll === undefined) throw new Error('nothing was measured');
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  report.figure({
    what: 'processor time of PHP, beside PHP-FPM',
    value: ofPhp(machine) / ofPhp(fpm),
    unit: 'ratio',
    measured: ms(ofPhp(machine)),
    beside: ms(ofPhp(fpm)),
    goal: { atMost: 1.2 },
  });
  report.figure({
    what: 'processor time of PHP and Homeport, beside PHP-FPM and nginx',
    value: ofAll(machine) / ofAll(fpm),
    unit: 'ratio',
    measured: ms(ofAll(machine)),
    beside: ms(ofAll(fpm)),
    goal: { atMost: 1.2 },
  });
  report.figure({
    what: 'processor time of PHP and Homeport, beside WebAssembly',
    value: ofAll(machine) / ofAll(wasm),
    unit: 'ratio',
    measured: ms(ofAll(machine)),
    beside: ms(ofAll(wasm)),
    goal: { atMost: 0.5 },
  });
}

function sourceOf(name: string, platform: Platform): Source {
  return {
    name,
    async page(number) {
      const { status, body } = await platform.visit(SITE, `/?uncached=${number}`);
      if (status !== 200 || !body.includes('</html>')) throw new Error(`${name} answered ${status}`);
    },
    phpMs: () => cpuMsBelow(platform.pid),
    allMs: () => cpuMsBelow(platform.pid) + platform.cpuMs(),
  };
}
