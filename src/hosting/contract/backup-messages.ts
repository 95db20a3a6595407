import Type from 'typebox';
import { closed, count, install, orNull, text, uuid } from './message-values.ts';

// Schemas of the messages about the places of backups (protocol.ts).

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
