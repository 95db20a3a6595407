import type { ColumnTypes } from './column-types.ts';

/** The public name of a host, if it differs from the control plane's. */
export function publicNamesOfHosts(t: ColumnTypes): string[] {
  return [`alter table hosts add column public_name ${t.text}`];
}
