import { InvalidRequest } from '../../lib/failures.ts';

/** Refuses a backup that its host does not hold any more. Throws InvalidRequest. */
export function requirePresent({ missing_since }: { missing_since: string | null }): void {
  if (missing_since === null) return;
  throw new InvalidRequest(
    `The backup is missing: the backup storage has not had it since ${missing_since.slice(0, 10)}. ` +
      'Choose another one, or ask the operator of the platform to bring it back.',
  );
}
