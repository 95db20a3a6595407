import type { ActivityView } from './schema.ts';

/** Spreadsheets need it to recognise UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
const END_OF_LINE = '\r\n';
/** First characters that make a spreadsheet read a cell as a formula, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** The same after characters that some spreadsheets treat as cell separators, even with spaces or quotes between. */
const FORMULA_AFTER_SEPARATOR = /[;\t\r\n](?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g;

const COLUMNS = [
  'at',
  'user_name',
  'action',
  'subject_name',
  'details',
  'install_name',
  'means',
  'credential_name',
  'address',
  'id',
  'user_id',
  'subject_id',
  'install_id',
  'credential_id',
  'request_id',
] as const satisfies (keyof ActivityView)[];

/** The byte order mark and the header line. */
export const CSV_HEADER = BYTE_ORDER_MARK + line(COLUMNS);

/** Formats an entry as a line (RFC 4180). */
export function csvLine(entry: ActivityView): string {
  return line(COLUMNS.map((name) => text(entry[name])));
}

function text(value: ActivityView[keyof ActivityView]): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function line(cells: readonly string[]): string {
  return cells.map(quoted).join(',') + END_OF_LINE;
}

/** Always quotes, since some spreadsheets also split at other characters. A leading ' keeps names that users chose from running as formulas. */
function quoted(cell: string): string {
  const inside = cell.replaceAll(FORMULA_AFTER_SEPARATOR, "$&'");
  const harmless = FORMULA.test(inside) ? `'${inside}` : inside;
  return `"${harmless.replaceAll('"', '""')}"`;
}
