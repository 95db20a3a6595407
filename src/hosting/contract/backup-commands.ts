import Type from 'typebox';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import type { BackupFilePart, BackupRefusal } from './backup-contents.ts';
import {
  backupFilePart,
  backupFolder,
  backupMove,
  backupTables,
  base64,
  entryPage,
  heldBackups,
  listedBackups,
  movedBackups,
  placesReport,
} from './backup-messages.ts';
import { command, field, members, nothing, options, translated } from './command.ts';
import {
  backupPath,
  count,
  INSTALL,
  importedWebsite,
  importSource,
  install,
  orNull,
  parts,
  restoredSnapshot,
  sha256,
  snapshot,
  uuid,
  wordpressVersion,
} from './message-values.ts';
import { markedWebsites, pointOrder, recordedPoint, unchangedIds } from './recovery-points.ts';
import { absentAs, cut } from './sent-value.ts';
import { MOST_READ_BYTES } from './snapshots.ts';

/** Commands about backups, archives and imports. Each row is described by the method of that name in {@link HostMachine}. */
export const BACKUP_COMMANDS = {
  snapshot: command('snapshot', [INSTALL, field('backupId', uuid)], snapshot, {
    withinMs: 6 * HOUR_MS,
    route: 'website',
    reportsProgress: true,
  }),
  restore: command(
    'restore',
    [
      INSTALL,
      field('backupId', uuid),
      options({
        from: Type.Optional(Type.Union([install, Type.Null()], absentAs(null))),
        parts: Type.Optional(parts),
        wordpressVersion: Type.Optional(wordpressVersion),
        restoreId: Type.Optional(uuid),
        base: Type.Optional(uuid),
      }),
    ],
    restoredSnapshot,
    { withinMs: 6 * HOUR_MS, route: 'website', reportsProgress: true },
  ),
  discardSnapshot: command('discard_snapshot', [INSTALL, field('backupId', uuid)], nothing, {
    withinMs: HOUR_MS,
    route: 'website',
  }),
  recordPoint: command('record_point', [INSTALL, members(pointOrder)], recordedPoint, {
    withinMs: 6 * HOUR_MS,
    route: 'host',
    reportsProgress: true,
  }),
  unchangedWebsites: command('unchanged_websites', [field('marked', markedWebsites)], unchangedIds, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
    isIdleTalk: true,
  }),
  heldBackups: command('held_backups', [INSTALL], heldBackups, {
    withinMs: 15 * MINUTE_MS,
    route: 'website',
  }),
  removeBackups: command('remove_backups', [INSTALL], nothing, { withinMs: HOUR_MS, route: 'keeper' }),
  browseBackup: command(
    'browse_backup',
    [
      INSTALL,
      field('backupId', uuid),
      members({ folder: Type.Union([Type.Literal(''), backupPath]), ...entryPage }),
    ],
    backupFolder,
    // The host lets callers wait for some seconds only.
    { withinMs: 30 * SECOND_MS, route: 'website' },
  ),
  listBackupTables: command(
    'list_backup_tables',
    [INSTALL, field('backupId', uuid), members(entryPage)],
    backupTables,
    { withinMs: 30 * SECOND_MS, route: 'website' },
  ),
  readBackupFile: translated(
    command(
      'read_backup_file',
      [
        INSTALL,
        field('backupId', uuid),
        members({
          path: backupPath,
          offset: count,
          length: Type.Integer({ minimum: 1, maximum: MOST_READ_BYTES, ...cut }),
        }),
      ],
      backupFilePart,
      { withinMs: 30 * SECOND_MS, route: 'website', isIdleTalk: true },
    ),
    {
      write: (part: BackupFilePart | BackupRefusal) =>
        'refused' in part ? part : { ...part, bytes: part.bytes.toString('base64') },
      read: (part): BackupFilePart | BackupRefusal =>
        'refused' in part ? part : { ...part, bytes: Buffer.from(part.bytes, 'base64') },
    },
  ),
  pack: command(
    'pack',
    [INSTALL, members({ backupId: uuid, archiveId: uuid })],
    Type.Object({ bytes: count, sha256 }),
    { withinMs: 6 * HOUR_MS, route: 'website', isCancellable: true },
  ),
  readPacked: translated(
    command(
      'read_packed',
      [
        INSTALL,
        field('archiveId', uuid),
        members({
          offset: count,
          length: Type.Integer({ minimum: 1, maximum: MOST_READ_BYTES, ...cut }),
        }),
      ],
      base64,
      { withinMs: 30 * SECOND_MS, route: 'website', isIdleTalk: true },
    ),
    {
      write: (bytes: Buffer) => bytes.toString('base64'),
      read: (encoded): Buffer => Buffer.from(encoded, 'base64'),
    },
  ),
  discardPacked: command('discard_packed', [INSTALL, field('archiveId', uuid)], nothing, {
    withinMs: MINUTE_MS,
    route: 'website',
  }),
  importWebsite: command(
    'import_website',
    [
      INSTALL,
      field('source', importSource),
      options({ importId: Type.Optional(Type.Union([uuid, Type.Null()], absentAs(null))) }),
    ],
    importedWebsite,
    { withinMs: 6 * HOUR_MS, route: 'website', reportsProgress: true },
  ),
  lastImport: command('last_import', [INSTALL], orNull(uuid), {
    // It waits for other work on the website.
    withinMs: HOUR_MS,
    route: 'website',
  }),
  backupPlaces: command('backup_places', [], placesReport, { withinMs: 5 * MINUTE_MS, route: 'host' }),
  moveBackups: command('move_backups', [members(backupMove.properties)], movedBackups, {
    // Terabytes by a slow line. A timer cannot wait longer than 24 days.
    withinMs: 20 * DAY_MS,
    route: 'host',
    reportsProgress: true,
  }),
  acceptBackupPlace: command('accept_backup_place', [], placesReport, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
  }),
  forgetFormerBackups: command('forget_former_backups', [field('listed', listedBackups)], count, {
    withinMs: DAY_MS,
    route: 'host',
    isCancellable: true,
  }),
};
