import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { isRestorable } from './backup-state.ts';
import { portal } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

export const BACKUPS_A_PAGE = 25;

export function useBackups(installId: string, page: number) {
  return useQuery({
    queryKey: ['backup', installId, page],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/installs/{install_id}/backups', {
          params: {
            path: { install_id: installId },
            query: { limit: BACKUPS_A_PAGE, offset: page * BACKUPS_A_PAGE },
          },
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.results.some(({ status }) => status === 'requested' || status === 'in_progress')
        ? POLL_MS
        : false,
  });
}

/** A completed backup is among this many of the newest, or none is recent. */
const NEWEST = 10;

/** Loads the last completed backup of an install; null without a recent one. */
export function useLastBackup(installId: string) {
  return useQuery({
    queryKey: ['backup', installId, 'last'],
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/installs/{install_id}/backups', {
          params: { path: { install_id: installId }, query: { limit: NEWEST } },
        }),
      );
      return results.find((backup) => isRestorable(backup) && !backup.for_copy) ?? null;
    },
  });
}

export type Backup = NonNullable<ReturnType<typeof useBackups>['data']>['results'][number];
