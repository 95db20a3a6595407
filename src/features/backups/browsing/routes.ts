import type { QueryParameter } from '../../../api/query.ts';
import { bodyRoute, pagedRoute, type Route } from '../../../api/route.ts';
import { LONGEST_BACKUP_PATH } from '../../../hosting/contract/backup-path.ts';
import { backupEntrySchema, backupTableSchema, createFileLinkSchema, fileLinkSchema } from './schema.ts';
import type { BackupBrowsingService } from './service.ts';

const path: QueryParameter<'path'> = {
  name: 'path',
  schema: {
    type: 'string',
    maxLength: LONGEST_BACKUP_PATH,
    description: 'path of the folder to list; the top of the backup by default',
  },
  example: 'htdocs/wp-content',
  // The service checks it, with the names of the field.
  read: (text) => text,
};

/** Endpoints that browse a backup. */
export function browsingRoutes(browsing: BackupBrowsingService): Route[] {
  const tag = 'Backups';
  const errors = [400, 401, 403, 404, 409, 429, 502, 503] as const;
  const firstReading =
    'A backup of an earlier version is read for this first. The answer is 503 with the code `being_prepared` until then.';
  return [
    pagedRoute({
      path: '/installs/:install_id/backups/:backup_id/files',
      operationId: 'listBackupFiles',
      summary: 'List a folder of a backup',
      description: `Returns the files, folders and links in a folder of a backup, folders first, then by name. ${firstReading}`,
      tag,
      errors,
      item: backupEntrySchema,
      filters: [path],
      async handle({ caller, id, page, filters }) {
        const asked = { ...page, ...filters };
        const { count, entries, folder } = await browsing.files(
          caller,
          id('install_id'),
          id('backup_id'),
          asked,
        );
        return {
          count,
          results: entries.map(({ name, type, bytes, modifiedAt, target }) => ({
            name,
            path: folder === '' ? name : `${folder}/${name}`,
            type,
            size_bytes: bytes,
            modified_time: timeOf(modifiedAt),
            link_target: target,
          })),
        };
      },
    }),
    pagedRoute({
      path: '/installs/:install_id/backups/:backup_id/tables',
      operationId: 'listBackupTables',
      summary: 'List the tables of a backup',
      description: `Returns the tables of the database in a backup by name. ${firstReading}`,
      tag,
      errors,
      item: backupTableSchema,
      async handle({ caller, id, page }) {
        const { count, tables } = await browsing.tables(caller, id('install_id'), id('backup_id'), page);
        return { count, results: tables.map(({ name, bytes, rows }) => ({ name, size_bytes: bytes, rows })) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/backups/:backup_id/file_links',
      operationId: 'createBackupFileLink',
      summary: 'Create a link to a file of a backup',
      description:
        'The link downloads one file as it was, for an hour, without a credential. Files have up to 2 GiB. Each request creates another link, so `Idempotency-Key` has no effect.',
      tag,
      errors,
      isSecret: true,
      isRepeatable: true,
      success: 201,
      response: fileLinkSchema,
      body: { resource: 'Backup', schema: createFileLinkSchema },
      handle: ({ caller, id }, body) =>
        browsing.createLink(caller, id('install_id'), id('backup_id'), body.path),
    }),
  ];
}

/** Times that no date can express are left out. */
function timeOf(seconds: number | null): string | null {
  const time = new Date(seconds === null ? Number.NaN : seconds * 1000);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999 ? time.toISOString() : null;
}
