import type { InstallRef } from './install-ref.ts';

/** Questions that every host may ask the control plane. */
export interface SshQuestions {
  /**
   * Returns the owner of a key, if the owner may access the files of this install now; otherwise null. Hosts ask at log-in and again
   * during a connection, so that removing a key or permission takes effect at once.
   */
  sshLogin(installName: string, fingerprintSha256: string): Promise<SshLogin | null>;
}

/** Further questions of a host in a separate process. */
export interface HostQuestions extends SshQuestions {
  /**
   * The password of an install's backup repository. The control plane derives it from its sealing key, so backups outlive their machine
   * and no machine stores the password.
   */
  backupPassword(installId: string): Promise<string>;
}

export interface SshLogin {
  install: InstallRef;
  userId: string;
}
