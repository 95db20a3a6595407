import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { invalidValue } from '../lib/failures.ts';
import type { PlacedPage, Position, Sort, SortedRequest } from '../lib/page.ts';
import { PAGE_PARAMETERS, type PageEnvelope, pageEnvelope, readPageRequest } from './paging.ts';
import { type QueryParameter, type QueryValues, readQuery } from './query.ts';
import { parseTarget } from './request-target.ts';
import { type Call, checkedCall, type Endpoint, type Route } from './route.ts';
import { page } from './schema.ts';

interface SortedRouteDefinition<
  Path extends string,
  Item extends TSchema,
  Filter extends string,
  Key extends string,
> extends Omit<Endpoint<Path>, 'method'> {
  item: Item;
  filters: readonly QueryParameter<Filter>[];
  /** Sort keys with the type of their values. */
  sorts: Readonly<Record<Key, 'text' | 'time'>>;
  handle(
    call: Call<Path> & { page: SortedRequest<Key>; filters: QueryValues<Filter> },
  ): Promise<PlacedPage<Static<Item>>>;
}

/** The content of a cursor: sort key, direction, and a position. */
const Cursor = Type.Tuple([
  Type.String(),
  Type.Boolean(),
  Type.String({ maxLength: 300 }),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  Type.Boolean(),
]);
const LONGEST_CURSOR = 2_000;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Declares an endpoint that answers a list in pages, by offset or by cursor, in an order that the client chooses. */
export function sortedRoute<
  Path extends string,
  Item extends TSchema,
  Filter extends string,
  Key extends string,
>(definition: SortedRouteDefinition<Path, Item, Filter, Key>): Route {
  const { handle, item, filters, sorts, ...declared } = definition;
  const keys = Object.keys(sorts).flatMap((key) => [key, `-${key}`]);
  const parameters = [sortParameter(keys), CURSOR_PARAMETER] as const;

  function sortOf(text: string | undefined): Sort<Key> {
    const isDescending = text?.startsWith('-') ?? false;
    const name = isDescending ? text?.slice(1) : text;
    return { key: isKey(name) ? name : null, isDescending };
  }

  const isKey = (name: string | undefined): name is Key => name !== undefined && Object.hasOwn(sorts, name);

  function positionOf(text: string, sort: Sort<Key>): Position | null {
    if (text === '') return null;
    const [key, isDescending, value, seq, isBefore] = parseCursor(text);
    if (key !== (sort.key ?? '') || isDescending !== sort.isDescending) {
      throw refusedCursor('cursor belongs to a list with another sort');
    }
    const isTime = sort.key !== null && sorts[sort.key] === 'time';
    if (isTime && !(TIME.test(value) && !Number.isNaN(Date.parse(value)))) throw refusedCursor();
    return { value, seq, isBefore };
  }

  return {
    ...declared,
    method: 'GET',
    success: 200,
    response: page(item),
    isPaged: true,
    query: [...PAGE_PARAMETERS, ...parameters, ...filters],
    async run(call, publicUrl): Promise<PageEnvelope<Static<Item>>> {
      const checked = checkedCall(call, 'GET');
      const target = parseTarget(call.target);
      const query = new URLSearchParams(target.query);
      const { sort: order, cursor } = readQuery(query, parameters);
      const sort = sortOf(order);
      const request = {
        ...readPageRequest(query, true),
        sort,
        cursor: cursor === undefined ? null : { position: positionOf(cursor, sort) },
      };
      if (cursor !== undefined && request.offset > 0) {
        throw refusedCursor('cursor cannot be used together with offset');
      }
      const answer = await handle({ ...checked, page: request, filters: readQuery(query, filters) });
      const { count, results, previous, next } = answer;
      const address = { base: publicUrl, path: target.path, query };
      if (request.cursor === null) return pageEnvelope({ count, results }, request, address);
      const link = (position: Position | null): string | null => {
        if (position === null || request.limit === 0) return null;
        const linked = new URLSearchParams(query);
        linked.delete('offset');
        linked.set('limit', String(request.limit));
        linked.set('cursor', formatCursor(sort, position));
        return `${publicUrl}${target.path}?${linked}`;
      };
      return { previous: link(previous), next: link(next), count, results };
    },
  };
}

function sortParameter(keys: readonly string[]): QueryParameter<'sort'> {
  return {
    name: 'sort',
    schema: {
      type: 'string',
      enum: [...keys],
      description: 'the order; with `-`, descending. Without it, the oldest item comes first',
    },
    example: keys[0] ?? '',
    read(text) {
      if (keys.includes(text)) return text;
      throw invalidValue('Query', 'sort', 'invalid_format', `sort must be one of ${keys.join(', ')}`);
    },
  };
}

const CURSOR_PARAMETER: QueryParameter<'cursor'> = {
  name: 'cursor',
  schema: {
    type: 'string',
    maxLength: LONGEST_CURSOR,
    description: 'pages by cursor instead of `offset`: empty for the first page, then as in `next`',
  },
  example: '',
  read: (text) => text,
};

function formatCursor({ key, isDescending }: Sort, { value, seq, isBefore }: Position): string {
  return Buffer.from(JSON.stringify([key ?? '', isDescending, value, seq, isBefore])).toString('base64url');
}

function parseCursor(text: string): Type.Static<typeof Cursor> {
  if (text.length > LONGEST_CURSOR) throw refusedCursor();
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Check(Cursor, content) && content[2].isWellFormed() && !content[2].includes('\0')) return content;
  } catch {
    // Not JSON.
  }
  throw refusedCursor();
}

function refusedCursor(message = 'cursor must be empty, or as in next of an earlier answer') {
  return invalidValue('Query', 'cursor', 'invalid_format', message);
}
