/** A failure that no retry can fix, such as a corrupt archive or a missing install. */
export class PermanentHostError extends Error {
  override name = 'PermanentHostError';
}

/** The website itself is at fault: it answers, but not with a page of WordPress. The message names no other install. */
export class BrokenWebsiteError extends PermanentHostError {
  override name = 'BrokenWebsiteError';
}

/** A website that was made before is not on the host any more, and nothing was made in its place. */
export class MissingWebsiteError extends PermanentHostError {
  override name = 'MissingWebsiteError';
  constructor(name: string) {
    super(
      `The website ${name} is missing on its machine. Nothing was made in its place, so that no backups of an empty website replace the good ones. Restore a backup to bring it back.`,
    );
  }
}

/** A backup is damaged or missing. */
export class LostBackupError extends PermanentHostError {
  override name = 'LostBackupError';
}

/**
 * A restore failed before it replaced anything, and a retry does not help soon. `shown`: the reason without other installs and their
 * files. `isLost`: the backup is damaged or missing, so that no retry helps.
 */
export class RefusedRestoreError extends PermanentHostError {
  override name = 'RefusedRestoreError';
  readonly shown: string;
  readonly isLost: boolean;
  constructor(
    message: string,
    { shown = message, isLost = false, ...options }: ErrorOptions & { shown?: string; isLost?: boolean } = {},
  ) {
    super(message, options);
    this.shown = shown;
    this.isLost = isLost;
  }
}

/** A restore failed before it replaced anything. A retry may succeed. */
export class UnchangedWebsiteError extends Error {
  override name = 'UnchangedWebsiteError';
}

/** The failure of a restore that has replaced nothing. `shown`: see {@link RefusedRestoreError}. */
export function asUnchanged(cause: unknown, shown?: string): Error {
  if (cause instanceof PermanentHostError) {
    const isLost = cause instanceof LostBackupError;
    return new RefusedRestoreError(cause.message, {
      ...{ cause, isLost },
      ...(shown === undefined ? {} : { shown }),
    });
  }
  return new UnchangedWebsiteError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** Whether a restore has failed before it replaced anything. */
export const isUnchanged = (error: unknown): boolean =>
  error instanceof RefusedRestoreError || error instanceof UnchangedWebsiteError;

/** An import was refused for a reason that the user can fix. Nothing was replaced. */
export class RefusedImportError extends PermanentHostError {
  override name = 'RefusedImportError';
}
