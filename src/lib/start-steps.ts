/** Tells the service manager what a server does while it starts. */
export type Announce = (step: string) => Promise<void>;

/**
 * The end of a step that can take many minutes without a sign of life, such as a migration in PostgreSQL. An upgrade reads it from the newer
 * version, so it must stay the same.
 */
export const MAY_TAKE_LONG = '(may take long)';
