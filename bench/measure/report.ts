import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { table } from '../../src/cli/terminal/output.ts';
import { type BenchResults, comparison, readResults, writeResults } from './results.ts';
import { shown, type Unit } from './units.ts';

/** A limit that a figure must meet. */
export type Goal = { atMost: number } | { atLeast: number };

export interface Figure {
  /** Unique in a suite; identifies the figure in comparisons. */
  what: string;
  value: number;
  unit: Unit;
  /** Details of the measurement, if the value is a ratio or a median. */
  measured?: string;
  /** The counterpart of a ratio, measured in the same run. */
  beside?: string;
  goal?: Goal;
}

/** Collects the figures of a suite in parts, and prints each part when it ends. */
export interface Report {
  part(title: string): void;
  figure(figure: Figure): void;
  /** Adds a table below the figures of the part. */
  grid(titles: string[], rows: string[][]): void;
  /** Adds a sentence below the tables of the part. */
  note(text: string): void;
  end(): void;
  /**
   * Writes the results as JSON, prints missed goals and the comparison with `--against`, and sets the exit status to 1 if a goal
   * was missed.
   */
  finish(): void;
}

/** Options of every suite: `--against FILE` compares with an earlier run, `--json FILE` names the file of this one. */
export const REPORT_OPTIONS = { against: { type: 'string' }, json: { type: 'string' } } as const;
export const REPORT_USAGE = '[--against FILE] [--json FILE]';

const TITLES = ['WHAT', 'VALUE', 'MEASURED', 'BESIDE', 'GOAL', ''];

/** Whether a value keeps its goal. */
export function keeps(value: number, goal: Goal): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/**
 * Creates the report of a suite. Reads its options from the command line, and throws before anything is measured if `--against` names
 * no results of this suite.
 */
export function createReport(suite: string): Report {
  const { values: options } = parseArgs({ options: REPORT_OPTIONS, strict: false });
  const against = typeof options.against === 'string' ? readResults(options.against, suite) : null;
  const startedAt = new Date().toISOString();
  const loadBefore = loadavg()[0] ?? 0;
  const all: Figure[] = [];
  let title = '';
  let figures: Figure[] = [];
  let grids: string[] = [];
  let notes: string[] = [];

  return {
    part(text) {
      title = text;
      figures = [];
      grids = [];
      notes = [];
    },
    figure(figure) {
      if (!Number.isFinite(figure.value)) throw new Error(`"${figure.what}" was not measured`);
      if (all.some(({ what }) => what === figure.what)) throw new Error(`"${figure.what}" occurs twice`);
      figures.push(figure);
      all.push(figure);
    },
    grid: (titles, rows) => void grids.push(table(titles, rows)),
    note: (text) => void notes.push(text),
    end() {
      const rows = figures.map((figure) => [
        figure.what,
        shown(figure.value, figure.unit),
        figure.measured ?? '',
        figure.beside ?? '',
        figure.goal === undefined ? '' : shownGoal(figure.goal, figure.unit),
        figure.goal === undefined ? '' : keeps(figure.value, figure.goal) ? 'reached' : 'MISSED',
      ]);
      const tables = rows.length === 0 ? grids : [table(TITLES, rows), ...grids];
      // Figures are meaningless without the machine's load.
      const load = `Load of the machine in the last minute: ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors.`;
      const below = [[...notes, load].map((text) => `${text}\n`).join('')];
      process.stdout.write(`\n${title}\n\n${[...tables, ...below].join('\n')}`);
    },
    finish() {
      const results: BenchResults = {
        suite,
        started_at: startedAt,
        finished_at: new Date().toISOString(),
        machine: {
          processor: cpus()[0]?.model ?? 'unknown',
          processors: availableParallelism(),
          memory_mb: Math.round(totalmem() / 2 ** 20),
          platform: `${process.platform}-${process.arch}`,
          node: process.version,
          load_before: loadBefore,
          load_after: loadavg()[0] ?? 0,
        },
        figures: all.map(({ what, value, unit, goal }) => ({
          what,
          value,
          unit,
          goal: goal ?? null,
          met: goal === undefined ? null : keeps(value, goal),
        })),
      };
      const file = writeResults(results, typeof options.json === 'string' ? options.json : undefined);
      if (against !== null) process.stdout.write(`\n${comparison(against, results)}`);
      const missed = all.filter(({ value, goal }) => goal !== undefined && !keeps(value, goal));
      const lines = missed.map(
        ({ what, value, unit, goal }) =>
          `  ${what}: ${shown(value, unit)}${goal === undefined ? '' : `; the goal is ${shownGoal(goal, unit)}`}\n`,
      );
      process.stdout.write(
        missed.length === 0 ? '\nEvery goal was reached.\n' : `\nMissed goals:\n${lines.join('')}`,
      );
      process.stdout.write(`Results: ${file}\n`);
      if (missed.length > 0) process.exitCode = 1;
    },
  };
}

const shownGoal = (goal: Goal, unit: Unit): string =>
  'atMost' in goal ? `≤ ${shown(goal.atMost, unit)}` : `≥ ${shown(goal.atLeast, unit)}`;

/** Arguments of each part of a suite. */
export interface Run {
  report: Report;
  /** Fewer and shorter measurements, to test the suite itself. */
  quick: boolean;
}

/** Prints progress on standard error. */
export function progress(text: string): void {
  process.stderr.write(`  ${text} …\n`);
}
