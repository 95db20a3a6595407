import type { ColumnTypes } from './column-types.ts';

/** Fingerprints of the settings that stored failures depend on (docs/decisions/failures.md). */
export function seenSettings(t: ColumnTypes): string[] {
  return [
    `create table seen_settings (
      name ${t.text} primary key,
      fingerprint ${t.text} not null,
      seen_at ${t.time} not null
    )`,
  ];
}
