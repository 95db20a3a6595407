import type { NewRedirect } from '../../features/websites/rules/redirects/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';

const COLUMNS = ['from', 'to', 'status', 'match', 'keep_query'] as const;
type Column = (typeof COLUMNS)[number];

const MATCHES = ['exact', 'prefix', 'regex'] as const;
const STATUSES = [301, 302, 307, 308] as const;

/**
 * Reads redirects from CSV (RFC 4180): `from,to,status,match,keep_query`, of which the first two are needed. A first line with these
 * names sets their order. Throws an {@link OperatorError} that names the line.
 */
export function readRedirectFile(text: string): NewRedirect[] {
  const rows = csvRows(text.replace(/^\uFEFF/, '')).filter(({ fields }) =>
    fields.some((field) => field !== ''),
  );
  const first = rows[0]?.fields.map((field) => field.toLowerCase()) ?? [];
  const isHeader = first.includes('from') && first.includes('to');
  const order = isHeader ? first : COLUMNS;
  const unknown = order.find((name) => !COLUMNS.some((column) => column === name));
  if (unknown !== undefined)
    throw new OperatorError(`The column "${unknown}" is unknown; use ${COLUMNS.join(', ')}.`);
  return rows.slice(isHeader ? 1 : 0).map(({ line, fields }) => {
    if (fields.length > order.length)
      throw new OperatorError(`Line ${line} has ${fields.length} columns, more than ${order.length}.`);
    const fieldOf = (column: Column) => fields[order.indexOf(column)] ?? '';
    return redirectOf(fieldOf, line);
  });
}

function redirectOf(fieldOf: (column: Column) => string, line: number): NewRedirect {
  const [from, to] = [fieldOf('from'), fieldOf('to')];
  if (from === '' || to === '') throw new OperatorError(`Line ${line} needs the columns from and to.`);
  const redirect: NewRedirect = { from, to };
  const [status, match, keepQuery] = [fieldOf('status'), fieldOf('match'), fieldOf('keep_query')];
  if (status !== '') redirect.status = chosen(STATUSES, status, `Line ${line}: the status`);
  if (match !== '') redirect.match = chosen(MATCHES, match.toLowerCase(), `Line ${line}: the match`);
  if (keepQuery !== '') {
    redirect.keep_query =
      chosen(['true', 'false'] as const, keepQuery.toLowerCase(), `Line ${line}: keep_query`) === 'true';
  }
  return redirect;
}

function chosen<Value extends string | number>(values: readonly Value[], text: string, what: string): Value {
  const found = values.find((value) => String(value) === text);
  if (found === undefined)
    throw new OperatorError(`${what} must be one of ${values.join(', ')}, and is "${text}".`);
  return found;
}

interface Row {
  /** The number of its first line. */
  line: number;
  fields: string[];
}

/** Rows of CSV. Fields lose white space around them, except in quotes. */
function csvRows(text: string): Row[] {
  const rows: Row[] = [];
  let line = 1;
  let row: Row = { line, fields: [] };
  const pattern = /\s*"((?:[^"]|"")*)"[^\S\n]*(,|\r?\n|$)|([^",\n]*)(,|\r?\n|$)/gy;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [whole, quoted, afterQuoted, plain = '', afterPlain] = match;
    const end = afterQuoted ?? afterPlain ?? '';
    row.fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end !== ',') {
      rows.push(row);
      row = { line, fields: [] };
    }
    if (pattern.lastIndex >= text.length) {
      if (end === ',') rows.push({ ...row, fields: [...row.fields, ''] });
      return rows;
    }
  }
  throw new OperatorError(`Line ${line} is no CSV: a quote is missing or in the wrong place.`);
}
