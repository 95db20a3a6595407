import type { EdgeRow } from '../../policy/edge-row.ts';

/** The rows that nginx serves. Several may claim a name; one of them holds it. */
export interface ServedRows {
  get(installId: string): EdgeRow | undefined;
  set(row: EdgeRow): void;
  delete(installId: string): void;
  clear(): void;
  all(): EdgeRow[];
  /** The install that answers a name: the one whose default domain it is, or the one with the lowest id. */
  holderOf(hostname: string): string | undefined;
  /** Every claimed name. */
  names(): string[];
  /** Whether a row uses the certificate. */
  usesCertificate(id: string): boolean;
}

export function createServedRows(): ServedRows {
  const rows = new Map<string, EdgeRow>();
  const claims = new Map<string, Set<string>>();
  /** How many names use a certificate. */
  const uses = new Map<string, number>();

  function count(row: EdgeRow, by: 1 | -1): void {
    for (const { certificate } of Object.values(row.names)) {
      if (certificate !== null) uses.set(certificate, (uses.get(certificate) ?? 0) + by);
    }
  }

  function remove(id: string): void {
    const row = rows.get(id);
    if (row === undefined) return;
    rows.delete(id);
    count(row, -1);
    for (const name of Object.keys(row.names)) {
      const ids = claims.get(name);
      ids?.delete(id);
      if (ids?.size === 0) claims.delete(name);
    }
  }

  return {
    get: (id) => rows.get(id),
    set(row) {
      remove(row.id);
      rows.set(row.id, row);
      count(row, 1);
      for (const name of Object.keys(row.names)) {
        const ids = claims.get(name) ?? new Set();
        claims.set(name, ids.add(row.id));
      }
    },
    delete: remove,
    clear() {
      for (const id of [...rows.keys()]) remove(id);
    },
    all: () => [...rows.values()],
    holderOf(hostname) {
      const ids = [...(claims.get(hostname) ?? [])].toSorted();
      return ids.find((id) => rows.get(id)?.names[hostname]?.default) ?? ids[0];
    },
    names: () => [...claims.keys()],
    usesCertificate: (id) => (uses.get(id) ?? 0) > 0,
  };
}
