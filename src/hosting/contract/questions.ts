import type { InstallRef } from './install-ref.ts';

/** Questions that every host may ask the control plane. */
export interface SshQuestions {
  /**
   * Returns the owner of a key, if the owner may access the files of this install now; otherwise null. Hosts ask at log-in and again
   * during a connection, so that removing a key or permission takes effect at once. `by`: name of the host that passed the connection on; null
   * is the answer if it was given up or removed.
   */
  sshLogin(installName: string, fingerprintSha256: string, by?: string): Promise<SshLogin | null>;
}

/** A key of one session that a host passes on to the host of the install. It is accepted there for seconds, instead of the user's key. */
export interface SshPass {
  /** Of its public half, as OpenSSH shows it. */
  fingerprintSha256: string;
  /** Where the user connects from, for logs; null if unknown. */
  address: string | null;
}

/** Where to pass on the sessions of an owner of a key. */
export interface SshRelay extends SshLogin {
  /** IP address of the host with the install. */
  host: string;
  port: number;
  /** Its public SSH host keys, each `type base64`. */
  hostKeys: string[];
}

/** Further questions of a host in a separate process. */
export interface HostQuestions extends SshQuestions {
  /**
   * The password of an install's backup repository. The control plane derives it from its sealing key, so backups outlive their machine
   * and no machine stores the password.
   */
  backupPassword(installId: string): Promise<string>;
  /**
   * Like `sshLogin`, for an install of another host. `pass` is then accepted there as the user's key. Null if the owner may not access the files,
   * or if that host cannot be reached.
   */
  sshRelay(installName: string, fingerprintSha256: string, pass: SshPass | null): Promise<SshRelay | null>;
}

export interface SshLogin {
  install: InstallRef;
  userId: string;
  /** The user came by another host, whose key of this session was asked about. */
  relayed?: {
    /** Of the user's own key. Later questions are about this one. */
    fingerprintSha256: string;
    /** Name of the host. */
    by: string;
    address: string | null;
  };
}
