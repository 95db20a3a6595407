import type { ColumnTypes } from './column-types.ts';

/** Adds the upload that a third-party certificate comes from: domains that one upload covers share it. */
export function uploadedCertificates(t: ColumnTypes): string[] {
  return [
    `alter table certificates add column upload_id ${t.uuid}`,
    'create index certificates_upload on certificates (upload_id) where upload_id is not null',
  ];
}
