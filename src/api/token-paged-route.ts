import type { Static, TSchema } from 'typebox';
import type { PageRequest } from '../lib/page.ts';
import { PAGE_PARAMETERS, readPageRequest } from './paging.ts';
import { parseTarget } from './request-target.ts';
import { type Call, checkedCall, type Endpoint, type Route } from './route.ts';

interface TokenPage<Item> {
  items: Item[];
  next_page_token: string;
}

/**
 * Declares a list in the form of version 1.17's certificates: with a token in place of links and a count. The token is the
 * `offset` of the next page, and empty on the last. `handle` answers up to one item more than the limit.
 */
export function tokenPagedRoute<Path extends string, Item, Response extends TSchema>({
  handle,
  envelope,
  ...declared
}: Omit<Endpoint<Path>, 'method'> & {
  response: Response;
  handle(call: Call<Path> & { page: PageRequest }): Promise<Item[]>;
  /** Names the members of the answer. */
  envelope(page: TokenPage<Item>): Static<Response>;
}): Route {
  return {
    ...declared,
    method: 'GET',
    success: 200,
    isPaged: true,
    query: PAGE_PARAMETERS,
    async run(call) {
      const query = new URLSearchParams(parseTarget(call.target).query);
      const page = readPageRequest(query, declared.errors.includes(400));
      const found = await handle({ ...checkedCall(call, 'GET'), page });
      // A page of limit 0 has no token: a client that follows it would never finish.
      const hasNext = page.limit > 0 && found.length > page.limit;
      return envelope({
        items: found.slice(0, page.limit),
        next_page_token: hasNext ? String(page.offset + page.limit) : '',
      });
    },
  };
}
