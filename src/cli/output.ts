import pc from 'picocolors';

/** A line above a group of lines; bold on a terminal. */
export function heading(text: string): string {
  return `${pc.isColorSupported && process.stdout.isTTY ? pc.bold(text) : text}`;
}

/** Names and values, one pair a line, the values in one column. */
export function alignedPairs(pairs: [string, string][]): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('');
}

/** Rows in aligned columns below their titles; for people. */
export function table(titles: string[], rows: string[][]): string {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[heading(line(titles)), ...rows.map(line)].join('\n')}\n`;
}

/** For scripts: one JSON value. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
