/** A day of a chart. */
export interface ChartDay {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** Null: not measured. */
  value: number | null;
}

/** A value of a day; null: not measured. */
type Values = readonly (number | null)[];

/** Returns the largest value, and 1 without any, so that a scale has a length. */
export function largestOf(values: Values): number {
  return Math.max(0, ...values.map((value) => value ?? 0)) || 1;
}

/** Returns the bars in a plot that is 1 high and has a width of 1 for each day. */
export function barsOf(values: Values, top: number): { x: number; height: number }[] {
  return values.flatMap((value, x) => (value === null || value === 0 ? [] : [{ x, height: value / top }]));
}

/** Returns the path of a line through the middles of the days, with gaps for days without a value. A single day is a short line. */
export function lineOf(values: Values, top: number): string {
  return runsOf(values, top)
    .map((run) => `M${run.map(({ x, y }) => `${x} ${y}`).join('L')}`)
    .join('');
}

/** Returns the path of the area below the line. */
export function areaOf(values: Values, top: number): string {
  return runsOf(values, top)
    .map((run) => `M${run[0]?.x} 1L${run.map(({ x, y }) => `${x} ${y}`).join('L')}L${run.at(-1)?.x} 1Z`)
    .join('');
}

/** Days with values that follow each other. */
function runsOf(values: Values, top: number): { x: number; y: number }[][] {
  const runs: { x: number; y: number }[][] = [];
  let run: { x: number; y: number }[] = [];
  for (const [day, value] of [...values, null].entries()) {
    if (value !== null) {
      run.push({ x: day + 0.5, y: 1 - value / top });
      continue;
    }
    const [only] = run;
    if (only !== undefined) {
      runs.push(
        run.length > 1
          ? run
          : [
              { x: only.x - 0.35, y: only.y },
              { x: only.x + 0.35, y: only.y },
            ],
      );
    }
    run = [];
  }
  return runs;
}
