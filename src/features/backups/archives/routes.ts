import { bodyRoute, pagedRoute, type Route, Started } from '../../../api/route.ts';
import type { Static } from '../../../api/schema.ts';
import { archiveSchema, createArchiveSchema } from '../schema.ts';
import type { ArchiveService, PresentArchive } from './service.ts';

export function archiveRoutes(archives: ArchiveService): Route[] {
  const tag = 'Backups';
  return [
    pagedRoute({
      path: '/installs/:install_id/archives',
      operationId: 'listArchives',
      summary: 'List archives',
      description:
        'Returns the archives of an install that can be downloaded or are being made, oldest first. Each link works for 24 hours.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      item: archiveSchema,
      async handle({ caller, id, page }) {
        const { count, results } = await archives.page(caller, id('install_id'), page);
        return { count, results: results.map(presentArchive) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/archives',
      operationId: 'createArchive',
      summary: 'Create an archive',
      description:
        'Packs a completed backup as one `.tar.gz` with files and SQL. List the archives to get the link once it is completed.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      success: 202,
      starts: 'archive.create',
      response: archiveSchema,
      body: { resource: 'Archive', schema: createArchiveSchema },
      async handle({ caller, id }, { backup_id, notification_emails = [] }) {
        const { archive, operationId } = await archives.request(caller, id('install_id'), {
          backup_id,
          notification_emails,
        });
        return new Started(operationId, presentArchive(archive));
      },
    }),
  ];
}

function presentArchive(archive: PresentArchive): Static<typeof archiveSchema> {
  const { id, state, notification_emails, download_uri } = archive;
  return {
    id,
    backup: { id: archive.backup_id },
    notification_emails,
    state,
    create_time: archive.created_at,
    start_time: archive.started_at,
    complete_time: state === 'completed' ? archive.finished_at : null,
    abort_time: state === 'aborted' ? archive.finished_at : null,
    download_uri,
    size_bytes: archive.bytes,
    expires_at: state === 'completed' ? archive.expires_at : null,
  };
}
