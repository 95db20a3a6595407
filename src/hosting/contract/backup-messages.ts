import Type from 'typebox';
import { MOST_BACKUP_ENTRIES } from './backup-contents.ts';
import { closed, count, install, orNull, sentences, text, uuid } from './message-values.ts';
import { MOST_READ_BYTES } from './snapshots.ts';

// Schemas of the messages about the places and the content of backups (protocol.ts).

const address = text(1_000);
const MOST_BACKUPS = 100_000;
const MOST_INSTALLS = 100_000;

export const heldBackups = Type.Array(text(200), { maxItems: MOST_BACKUPS });

const counted = Type.Object({ installs: count, backups: count });

export const placesReport = Type.Object({
  current: address,
  since: orNull(text(40)),
  configured: address,
  refused: orNull(Type.Object({ address, held: orNull(counted) })),
  waiting: Type.Array(uuid, { maxItems: MOST_INSTALLS }),
  former: Type.Array(address),
  unseen: Type.Optional(Type.Array(Type.Object({ address, reason: text(2_000) }))),
  isOnOwnDisk: Type.Optional(Type.Boolean()),
});

const wantedPlace = Type.Object(
  {
    address,
    credentials: orNull(Type.Object({ accessKeyId: text(500), secretAccessKey: text(500) }, closed)),
  },
  closed,
);

export const backupMove = Type.Object(
  {
    installs: Type.Array(install, { maxItems: MOST_INSTALLS }),
    to: orNull(wantedPlace),
    from: orNull(wantedPlace),
  },
  closed,
);

export const movedBackups = Type.Object({ place: address, installs: count, backups: count, copied: count });

export const listedBackups = Type.Array(
  Type.Object({ install, backupIds: Type.Array(uuid, { maxItems: MOST_BACKUPS }) }, closed),
  { maxItems: MOST_INSTALLS },
);

export const entryPage = {
  offset: count,
  limit: Type.Integer({ minimum: 1, maximum: MOST_BACKUP_ENTRIES }),
};

const refusal = Type.Object({ refused: Type.Enum(['reading', 'path', 'backup']), reason: sentences });
/** Names and targets of links are what tenants chose. */
const name = Type.String({ maxLength: 64 * 1024 });

export const backupFolder = Type.Union([
  refusal,
  Type.Object({
    count,
    entries: Type.Array(
      Type.Object({
        name,
        type: Type.Enum(['folder', 'file', 'link']),
        bytes: orNull(count),
        modifiedAt: orNull(Type.Integer()),
        target: orNull(name),
      }),
      { maxItems: MOST_BACKUP_ENTRIES },
    ),
  }),
]);

export const backupTables = Type.Union([
  refusal,
  Type.Object({
    count,
    tables: Type.Array(Type.Object({ name, bytes: orNull(count), rows: orNull(count) }), {
      maxItems: MOST_BACKUP_ENTRIES,
    }),
  }),
]);

export const base64 = Type.String({
  maxLength: 4 * Math.ceil(MOST_READ_BYTES / 3),
  pattern: '^[A-Za-z0-9+/]*={0,2}$',
});

export const backupFilePart = Type.Union([refusal, Type.Object({ size: count, bytes: base64 })]);
