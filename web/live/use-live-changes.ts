import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { connection } from './connected.ts';

/** Reloads what others change while the page is visible, unless `userId` is null. Its script loads after the first page. */
export function useLiveChanges(userId: string | null): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (userId === null) return;
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
