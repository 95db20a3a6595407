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

/** The longest page of the list. */
const MOST_LISTED = 100;

/** Loads the newest backup that can bring back a website, verified ones before others; null without any. */
export function useRestorableBackup(installId: string) {
  return useQuery({
    queryKey: ['backup', installId, 'restorable'],
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/installs/{install_id}/backups', {
          params: { path: { install_id: installId }, query: { limit: MOST_LISTED } },
        }),
      );
      // Checkpoints may be of the damaged website, and copies are deleted soon.
      const restorable = results.filter(
        (backup) => isRestorable(backup) && !backup.for_copy && !backup.checkpoint,
      );
      return restorable.find(({ verified_at }) => verified_at !== null) ?? restorable[0] ?? null;
    },
  });
}

export type Backup = NonNullable<ReturnType<typeof useBackups>['data']>['results'][number];
