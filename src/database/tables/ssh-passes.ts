/** A key of one SSH session that a host passes on to the host of the install. It counts there as the user's key, for seconds. */
export interface SshPassRow {
  /** SHA-256 of the key, as OpenSSH shows it. */
  fingerprint: string;
  install_id: string;
  user_id: string;
  /** Of the user's own key. */
  users_fingerprint: string;
  /** Where the user connects from; null if unknown. */
  address: string | null;
  from_host: string;
  to_host: string;
  expires_at: string;
}
