import type { MailSelection } from '../contract/mail.ts';
import type { RestoredParts } from '../contract/snapshots.ts';
import type { ItemOrder } from '../contract/wordpress-changes.ts';
import type { AvailableUpdate, WantedItems } from '../contract/wordpress-updates.ts';

export const sentSelection = ({ installId, ids }: MailSelection) => ({
  installId,
  ids: ids === null ? null : [...ids],
});
export const sentItems = (items: WantedItems) => (typeof items === 'string' ? items : [...items]);
export function sentOrder({ changeId, checkpointId, change, pages }: ItemOrder) {
  const { kind, id, source, status, autoUpdate, keep = false } = change;
  const sent = { kind, id, source, status, autoUpdate, ...(keep ? { keep } : {}) };
  return { changeId, checkpointId, change: sent, pages: [...pages] };
}

export const sentUpdate = ({ kind, id, name, from, to }: AvailableUpdate) => ({ kind, id, name, from, to });

export const isWhole = ({ files, database }: RestoredParts) => files && database === 'all';

export const sentParts = ({ files, database, dropAbsent = false }: RestoredParts) => ({
  files,
  database: typeof database === 'string' ? database : [...database],
  // Left out if not needed, so that hosts of earlier versions accept the command.
  ...(dropAbsent ? { dropAbsent } : {}),
});
