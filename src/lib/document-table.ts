/**
 * Returns the document with the current table between `<!-- marker -->` and `<!-- /marker -->`. Throws if one of them is missing.
 */
export function withTable(document: string, marker: string, table: string): string {
  const [first, last] = [`<!-- ${marker} -->`, `<!-- /${marker} -->`];
  const begin = document.indexOf(first);
  const end = document.indexOf(last);
  if (begin === -1 || end < begin) throw new Error(`the document has no ${first} … ${last}`);
  return `${document.slice(0, begin + first.length)}\n${table}${document.slice(end)}`;
}

/** A Markdown table. Ends with a line break. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n');
}
