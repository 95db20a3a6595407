/** The files of one repository. Names are relative to it, with `/`. */
export interface RepositoryStorage {
  has(name: string): Promise<boolean>;
  /** Names of the files and folders directly in a folder, `''` for the repository itself. A missing one is empty. */
  list(folder: string): Promise<string[]>;
  /** Reads a part of a file; fewer bytes at its end. Null without the file. */
  read(name: string, part: { offset: number; length: number }): Promise<Buffer | null>;
  /** Durable when it resolves. */
  write(name: string, content: Buffer): Promise<void>;
  /** Succeeds if it is missing. */
  remove(name: string): Promise<void>;
  /** Deletes the repository with its whole content. Succeeds if it is missing. */
  removeAll(): Promise<void>;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A bucket, or a part of one. */
export interface S3Place {
  /** `https://host:port`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Without slashes around it; may be empty. */
  prefix: string;
}
