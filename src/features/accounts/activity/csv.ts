import type { ActivityView } from './schema.ts';

/** Without it a spreadsheet takes UTF-8 for the letters of its own country. */
const BYTE_ORDER_MARK = '\uFEFF';
const END_OF_LINE = '\r\n';
/** What makes a spreadsheet take a cell for a formula, in their full width too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** The same behind what another spreadsheet takes for the end of a cell, with or without blanks and quotes between. */
const FORMULA_AFTER_SEPARATOR = /[;\t\r\n](?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g;

const COLUMNS = [
  'at',
  'user_name',
  'action',
  'subject_name',
  'details',
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

/** The line that names the columns, and what stands before all lines. */
export const CSV_HEADER = BYTE_ORDER_MARK + line(COLUMNS);

/** An entry as a line (RFC 4180). */
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

/** Quoted always: not every spreadsheet splits at commas alone. What others have named must not be carried out when it is opened. */
function quoted(cell: string): string {
  const inside = cell.replaceAll(FORMULA_AFTER_SEPARATOR, "$&'");
  const harmless = FORMULA.test(inside) ? `'${inside}` : inside;
  return `"${harmless.replaceAll('"', '""')}"`;
}
