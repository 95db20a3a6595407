import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoadFailure, ProgressBar } from './notice.tsx';

/** Renders the data of a query, a progress bar while it loads, or the error with a Try again button. */
export function Loaded<Data>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<Data>;
  /** What loads, for screen readers: "sites". */
  what: string;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <LoadFailure error={query.error} onRetry={() => query.refetch()} />;
  return <ProgressBar label={`Loading ${what}`} />;
}
