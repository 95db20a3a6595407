import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { ApiFailure, unwrap } from './failure.ts';

export const ENTRIES_A_PAGE = 100;

type Files = HostingPaths['/installs/{install_id}/backups/{backup_id}/files']['get'];
type Tables = HostingPaths['/installs/{install_id}/backups/{backup_id}/tables']['get'];
export type BackupEntry = BodyOf<Files>['results'][number];
export type BackupTable = BodyOf<Tables>['results'][number];

/** The code of an answer while the host reads the backup for the first time. */
const isBeingRead = (error: unknown): boolean =>
  error instanceof ApiFailure && error.fieldErrors.some(({ code }) => code === 'being_prepared');

/** Asks again while the backup is being read. A backup does not change, so what was loaded stays. */
const lookingInto = {
  staleTime: Number.POSITIVE_INFINITY,
  retry: (failures: number, error: Error) =>
    isBeingRead(error) || (failures < 2 && !(error instanceof ApiFailure && error.status < 500)),
  retryDelay: 2_000,
};

/** Whether a query waits for the first reading of a backup. */
export const waitsForReading = (query: { data: unknown; failureReason: unknown }): boolean =>
  query.data === undefined && isBeingRead(query.failureReason);

/** Loads a page of a folder of a backup. */
export function useBackupFiles(
  { installId, backupId }: { installId: string; backupId: string },
  folder: string,
  page: number,
) {
  return useQuery({
    ...lookingInto,
    queryKey: ['backup', installId, backupId, 'files', folder, page],
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/backups/{backup_id}/files', {
          params: {
            path: { install_id: installId, backup_id: backupId },
            query: { path: folder, limit: ENTRIES_A_PAGE, offset: page * ENTRIES_A_PAGE },
          },
        }),
      ),
  });
}

/** Loads a page of the tables of a backup. */
export function useBackupTables(
  { installId, backupId }: { installId: string; backupId: string },
  page: number,
) {
  return useQuery({
    ...lookingInto,
    queryKey: ['backup', installId, backupId, 'tables', page],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/backups/{backup_id}/tables', {
          params: {
            path: { install_id: installId, backup_id: backupId },
            query: { limit: ENTRIES_A_PAGE, offset: page * ENTRIES_A_PAGE },
          },
        }),
      ),
  });
}

/** Loads one backup. */
export function useBackup(installId: string, backupId: string) {
  return useQuery({
    queryKey: ['backup', installId, backupId],
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/backups/{backup_id}', {
          params: { path: { install_id: installId, backup_id: backupId } },
        }),
      ),
  });
}

/** Makes a link to a file of a backup, which the browser downloads. */
export async function backupFileLink(
  { installId, backupId }: { installId: string; backupId: string },
  path: string,
): Promise<string> {
  const { download_uri } = await unwrap(
    hosting.POST('/installs/{install_id}/backups/{backup_id}/file_links', {
      params: { path: { install_id: installId, backup_id: backupId } },
      body: { path },
    }),
  );
  return download_uri;
}
