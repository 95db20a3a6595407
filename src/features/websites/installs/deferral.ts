import { DAY_MS } from '../../../lib/durations.ts';
import { InvalidRequest } from '../../../lib/failures.ts';

const MOST_DAYS_AHEAD = 365;

/** Parses the end of a deferral of WordPress upgrades. Throws InvalidRequest unless it is in the future, and not too far. */
export function readDeferral(given: string | null | undefined, now: Date): string | null | undefined {
  if (given === null || given === undefined) return given;
  const at = Date.parse(given);
  // The schema accepts leap seconds; Date.parse does not.
  if (at > now.getTime() && at <= now.getTime() + MOST_DAYS_AHEAD * DAY_MS) return new Date(at).toISOString();
  const field = 'defer_wordpress_upgrades_until';
  const message = `${field} must be in the future and at most ${MOST_DAYS_AHEAD} days ahead`;
  throw new InvalidRequest(message, [
    { resource: 'Installation', field, type: 'invalid_value', code: 'out_of_range', message },
  ]);
}
