import type { ColumnTypes } from './column-types.ts';

/** The self-signed certificate of the API, which all processes of a platform show. */
export function apiCertificate(t: ColumnTypes): string[] {
  return [
    `create table api_certificate (
      one ${t.integer} primary key check (one = 1),
      certificate ${t.text} not null,
      sealed_key ${t.text} not null
    )`,
  ];
}
