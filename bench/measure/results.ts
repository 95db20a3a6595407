import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { table } from '../../src/cli/terminal/output.ts';
import { shown, UNITS } from './units.ts';

const resultsSchema = Type.Object({
  suite: Type.String(),
  started_at: Type.String(),
  finished_at: Type.String(),
  machine: Type.Object({
    processor: Type.String(),
    processors: Type.Integer(),
    memory_mb: Type.Integer(),
    platform: Type.String(),
    node: Type.String(),
    /** Load average of one minute, before and after the run. */
    load_before: Type.Number(),
    load_after: Type.Number(),
  }),
  figures: Type.Array(
    Type.Object({
      what: Type.String(),
      value: Type.Number(),
      unit: Type.Enum([...UNITS]),
      goal: Type.Union([
        Type.Object({ atMost: Type.Number() }),
        Type.Object({ atLeast: Type.Number() }),
        Type.Null(),
      ]),
      met: Type.Union([Type.Boolean(), Type.Null()]),
    }),
  ),
});

/** The results of one run, as its file holds them. */
export type BenchResults = Static<typeof resultsSchema>;

const FOLDER = join(import.meta.dirname, '..', 'results');

/** Writes results to `file`, or to `bench/results/<suite>-<time>.json`, and returns its path. */
export function writeResults(results: BenchResults, file?: string): string {
  const path =
    file ?? join(FOLDER, `${results.suite}-${results.started_at.replaceAll(/[-:]|\.\d+/g, '')}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  return path;
}

/** Reads the results of an earlier run of `suite`. Throws an error that names the file if it has none. */
export function readResults(file: string, suite: string): BenchResults {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Value.Check(resultsSchema, content)) throw new Error(`${file} has no results of a benchmark`);
  if (content.suite !== suite)
    throw new Error(`${file} has results of "${content.suite}", not of "${suite}"`);
  return content;
}

/** A table of the figures that both runs have, with the change in per cent, and a warning if the machines differ. */
export function comparison(before: BenchResults, now: BenchResults): string {
  const rows = now.figures.flatMap(({ what, value, unit }) => {
    const former = before.figures.find((figure) => figure.what === what);
    if (former === undefined) return [];
    const change = former.value === 0 ? '' : percent((value / former.value - 1) * 100);
    return [[what, shown(former.value, unit), shown(value, unit), change]];
  });
  const machine = ({ machine: { processor, processors, memory_mb, node } }: BenchResults) =>
    `${processors} × ${processor}, ${memory_mb} MB, Node ${node}`;
  const note =
    machine(before) === machine(now)
      ? `Load before the runs: ${before.machine.load_before.toFixed(1)} and ${now.machine.load_before.toFixed(1)}.\n`
      : `The machines differ: ${machine(before)} and ${machine(now)}.\n`;
  return `Compared with ${before.started_at}\n\n${table(['WHAT', 'THEN', 'NOW', 'CHANGE'], rows)}\n${note}`;
}

const percent = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(0)} %`;
