import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
} from '../../../api/schema.ts';
import { backupPath } from '../schema.ts';

const nullableCount = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

export const backupEntrySchema = component(
  'BackupEntry',
  Type.Object(
    {
      name: Type.String(),
      path: Type.String({ description: 'in the backup; names the entry in other requests' }),
      type: stringEnum(['folder', 'file', 'link']),
      size_bytes: nullableCount('null for folders and links'),
      modified_time: nullableTimestamp('when the entry was last changed; null if unknown'),
      link_target: nullableString('where a link leads; null for others'),
    },
    { description: 'A file, folder or link of a website in a backup' },
  ),
  {
    name: 'logo.png',
    path: 'htdocs/wp-content/uploads/logo.png',
    type: 'file',
    size_bytes: 18_204,
    modified_time: '2026-01-30T16:20:00.000Z',
    link_target: null,
  },
);

export const backupTableSchema = component(
  'BackupTable',
  Type.Object(
    {
      name: Type.String(),
      size_bytes: nullableCount('size in the backup; null if unknown'),
      rows: nullableCount('null if unknown'),
    },
    { description: 'A table of the database in a backup' },
  ),
  { name: 'wp_posts', size_bytes: 904_112, rows: 412 },
);

export const createFileLinkSchema = component(
  'CreateBackupFileLink',
  Type.Object({ path: backupPath('path of a file in the backup') }),
  { path: 'htdocs/wp-content/uploads/logo.png' },
);

export const fileLinkSchema = component(
  'BackupFileLink',
  Type.Object(
    {
      download_uri: Type.String({ description: 'signed link to the file, which needs no credential' }),
      size_bytes: Type.Integer(),
      expires_at: timestamp('until when it can be downloaded'),
    },
    { description: 'A link to one file of a backup' },
  ),
  {
    download_uri: `https://hosting.example.net/downloads/backups/${EXAMPLE_ID.backup}?path=htdocs%2Fwp-content%2Fuploads%2Flogo.png&expires=1769938269&signature=u2Yw`,
    size_bytes: 18_204,
    expires_at: '2026-02-01T09:31:09.000Z',
  },
);
