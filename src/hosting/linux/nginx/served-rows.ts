import type { EdgeRow } from '../../policy/edge-row.ts';
import { createNameClaims } from '../../policy/name-claims.ts';

/** The rows that nginx serves. Several may claim a name; one of them holds it. */
export interface ServedRows {
  get(installId: string): EdgeRow | undefined;
  set(row: EdgeRow): void;
  delete(installId: string): void;
  clear(): void;
  all(): EdgeRow[];
  /** The install that answers a name. */
  holderOf(hostname: string): string | undefined;
  /** Every claimed name. */
  names(): string[];
  /** Whether a row uses the certificate. */
  usesCertificate(id: string): boolean;
}

export function createServedRows(): ServedRows {
  const rows = new Map<string, EdgeRow>();
  const claims = createNameClaims();
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
    claims.delete(id);
  }

  return {
    get: (id) => rows.get(id),
    set(row) {
      remove(row.id);
      rows.set(row.id, row);
      count(row, 1);
      claims.set(
        row.id,
        Object.entries(row.names).map(([name, rule]) => [name, rule.default]),
      );
    },
    delete: remove,
    clear() {
      for (const id of [...rows.keys()]) remove(id);
    },
    all: () => [...rows.values()],
    holderOf: claims.holderOf,
    names: claims.names,
    usesCertificate: (id) => (uses.get(id) ?? 0) > 0,
  };
}
