import { pagedRoute, type Route } from '../../../api/route.ts';
import { nullableString, nullableTimestamp, stringEnum, Type, timestamp, uuid } from '../../../api/schema.ts';
import type { ArchiveService } from './service.ts';

const listedArchiveSchema = Type.Object({
  id: uuid(),
  state: stringEnum(['requested', 'in_progress', 'completed', 'aborted']),
  bytes: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'null until completed' }),
  reason: nullableString('reason of an abort, one sentence'),
  created_at: timestamp(),
  expires_at: nullableTimestamp('null unless completed'),
  backup_description: nullableString('null if the backup was deleted'),
  download_uri: nullableString('signed link; null until completed, and once expired'),
});

/** The portal's list of archives: the public API leaves out expired ones. */
export function archivePortalRoutes(archives: ArchiveService): Route[] {
  return [
    pagedRoute({
      path: '/installs/:install_id/archives',
      operationId: 'listArchives',
      summary: 'The archives of an install, newest first, with expired ones until they are deleted',
      tag: 'Backups',
      errors: [400, 401, 403, 404, 429, 503],
      item: listedArchiveSchema,
      handle: ({ caller, id, page }) => archives.list(caller, id('install_id'), page),
    }),
  ];
}
