import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoadFailure } from './notice.tsx';
import { ListSkeleton, PageSkeleton } from './skeleton.tsx';

/** Renders the data of a query, grey lines while it loads, or the error with a Try again button. */
export function Loaded<Data>({
  query,
  what,
  page = false,
  children,
}: {
  query: UseQueryResult<Data>;
  /** The loading content, for screen readers: "sites". */
  what: string;
  /** Whether the query is for the whole page, so that its title loads, too. */
  page?: boolean;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <LoadFailure error={query.error} onRetry={() => query.refetch()} />;
  const label = `Loading ${what}`;
  return page ? <PageSkeleton label={label} /> : <ListSkeleton label={label} />;
}
