import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Snapshot } from '../contract/snapshots.ts';

const Imported = Type.Object({
  importId: Type.String(),
  website: Type.Object({
    tablePrefix: Type.String(),
    files: Type.Integer(),
    bytes: Type.Integer(),
    // Records of earlier versions lack them.
    notes: Type.Optional(Type.Array(Type.String())),
  }),
});
const Restored = Type.Object({
  restoreId: Type.String(),
  snapshot: Type.Object({ bytes: Type.Integer(), files: Type.Integer(), sha256: Type.String() }),
});
const Recorded = Type.Union([Imported, Restored]);

export type ImportRecord = Static<typeof Imported>;

/**
 * The record that a host keeps of what made the present website, until something else replaces it. So an order that is repeated, because its answer
 * was lost, does not replace what visitors have changed since.
 */
export const importRecord = (record: ImportRecord): string => JSON.stringify(record);

/** As {@link importRecord}. Undefined for a restore without an id. */
export function restoreRecord(restoreId: string | undefined, snapshot: Snapshot): string | undefined {
  return restoreId === undefined ? undefined : JSON.stringify({ restoreId, snapshot });
}

/** The import that made the website; null if something else did. */
export function recordedImport(record: string | null): ImportRecord | null {
  const found = parsed(record);
  return found !== null && 'importId' in found ? found : null;
}

/** The snapshot that the restore with this id has made the website from; null if something else made it. */
export function recordedRestore(record: string | null, restoreId: string | undefined): Snapshot | null {
  const found = parsed(record);
  return found !== null && 'restoreId' in found && found.restoreId === restoreId ? found.snapshot : null;
}

const parsed = (record: string | null): Static<typeof Recorded> | null =>
  record === null ? null : Value.Parse(Recorded, JSON.parse(record));
