/** The key pair with which an install signs in to another host for an import. */
export interface ImportKeyRow {
  install_id: string;
  /** A line for authorized_keys. */
  public_key: string;
  /** SEC 1 PEM, sealed (src/secrets/sealer.ts). */
  sealed_key: string;
  created_at: string;
}
