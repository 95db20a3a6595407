import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoadFailure, ProgressBar } from './notice.tsx';

/** Shows what a query has loaded; until then that it loads, and what went wrong if it did. */
export function Loaded<Data>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<Data>;
  /** Of what, for those who do not see the bar: "sites". */
  what: string;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <LoadFailure error={query.error} onRetry={() => query.refetch()} />;
  return <ProgressBar label={`Loading ${what}`} />;
}
