import type { LogQuery } from '../../contract/logs.ts';
import { encodeText } from './log-line.ts';

/** Decides which lines a query means. */
export interface Matcher {
  /** A text that every matching line contains in lower case, as Latin-1; null if any line may match. */
  needle: string | null;
  /** Whether the query means this line, apart from its times. */
  matches(line: string): boolean;
}

/**
 * Searching bytes is much faster than parsing lines, so only lines with the needle are parsed. UTF-8 read as Latin-1 keeps every byte
 * apart; lower case changes the same bytes in the needle and in the lines.
 */
export function matcherOf({ search, status }: Pick<LogQuery, 'search' | 'status'>): Matcher {
  const wanted = search === null || search === '' ? null : search.toLowerCase();
  const needles = [
    ...(wanted === null ? [] : [encodeText(search ?? '')]),
    ...(status === null ? [] : [`"status":${status.replace('xx', '')}`]),
  ];
  const [needle] = needles;
  return {
    needle: needle === undefined ? null : Buffer.from(needle).toString('latin1').toLowerCase(),
    matches(line) {
      const entry = parsed(line);
      if (entry === null) return false;
      if (status !== null && !hasStatus(entry, status)) return false;
      return wanted === null || Object.values(entry).some((value) => contains(value, wanted));
    },
  };
}

/** Null for a line that a crash cut off. */
function parsed(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function hasStatus(entry: object, status: string): boolean {
  const found = 'status' in entry ? String(entry.status) : '';
  return status.endsWith('xx') ? found.length === 3 && found[0] === status[0] : found === status;
}

function contains(value: unknown, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((one) => contains(one, wanted));
  return value !== null && String(value).toLowerCase().includes(wanted);
}
