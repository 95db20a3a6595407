import { EXAMPLE_ID } from '../../api/example-ids.ts';
import {
  component,
  emailAddress,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../api/schema.ts';
import { NOT_BLANK } from '../../api/validation.ts';
import { BACKUP_PATH, LONGEST_BACKUP_PATH, MOST_RESTORED_PATHS } from '../../hosting/contract/backup-path.ts';
import type { ReplacedParts } from './replaced-parts.ts';

const STATUSES = ['requested', 'in_progress', 'completed', 'aborted'] as const;
const status = component('BackupStatus', stringEnum(STATUSES), 'completed');

export const requestedBackupSchema = component(
  'RequestedBackup',
  Type.Object({ id: uuid(), status }, { description: 'A backup that was just requested' }),
  { id: EXAMPLE_ID.backup, status: 'requested' },
);

export const backupSchema = component(
  'Backup',
  Type.Object(
    {
      id: uuid(),
      status,
      description: nullableString(),
      create_time: nullableTimestamp('when it was requested'),
      complete_time: nullableTimestamp('null until completed'),
      wordpress_version: nullableString('of the website; null if unknown or without WordPress'),
      kind: stringEnum(['manual', 'scheduled', 'checkpoint'], 'a checkpoint is made before a restore'),
      size_bytes: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'null until completed',
      }),
      verified_at: nullableTimestamp(
        'when what it stored was read back, or all of it was restored in a check; null until completed',
      ),
      missing_since: nullableTimestamp(
        'since when the backup storage does not have it any more, so that it cannot be restored; null while it is there',
      ),
      expires_at: nullableTimestamp(
        'from when it is deleted, unless it is the last backup of the install; null: never',
      ),
    },
    { description: 'A verified copy of an install' },
  ),
  {
    id: EXAMPLE_ID.backup,
    status: 'completed',
    description: 'Before the change',
    create_time: '2026-01-31T09:30:00.000Z',
    complete_time: '2026-01-31T09:30:42.000Z',
    wordpress_version: '6.8.3',
    kind: 'manual',
    size_bytes: 48_201_216,
    verified_at: '2026-01-31T09:30:42.000Z',
    missing_since: null,
    expires_at: null,
  },
);

export const notificationEmails = (description: string) =>
  Type.Array(emailAddress(), { maxItems: 50, description });

export const createBackupSchema = component(
  'CreateBackup',
  Type.Object({
    description: Type.String({ pattern: NOT_BLANK, maxLength: 1000, description: 'why the backup is made' }),
    notification_emails: notificationEmails('addresses notified when the backup completes or aborts'),
  }),
  { description: 'Before the update of WooCommerce', notification_emails: ['ada@example.com'] },
);

/** MariaDB allows 64 characters. */
export const tableNames = Type.Array(
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
  { maxItems: 1_000, description: 'only these tables of the database; all if empty or left out' },
);

export const backupPath = (description?: string) =>
  Type.String({
    maxLength: LONGEST_BACKUP_PATH,
    pattern: BACKUP_PATH,
    ...(description === undefined ? {} : { description }),
  });

/** The fields that choose what a restore replaces. */
export const restoredParts = {
  restore_database: Type.Optional(
    Type.Boolean({ description: 'true by default; false by default if only `paths` are given' }),
  ),
  restore_files: Type.Optional(
    Type.Boolean({
      description: 'an addition of Homeport; true by default; false by default if only `db_tables` are given',
    }),
  ),
  paths: Type.Optional(
    Type.Array(backupPath(), {
      maxItems: MOST_RESTORED_PATHS,
      description:
        'an addition of Homeport: only these files and folders, by their paths in the backup. They replace those of the same name. Files in such a folder that the backup lacks stay. All files if empty or left out',
    }),
  ),
  db_tables: Type.Optional(tableNames),
};

/** The parts that a restore replaces. If only paths or only tables are given, the other part of the website stays. */
export function partsToRestore({
  paths = [],
  db_tables = [],
  restore_files = db_tables.length === 0 || paths.length > 0,
  restore_database = paths.length === 0 || db_tables.length > 0,
}: {
  restore_files?: boolean;
  restore_database?: boolean;
  paths?: string[];
  db_tables?: string[];
}): ReplacedParts {
  return {
    files: restore_files,
    ...(paths.length === 0 ? {} : { paths: [...new Set(paths)] }),
    database: restore_database,
    tables: db_tables.length === 0 ? null : [...new Set(db_tables)],
  };
}

export const restoreBackupSchema = component(
  'RestoreBackup',
  Type.Object({
    notification_emails: notificationEmails('addresses notified when the restore succeeds or fails'),
    ...restoredParts,
    create_checkpoint: Type.Optional(
      Type.Boolean({
        description:
          'back up the install first, and put that backup back if the restore fails; true by default',
      }),
    ),
  }),
  {
    notification_emails: ['ada@example.com'],
    restore_database: true,
    restore_files: true,
    create_checkpoint: true,
  },
);

const copyOptions = component(
  'InstallCopyOptions',
  Type.Object({
    include_files: Type.Optional(Type.Boolean({ description: 'true by default' })),
    include_db: Type.Optional(Type.Boolean({ description: 'true by default' })),
    db_tables: Type.Optional(tableNames),
  }),
  { include_files: true, include_db: true, db_tables: ['wp_posts', 'wp_postmeta'] },
);

export const copyInstallSchema = component(
  'CopyInstall',
  Type.Object({
    source_environment_id: uuid('the install to copy'),
    destination_environment_id: uuid('the install to replace, of the same account'),
    notification_emails: Type.Optional(
      notificationEmails('addresses notified when the copy succeeds or fails'),
    ),
    custom_options: Type.Optional(copyOptions),
    create_checkpoint: Type.Optional(
      Type.Boolean({
        description:
          'an addition of Homeport: back up the replaced install first, and put that backup back if the copy fails; true by default',
      }),
    ),
  }),
  {
    source_environment_id: EXAMPLE_ID.install,
    destination_environment_id: EXAMPLE_ID.otherInstall,
    notification_emails: ['ada@example.com'],
    custom_options: { include_files: true, include_db: true },
  },
);

/** The parts that the options of a copy choose. */
export function copiedParts({
  include_files = true,
  include_db = true,
  db_tables = [],
}: {
  include_files?: boolean;
  include_db?: boolean;
  db_tables?: string[];
}): ReplacedParts {
  return {
    files: include_files,
    database: include_db,
    tables: db_tables.length === 0 ? null : [...new Set(db_tables)],
  };
}

export const archiveSchema = component(
  'Archive',
  Type.Object(
    {
      id: uuid(),
      backup: component('BackupReference', Type.Object({ id: uuid() }), { id: EXAMPLE_ID.backup }),
      notification_emails: Type.Array(Type.String()),
      state: status,
      create_time: timestamp(),
      start_time: nullableTimestamp('null until it is being packed'),
      complete_time: nullableTimestamp('null until completed'),
      abort_time: nullableTimestamp('null unless aborted'),
      download_uri: nullableString(
        'signed link to the `.tar.gz`; null until completed, and for credentials that only read',
      ),
      size_bytes: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'null until completed',
      }),
      expires_at: nullableTimestamp('until when it can be downloaded; null until completed'),
    },
    { description: 'A backup packed for download: files and SQL in a `.tar.gz`' },
  ),
  {
    id: EXAMPLE_ID.archive,
    backup: { id: EXAMPLE_ID.backup },
    notification_emails: ['ada@example.com'],
    state: 'completed',
    create_time: '2026-01-31T09:31:00.000Z',
    start_time: '2026-01-31T09:31:01.000Z',
    complete_time: '2026-01-31T09:31:09.000Z',
    abort_time: null,
    download_uri: `https://hosting.example.net/downloads/archives/${EXAMPLE_ID.archive}?expires=1769938269&signature=u2Yw`,
    size_bytes: 51_380_224,
    expires_at: '2026-02-01T09:31:09.000Z',
  },
);

export const createArchiveSchema = component(
  'CreateArchive',
  Type.Object({
    backup_id: uuid('a completed backup of the install'),
    notification_emails: Type.Optional(
      notificationEmails('addresses notified when the archive is ready or could not be made'),
    ),
  }),
  { backup_id: EXAMPLE_ID.backup, notification_emails: ['ada@example.com'] },
);
