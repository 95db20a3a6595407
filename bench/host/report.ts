import { availableParallelism, loadavg } from 'node:os';
import { table } from '../../src/cli/terminal/output.ts';

/** One line of a part's table. */
export interface Figure {
  what: string;
  measured: string;
  /** What was measured beside it, in the same run. */
  beside?: string;
  ratio?: string;
  goal?: string;
  /** Whether the goal was reached; left out where there is none. */
  met?: boolean;
}

/** What the parts of the bench have found. Each part is printed as soon as it has ended. */
export interface Report {
  /** Begins a part. */
  part(title: string): void;
  figure(figure: Figure): void;
  /** A table of its own shape, below the figures of the part. */
  grid(titles: string[], rows: string[][]): void;
  /** A sentence below the tables of the part. */
  note(text: string): void;
  /** Prints the part. */
  end(): void;
  /** What stayed behind its goal, in all parts. */
  missed(): string[];
}

const TITLES = ['WHAT', 'MEASURED', 'BESIDE', 'RATIO', 'GOAL', ''];

export function createReport(write: (text: string) => void): Report {
  const missed: string[] = [];
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
      figures.push(figure);
      if (figure.met !== false) return;
      const measured = figure.ratio === undefined ? figure.measured : `${figure.measured}, ${figure.ratio}`;
      missed.push(`${figure.what}: ${measured}; the goal is ${figure.goal ?? ''}`);
    },
    grid: (titles, rows) => void grids.push(table(titles, rows)),
    note: (text) => void notes.push(text),
    end() {
      const rows = figures.map(({ what, measured, beside = '', ratio = '', goal = '', met }) => [
        what,
        measured,
        beside,
        ratio,
        goal,
        met === undefined ? '' : met ? 'reached' : 'MISSED',
      ]);
      const tables = rows.length === 0 ? grids : [table(TITLES, rows), ...grids];
      // What else the machine did: without it no figure can be compared with one of another day.
      const load = `Load of the machine in the last minute: ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors.`;
      const below = [[...notes, load].map((text) => `${text}\n`).join('')];
      write(`\n${title}\n\n${[...tables, ...below].join('\n')}`);
    },
    missed: () => missed,
  };
}

/** What a part of the bench is given. */
export interface Run {
  report: Report;
  /** Fewer and shorter measurements, to see that it works. */
  quick: boolean;
}

export const shownMs = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms).toLocaleString('en')} ms`;

export const shownRate = (perSecond: number): string =>
  `${perSecond < 1_000 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')}/s`;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured');
  return (lower + upper) / 2;
}

/** How long some work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Tells who waits what is being done. */
export function progress(text: string): void {
  process.stderr.write(`  ${text} …\n`);
}
