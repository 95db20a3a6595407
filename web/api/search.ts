import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

export type FoundThing = BodyOf<PortalPaths['/portal/api/search']['get']>['results'][number];

/** The sites, installs and domains of all accounts of the person whose name holds `text`. Nothing is asked for an empty one. */
export const searchFor = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      unwrap(portal.GET('/portal/api/search', { params: { query: { search: text } }, signal })),
  });
