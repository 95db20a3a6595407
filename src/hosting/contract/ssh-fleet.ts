/** SSH of a host as one of a fleet. All hosts show the same key, so that a name can lead to any of them. */
export interface SshFleet {
  /** The private key of this host, for SSH clients, in the format of OpenSSH. */
  readSshHostKey(): Promise<string>;
  /**
   * Shows this private key to SSH clients. A host with websites shows its own key first, because users know it, and offers the other one to
   * clients that learn keys. Ends SSH sessions if that changes anything. Rejects with a PermanentHostError for what is no key.
   */
  shareSshHostKey(key: string): Promise<void>;
}
