import type { ColumnTypes } from './column-types.ts';

/** The authority of the edges of the hosts, made when a second host joins. */
export function edgeAuthority(t: ColumnTypes): string[] {
  return [
    `alter table host_authority add column edge_certificate ${t.text}`,
    `alter table host_authority add column sealed_edge_key ${t.text}`,
  ];
}
