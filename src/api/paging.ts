import { type Fault, INVALID_PARAMETERS, InvalidRequest } from '../lib/failures.ts';
import type { PageOf, PageRequest } from '../lib/page.ts';

export interface PageEnvelope<Item> extends Omit<PageOf<Item>, 'hasNext'> {
  previous: string | null;
  next: string | null;
}

export const MAXIMUM_LIMIT = 100;
/** Fits into the integers of both databases. */
const MAXIMUM_OFFSET = Number.MAX_SAFE_INTEGER;

/** Schemas for the OpenAPI description. */
export const PAGE_PARAMETERS = [
  {
    name: 'limit',
    schema: {
      type: 'integer',
      minimum: 0,
      default: MAXIMUM_LIMIT,
      description: 'items in a page; over 100 counts as 100',
    },
    example: 20,
  },
  {
    name: 'offset',
    schema: { type: 'integer', minimum: 0, default: 0, description: 'items to skip' },
    example: 0,
  },
] as const;

/**
 * Reads `limit` and `offset` (docs/api.md, Paging). A limit over 100 counts as 100. A malformed number throws if the
 * endpoint lists 400 (`strict`); otherwise the default applies.
 */
export function readPageRequest(query: URLSearchParams, strict: boolean): PageRequest {
  const limit = readWhole(query, 'limit', MAXIMUM_LIMIT);
  const offset = readWhole(query, 'offset', 0);
  const malformed = Object.entries({ limit, offset }).filter(([, value]) => value === undefined);
  if (strict && malformed.length > 0) {
    throw new InvalidRequest(
      INVALID_PARAMETERS,
      malformed.map(([name]) => noWholeNumber(name)),
    );
  }
  return { limit: Math.min(limit ?? MAXIMUM_LIMIT, MAXIMUM_LIMIT), offset: offset ?? 0 };
}

/** The parameter, or `fallback` if it is missing; undefined if it is malformed. */
function readWhole(query: URLSearchParams, name: string, fallback: number): number | undefined {
  const texts = query.getAll(name);
  if (texts.length === 0) return fallback;
  const [text = ''] = texts;
  return texts.length === 1 && /^\d+$/.test(text) ? Math.min(Number(text), MAXIMUM_OFFSET) : undefined;
}

function noWholeNumber(field: string): Fault {
  return {
    resource: 'Pagination',
    field,
    type: 'invalid_value',
    code: 'invalid_number',
    message: `${field} must be a whole number, 0 or greater`,
  };
}

/** Adds the links to a page. The links keep the other query parameters, because clients follow them unchanged. */
export function pageEnvelope<Item>(
  page: PageOf<Item>,
  request: PageRequest,
  address: { base: string; path: string; query: URLSearchParams },
): PageEnvelope<Item> {
  const link = (offset: number): string => {
    const query = new URLSearchParams(address.query);
    query.set('limit', String(request.limit));
    query.set('offset', String(offset));
    return `${address.base}${address.path}?${query}`;
  };
  const { limit, offset } = request;
  // A page of limit 0 has no links: a client that follows them would never finish.
  const hasNext = limit > 0 && (page.hasNext ?? offset + limit < page.count);
  const hasPrevious = limit > 0 && offset > 0;
  return {
    previous: hasPrevious
      ? link(Math.max(0, (page.results.length > 0 ? offset : Math.min(offset, page.count)) - limit))
      : null,
    next: hasNext ? link(offset + limit) : null,
    count: page.count,
    results: page.results,
  };
}
