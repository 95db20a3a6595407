import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { rounds } from '../../test/rounds.ts';
import { InvalidRequest } from '../lib/failures.ts';
import { MAXIMUM_LIMIT, pageEnvelope, readPageRequest } from './paging.ts';

const read = (query: string, strict = true) => readPageRequest(new URLSearchParams(query), strict);

describe('readPageRequest', () => {
  it.each([
    ['', 100, 0],
    ['limit=0', 0, 0],
    ['limit=1&offset=2', 1, 2],
    ['limit=100', 100, 0],
    ['limit=101', 100, 0],
    ['limit=1000', 100, 0],
    ['limit=007', 7, 0],
    [`limit=${'9'.repeat(400)}`, 100, 0],
    [`offset=${'9'.repeat(400)}`, 100, Number.MAX_SAFE_INTEGER],
    ['other=x', 100, 0],
  ])('reads %j', (query, limit, offset) => {
    expect(read(query)).toEqual({ limit, offset });
  });

  const malformed = ['', '-1', '+1', '1.0', '1e2', '0x10', ' 1', '1 ', 'ten', 'NaN', '١', '1,2', '\0', '１'];

  it.each(['limit', 'offset'])('refuses a malformed %s if the row lists 400', (name) => {
    for (const value of malformed) {
      const query = `${name}=${encodeURIComponent(value)}`;
      expect(() => read(query), query).toThrow(InvalidRequest);
      expect(read(query, false), query).toEqual({ limit: 100, offset: 0 });
    }
    expect(() => read(`${name}=1&${name}=2`)).toThrow(InvalidRequest);
  });

  it('reports both at once', () => {
    const message = (name: string) => `${name} must be a whole number, 0 or greater`;
    expect(() => read('offset=x&limit=-1')).toThrow(
      expect.objectContaining({
        faults: [
          expect.objectContaining({ field: 'limit', message: message('limit') }),
          expect.objectContaining({ field: 'offset', message: message('offset') }),
        ],
      }),
    );
    expect(read('offset=2&limit=x', false)).toEqual({ limit: 100, offset: 2 });
  });
});

describe('pageEnvelope', () => {
  const base = 'https://api.example.com:8443';
  const items = (count: number) => Array.from({ length: count }, (_, index) => index);

  /** The page that an endpoint would answer. */
  function answer(count: number, url: string) {
    const { pathname, searchParams, origin } = new URL(url, base);
    expect(origin).toBe(base);
    const request = readPageRequest(searchParams, true);
    const results = items(count).slice(request.offset, request.offset + request.limit);
    return pageEnvelope({ count, results }, request, { base, path: pathname, query: searchParams });
  }

  const lists = fc.record({
    count: fc.integer({ min: 0, max: 350 }),
    limit: fc.integer({ min: 1, max: 120 }),
    offset: fc.integer({ min: 0, max: 400 }),
  });

  it('links from the first page to every item once, in order', () => {
    fc.assert(
      fc.property(lists, ({ count, limit }) => {
        const seen: number[] = [];
        let url: string | null = `/v1/sites?limit=${limit}`;
        for (let pages = 0; url !== null; pages++) {
          expect(pages).toBeLessThanOrEqual(count);
          const page: ReturnType<typeof answer> = answer(count, url);
          expect(page.count).toBe(count);
          expect(page.results.length).toBeLessThanOrEqual(MAXIMUM_LIMIT);
          seen.push(...page.results);
          url = page.next;
        }
        expect(seen).toEqual(items(count));
      }),
    );
  });

  it('links back to the first page from any offset, without a gap', () => {
    fc.assert(
      fc.property(lists, ({ count, limit, offset }) => {
        const seen = new Set<number>();
        let url: string | null = `/v1/sites?limit=${limit}&offset=${offset}`;
        for (let pages = 0; url !== null; pages++) {
          expect(pages).toBeLessThanOrEqual(count + 1);
          const page: ReturnType<typeof answer> = answer(count, url);
          for (const item of page.results) seen.add(item);
          url = page.previous;
        }
        const end = Math.min(count, offset + Math.min(limit, MAXIMUM_LIMIT));
        expect([...seen].sort((a, b) => a - b)).toEqual(items(end));
      }),
    );
  });

  it('links back to the previous page', () => {
    fc.assert(
      fc.property(lists, ({ count, limit }) => {
        const first = answer(count, `/v1/sites?limit=${limit}&offset=0`);
        if (first.next === null) return;
        const second = answer(count, first.next);
        expect(second.previous).not.toBeNull();
        expect(answer(count, second.previous ?? '')).toEqual(first);
      }),
    );
  });

  it('has null only at the ends', () => {
    fc.assert(
      fc.property(lists, ({ count, limit, offset }) => {
        const page = answer(count, `/v1/sites?limit=${limit}&offset=${offset}`);
        expect(page.previous === null).toBe(offset === 0);
        expect(page.next === null).toBe(offset + Math.min(limit, MAXIMUM_LIMIT) >= count);
      }),
    );
  });

  it('has no links for a limit of 0', () => {
    expect(answer(5, '/v1/sites?limit=0&offset=2')).toEqual({
      previous: null,
      next: null,
      count: 5,
      results: [],
    });
  });

  it('keeps the other parameters unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' }), (name, value) => {
        if (name === 'limit' || name === 'offset') return;
        const query = new URLSearchParams([
          [name, value],
          ['limit', '1'],
        ]);
        const page = pageEnvelope(
          { count: 9, results: [0] },
          { limit: 1, offset: 0 },
          { base, path: '/v1/sites', query },
        );
        const next = new URL(page.next ?? '');
        expect(next.searchParams.getAll(name)).toEqual(query.getAll(name));
        expect(next.searchParams.get('offset')).toBe('1');
        expect(page.next).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: rounds(30, 100) },
    );
  });
});
