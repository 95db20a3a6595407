import type { ColumnTypes } from './column-types.ts';

/** By what name people reach a host, where that is another than the control plane's. */
export function publicNamesOfHosts(t: ColumnTypes): string[] {
  return [`alter table hosts add column public_name ${t.text}`];
}
