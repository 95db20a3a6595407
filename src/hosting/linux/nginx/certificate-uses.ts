/** Counts which installs use a certificate. */
export interface CertificateUses {
  /** Replaces the certificates of an install. */
  set(installId: string, certificateIds: readonly string[]): void;
  /** The certificates of an install. */
  of(installId: string): readonly string[];
  /** Whether any install uses the certificate. */
  has(certificateId: string): boolean;
}

export function createCertificateUses(): CertificateUses {
  const used = new Map<string, readonly string[]>();
  const counts = new Map<string, number>();

  function add(ids: readonly string[], by: 1 | -1): void {
    for (const id of ids) {
      const count = (counts.get(id) ?? 0) + by;
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    }
  }

  return {
    set(installId, ids) {
      add(used.get(installId) ?? [], -1);
      add(ids, 1);
      if (ids.length === 0) used.delete(installId);
      else used.set(installId, ids);
    },
    of: (installId) => used.get(installId) ?? [],
    has: (id) => counts.has(id),
  };
}
