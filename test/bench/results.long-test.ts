import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keeps } from '../../bench/measure/report.ts';
import { type BenchResults, comparison, readResults, writeResults } from '../../bench/measure/results.ts';

const REPORT = join(import.meta.dirname, '../../bench/measure/report.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-results-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a suite with one figure of 0.4 and this goal, as `npm run bench -- …` would. */
function runSuite(goal: string, ...options: string[]) {
  const script = `
    const { createReport } = await import(${JSON.stringify(REPORT)});
    const report = createReport('sample');
    report.part('A part');
    report.figure({ what: 'ratio', value: 0.4, unit: 'ratio', goal: ${goal} });
    report.end();
    report.finish();`;
  const file = join(folder, 'suite.mjs');
  writeFileSync(file, script);
  return spawnSync(process.execPath, [file, ...options], { encoding: 'utf8' });
}

const results = (value: number, node = 'v24'): BenchResults => ({
  suite: 'sample',
  started_at: '2026-01-01T00:00:00.000Z',
  finished_at: '2026-01-01T00:01:00.000Z',
  machine: {
    processor: 'x',
    processors: 2,
    memory_mb: 1,
    platform: 'linux-x64',
    node,
    load_before: 0,
    load_after: 1,
  },
  figures: [{ what: 'GET', value, unit: 'ms', goal: null, met: null }],
});

describe('a goal', () => {
  it('includes its bound', () => {
    expect(keeps(2, { atMost: 2 })).toBe(true);
    expect(keeps(2.1, { atMost: 2 })).toBe(false);
    expect(keeps(0.5, { atLeast: 0.5 })).toBe(true);
    expect(keeps(0.4, { atLeast: 0.5 })).toBe(false);
  });
});

describe('a suite', () => {
  it('exits with 1 and names the goal that was missed', () => {
    const { status, stdout } = runSuite('{ atLeast: 0.5 }', '--json', join(folder, 'missed.json'));
    expect(status).toBe(1);
    expect(stdout).toContain('Missed goals:\n  ratio: 0.40; the goal is ≥ 0.50\n');
  });

  it('writes its figures and the machine as JSON, and exits with 0', () => {
    const file = join(folder, 'kept.json');
    const { status, stdout } = runSuite('{ atMost: 0.5 }', '--json', file);
    expect(status).toBe(0);
    expect(stdout).toContain(`Every goal was reached.\nResults: ${file}\n`);
    const { machine, figures } = readResults(file, 'sample');
    expect(machine.node).toBe(process.version);
    expect(figures).toEqual([{ what: 'ratio', value: 0.4, unit: 'ratio', goal: { atMost: 0.5 }, met: true }]);
  });

  it('compares with an earlier run', () => {
    const file = join(folder, 'earlier.json');
    runSuite('{ atMost: 0.5 }', '--json', file);
    const { stdout } = runSuite('{ atMost: 0.5 }', '--json', join(folder, 'later.json'), '--against', file);
    expect(stdout).toMatch(/WHAT\s+THEN\s+NOW\s+CHANGE\s*\n\s*ratio\s+0\.40\s+0\.40\s+\+0 %/);
  });
});

describe('an earlier run', () => {
  it('is refused if it is of another suite or has no results', () => {
    const file = writeResults(results(10), join(folder, 'results.json'));
    expect(() => readResults(file, 'host')).toThrow('has results of "sample", not of "host"');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), figures: 'none' }));
    expect(() => readResults(file, 'sample')).toThrow('has no results of a benchmark');
  });

  it('shows the change in per cent, and whether the machine is another', () => {
    expect(comparison(results(10), results(12))).toMatch(/GET\s+10 ms\s+12 ms\s+\+20 %/);
    expect(comparison(results(10), results(12, 'v26'))).toContain('The machines differ');
  });
});
