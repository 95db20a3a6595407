import { alignedPairs, shortened, table } from '../terminal/output.ts';

/** Columns of a list and the width of a cell, for people. Scripts use --json. */
const MOST_COLUMNS = 7;
const LONGEST_CELL = 48;
/** Shown first, in this order, if items have them. */
const FIRST = ['id', 'name', 'kind', 'type', 'status', 'state', 'environment', 'email'];

/** An answer as text: a table of items, or the members of one thing. */
export function shown(answer: unknown): string {
  const items = itemsOf(answer);
  if (items !== undefined) return items.length === 0 ? 'Nothing found.\n' : tableOf(items);
  if (!isObject(answer)) return answer === undefined || answer === null ? '' : `${cell(answer)}\n`;
  return alignedPairs(pairsOf(answer));
}

/** The members of a thing, those of parts without an id below the name of the part. */
function pairsOf(thing: object, above = ''): [string, string][] {
  return Object.entries(thing).flatMap(([name, value]): [string, string][] =>
    isObject(value) && !('id' in value) && Object.keys(value).length > 0
      ? pairsOf(value, `${above}${name}.`)
      : [[`${above}${name}`, cell(value)]],
  );
}

/** The items of a page or of another list; undefined for a single thing. */
function itemsOf(answer: unknown): object[] | undefined {
  if (Array.isArray(answer)) return answer.filter(isObject);
  if (!isObject(answer)) return undefined;
  const lists = Object.values(answer).filter(Array.isArray);
  const isList = 'results' in answer || (lists.length === 1 && Object.keys(answer).length <= 2);
  return isList ? lists[0]?.filter(isObject) : undefined;
}

function tableOf(items: object[]): string {
  const names = new Set(items.flatMap((item) => Object.keys(item)));
  const ordered = [
    ...FIRST.filter((name) => names.has(name)),
    ...[...names].filter((name) => !FIRST.includes(name)),
  ];
  const columns = ordered
    .filter((name) => items.some((item) => isShort(Reflect.get(item, name))))
    .slice(0, MOST_COLUMNS);
  return table(
    columns.map((name) => name.toUpperCase()),
    items.map((item) => columns.map((name) => shortened(cell(Reflect.get(item, name)), LONGEST_CELL))),
  );
}

/** Whether a value fits into a cell: a word, or a reference to another thing. */
function isShort(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return typeof value !== 'object' || 'id' in value;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ') || '-';
  if (Array.isArray(value) && value.every((one) => isObject(one) && 'id' in one)) {
    return value.map(cell).join(', ') || '-';
  }
  if (isObject(value) && 'id' in value) {
    const name: unknown = Reflect.get(value, 'name');
    return typeof name === 'string' ? name : String(value.id);
  }
  return JSON.stringify(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
