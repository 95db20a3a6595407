import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LOG_FIELDS, withLogFieldsTable } from './log-fields.ts';

const SOURCES = join(import.meta.dirname, '../..');
const CALL = /\b\w*[lL]og\.(?:trace|debug|info|warn|error|fatal|child)\(\s*\{/g;
/** Members of each line, of pino itself. */
const OF_EVERY_LINE = ['level', 'time', 'hostname', 'msg'];

/** How many calls of the log in the sources have each field. */
function usedFields(): Map<string, number> {
  const uses = new Map<string, number>();
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || /(test|fixture)\.ts$/.test(name)) continue;
    const text = readFileSync(join(SOURCES, name), 'utf8').replace(/^ *\/\/.*$/gm, '');
    for (const call of text.matchAll(CALL)) {
      for (const field of fieldsFrom(text, call.index + call[0].length)) {
        uses.set(field, (uses.get(field) ?? 0) + 1);
      }
    }
  }
  return uses;
}

/** The names of the members of an object literal, whose text begins at `start`. */
function fieldsFrom(text: string, start: number): string[] {
  const fields: string[] = [];
  let depth = 1;
  let member = '';
  for (let at = start; depth > 0 && at < text.length; at++) {
    const sign = text.charAt(at);
    if ('{[('.includes(sign)) depth += 1;
    if ('}])'.includes(sign)) depth -= 1;
    if (depth > 1 || (sign !== ',' && depth > 0)) member += sign;
    else {
      const [name] = /^\w+/.exec(member.trim()) ?? [];
      if (name !== undefined) fields.push(name);
      member = '';
    }
  }
  return fields;
}

it('lists the fields that several parts use, and no others', () => {
  const uses = usedFields();
  const common = [...uses].filter(([, count]) => count >= 3).map(([field]) => field);
  expect(common.length).toBeGreaterThan(20);
  expect(common.filter((field) => !Object.hasOwn(LOG_FIELDS, field))).toEqual([]);
  const listed = Object.keys(LOG_FIELDS).filter((field) => !OF_EVERY_LINE.includes(field));
  expect(listed.filter((field) => !uses.has(field))).toEqual([]);
});

it('has its table in the document', () => {
  const page = readFileSync(join(SOURCES, '../docs/operations.md'), 'utf8');
  expect(withLogFieldsTable(page)).toBe(page);
});
