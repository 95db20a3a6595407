import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { connection } from './connected.ts';

/** Reloads what others change while the page is visible. Its script loads after the first page. */
export function useLiveChanges(userId: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    let isGone = false;
    let leave = () => {};
    import('./live.ts').then(
      ({ followChanges }) => {
        if (!isGone) leave = followChanges(queries, userId);
      },
      () => connection.broken(),
    );
    return () => {
      isGone = true;
      leave();
    };
  }, [queries, userId]);
}
