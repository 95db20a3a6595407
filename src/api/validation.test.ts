import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/processor-time.ts';
import { InvalidRequest } from '../lib/failures.ts';
import { stringEnum, Type, uuid } from './schema.ts';
import { bodyParser, NOT_BLANK } from './validation.ts';

const parse = bodyParser({
  resource: 'Thing',
  schema: Type.Object({
    name: Type.String({ pattern: NOT_BLANK, maxLength: 10 }),
    id: uuid(),
    kind: Type.Optional(stringEnum(['one', 'two'])),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    parts: Type.Optional(
      Type.Array(Type.Object({ name: Type.String({ pattern: NOT_BLANK }) }), { minItems: 1, maxItems: 20 }),
    ),
    ids: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: Type.String({ minLength: 1 }),
        maxItems: 20,
      }),
    ),
  }),
  texts: {
    name: { required: { summary: 'Name is required', message: 'Name cannot be empty' } },
    'parts.name': { required: { summary: 'Part name is required', message: 'Part name cannot be empty' } },
  },
});

const plain = bodyParser({
  resource: 'Thing',
  schema: Type.Object({
    mail: Type.String({ format: 'email' }),
    when: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    count: Type.Integer({ minimum: 1 }),
    list: Type.Array(Type.String(), { maxItems: 1 }),
    word: Type.String({ maxLength: 3 }),
  }),
});

const wrapped = bodyParser({
  resource: 'Thing',
  wrapper: 'thing',
  schema: Type.Object({ thing: Type.Object({ name: Type.String({ pattern: NOT_BLANK }), id: uuid() }) }),
});

function refusal(check: () => unknown): InvalidRequest {
  try {
    check();
  } catch (error) {
    if (error instanceof InvalidRequest) return error;
    throw error;
  }
  throw new Error('was not refused');
}

const faultsOf = (body: unknown, parser: (body: unknown) => unknown = parse) =>
  refusal(() => parser(body)).faults.map(({ field, type, code }) => `${field} ${type} ${code}`);

const id = '7b1c8f0e-3f0b-4b57-9c4f-0d4c0a6f2b11';

describe('bodyParser', () => {
  it('accepts valid bodies, and ignores unknown fields', () => {
    const body = {
      name: 'x',
      id,
      kind: 'one',
      count: 1,
      parts: [{ name: 'y', more: [] }],
      unknown: { a: '\0' },
    };
    expect(parse(body)).toEqual(body);
  });

  it('collects all faults, one per field, in the order of the fields', () => {
    expect(faultsOf({ parts: [], count: 0, kind: 'three', id: 'x', name: ' ' })).toEqual([
      'name missing_field required',
      'id invalid_value invalid_format',
      'kind invalid_value not_allowed',
      'count invalid_value invalid_type',
      'parts invalid_value too_few',
    ]);
    expect(faultsOf({})).toEqual(['name missing_field required', 'id missing_field required']);
    expect(faultsOf(undefined)).toEqual(['name missing_field required', 'id missing_field required']);
  });

  it('adds faults of the rules to faults of the schema, and leaves valid bodies to the service', () => {
    const isShouted = (text: string) =>
      text === text.toUpperCase() ? { code: 'shouted', message: `${text} is shouted` } : undefined;
    const parseCalm = bodyParser({
      resource: 'Thing',
      schema: Type.Object({
        count: Type.Integer(),
        parts: Type.Array(Type.Object({ name: Type.String({ pattern: NOT_BLANK }) })),
        word: Type.String(),
      }),
      rules: { word: isShouted, 'parts.name': isShouted },
    });
    const parts = [{ name: 'A' }, { name: ' ' }, { name: 'b' }, { name: 5 }, { name: 'C' }];
    expect(faultsOf({ word: 'NO', count: 'x', parts }, parseCalm)).toEqual([
      'count invalid_value invalid_type',
      'parts.0.name invalid_value shouted',
      'parts.1.name missing_field required',
      'parts.3.name invalid_value invalid_type',
      'parts.4.name invalid_value shouted',
      'word invalid_value shouted',
    ]);
    expect(refusal(() => parseCalm({ word: 'NO', count: 'x', parts: [] })).message).toBe('NO is shouted');
    const fitting = { word: 'NO', count: 1, parts: [] };
    expect(parseCalm(fitting)).toEqual(fitting);
  });

  it('sorts the fields of an element by its schema', () => {
    const parseParts = bodyParser({
      resource: 'Thing',
      schema: Type.Object({
        parts: Type.Array(Type.Object({ name: Type.String(), size: Type.Integer() }), { maxItems: 11 }),
        word: Type.String(),
      }),
      rules: { 'parts.name': () => ({ code: 'unfit', message: 'It is unfit' }) },
    });
    const parts = Array.from({ length: 12 }, () => ({ name: 'x', size: 'x' }));
    expect(faultsOf({ parts }, parseParts)).toEqual([
      ...parts.flatMap((_, index) => [
        `parts.${index}.name invalid_value unfit`,
        `parts.${index}.size invalid_value invalid_type`,
      ]),
      'parts invalid_value too_many',
      'word missing_field required',
    ]);
  });

  it('collects the faults of every element of a list', () => {
    const parts = Array.from({ length: 20 }, () => ({ name: '' }));
    expect(faultsOf({ name: 'x', id, parts })).toEqual(
      parts.map((_, index) => `parts.${index}.name missing_field required`),
    );
    expect(refusal(() => parse({ name: 'x', id, parts })).message).toBe('Part name is required');
  });

  it('prefers the specification’s messages', () => {
    const error = refusal(() => parse({ id }));
    expect(error.message).toBe('Name is required');
    expect(error.faults).toEqual([
      {
        resource: 'Thing',
        field: 'name',
        type: 'missing_field',
        code: 'required',
        message: 'Name cannot be empty',
      },
    ]);
    const general = refusal(() => parse({ name: 'x' }));
    expect(general.message).toBe('Bad request - invalid parameters');
    expect(general.faults[0]?.message).toBe('id is required');
  });

  it('explains the rule of a field in plain words', () => {
    const said = (fields: object) => refusal(() => plain(fields)).faults.map(({ message }) => message);
    expect(said({ mail: 'nobody', when: 'now', count: 0, list: ['a', 'b'], word: 'xxxx' })).toEqual([
      'mail must be an e-mail address',
      'when must be a date and time like 2026-01-31T12:00:00Z',
      'count must be at least 1',
      'list must have at most 1 element',
      'word must have at most 3 characters',
    ]);
    expect(said({ mail: 1, when: true, count: 'x', list: {}, word: [] })).toEqual([
      'mail must be a string',
      'when must be a string or null',
      'count must be a whole number',
      'list must be a list',
      'word must be a string',
    ]);
  });

  it.each([null, 1, true, 'text', [], [{}]])('refuses %j as a body', (body) => {
    expect(faultsOf(body)).toEqual(['body invalid_value invalid_type']);
  });

  it('reads the wrapper, and treats a missing one as empty', () => {
    const both = ['name missing_field required', 'id missing_field required'];
    expect(faultsOf({}, wrapped)).toEqual(both);
    expect(faultsOf({ thing: {} }, wrapped)).toEqual(both);
    expect(faultsOf({ thing: 7 }, wrapped)).toEqual(['thing invalid_value invalid_type']);
    expect(faultsOf({ thing: null }, wrapped)).toEqual(['thing invalid_value invalid_type']);
    expect(faultsOf([], wrapped)).toEqual(['thing invalid_value invalid_type']);
  });

  it('refuses large invalid bodies fast, with a short answer', async () => {
    const many = Array.from({ length: 100_000 }, () => '\0');
    const taken = await processorMs(() => {
      for (const body of [
        { name: { ['k'.repeat(60_000)]: many }, id: many },
        { name: many, id, parts: many.map((name) => ({ name })) },
        { name: 'x', id, parts: many },
        { name: 'x', id, ids: many.map(() => 1) },
        { name: 'x', id, ids: many },
      ]) {
        const { faults } = refusal(() => parse(body));
        expect(JSON.stringify(faults).length).toBeLessThan(5_000);
      }
    });
    expect(taken).toBeLessThan(1_000);
  });

  it('does not apply further rules to a text that is too long', async () => {
    const parseNumber = bodyParser({
      resource: 'Thing',
      schema: Type.Object({ number: Type.String({ pattern: '^ *([0-9][0-9 ]+ *)?$', maxLength: 40 }) }),
    });
    // Matching its blanks takes time quadratic in their number.
    const number = `1${' '.repeat(50_000)}a`;
    const taken = await processorMs(() =>
      expect(faultsOf({ number }, parseNumber)).toEqual(['number invalid_value too_long']),
    );
    expect(taken).toBeLessThan(500);
    expect(faultsOf({ number: '1'.repeat(41) }, parseNumber)).toEqual(['number invalid_value too_long']);
  });

  it('also reports faults of the first elements of a list that is too long', () => {
    const parts = Array.from({ length: 30 }, (_, index) => ({ name: index === 0 ? ' ' : 'y' }));
    expect(faultsOf({ name: 'x', id, parts })).toEqual([
      'parts.0.name missing_field required',
      'parts invalid_value too_many',
    ]);
  });

  it('refuses NUL in the fields that it reads, which PostgreSQL cannot store', () => {
    expect(faultsOf({ name: 'a\0', id })).toEqual(['name invalid_value invalid_format']);
    expect(faultsOf({ name: 'x', id, parts: [{ name: 'a\0' }] })).toEqual([
      'parts.0.name invalid_value invalid_format',
    ]);
  });

  it('refuses a lone surrogate, which would come back as another character', () => {
    for (const name of ['\ud800', 'a\udfffb', '😀\ud83d']) {
      expect(faultsOf({ name, id })).toEqual(['name invalid_value invalid_format']);
    }
    expect(parse({ name: '😀', id, unknown: '\ud800' })).toMatchObject({ name: '😀' });
    expect(faultsOf({ name: `a${'😀'.repeat(50)}`, id })).toEqual(['name invalid_value too_long']);
  });

  it('limits the number of reported faults', async () => {
    const parts = Array.from({ length: 100_000 }, () => 1);
    const taken = await processorMs(() =>
      expect(refusal(() => parse({ name: 'x', id, parts })).faults.length).toBeLessThanOrEqual(200),
    );
    expect(taken).toBeLessThan(1_000);
  });

  it.each([
    ['a long text', 'x'.repeat(1_000_000)],
    ['white space', ' '.repeat(1_000_000)],
    ['combining characters', `a${'\u0301'.repeat(500_000)}`],
    ['joined emoji', '👩‍👩‍👧‍👦'.repeat(50_000)],
    ['almost an id', `${id.slice(0, -1)}${'0'.repeat(1_000_000)}`],
    ['deep arrays', JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
  ])('refuses %s quickly', async (_, value: unknown) => {
    const taken = await processorMs(() => expect(faultsOf({ name: value, id: value }).length).toBe(2));
    expect(taken).toBeLessThan(1_000);
  });
});
