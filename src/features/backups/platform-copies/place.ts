import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Sealer } from '../../../secrets/sealer.ts';

/** Where the platform backup is, and how to reach it. The server may have other settings than the command that asks for the restore. */
const Place = Type.Object({
  /** A folder, absolute, or a bucket. */
  destination: Type.String(),
  credentials: Type.Union([
    Type.Object({ accessKeyId: Type.String(), secretAccessKey: Type.String() }),
    Type.Null(),
  ]),
});
export type BackupPlace = Static<typeof Place>;

export const sealPlace = (sealer: Sealer, place: BackupPlace): string => sealer.seal(JSON.stringify(place));

export const openPlace = (sealer: Sealer, sealed: string): BackupPlace =>
  Value.Parse(Place, JSON.parse(sealer.open(sealed)));
