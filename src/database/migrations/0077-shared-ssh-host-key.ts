import type { ColumnTypes } from './column-types.ts';

/** The SSH host key of all hosts, taken from the first one when there are several. */
export function sharedSshHostKey(t: ColumnTypes): string[] {
  return [
    `alter table host_authority add column ssh_host_key ${t.text}`,
    `alter table host_authority add column sealed_ssh_host_key ${t.text}`,
  ];
}
