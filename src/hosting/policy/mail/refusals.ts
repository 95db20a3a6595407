import { DAY_MS } from '../../../lib/durations.ts';
import { withoutControlCharacters } from '../../../lib/one-line.ts';
import {
  LISTED_REFUSALS,
  LONGEST_REASON,
  type MailRefusal,
  NAMED_RECIPIENTS,
  REFUSALS_DAYS,
} from '../../contract/mail.ts';

/** RFC 5321 section 4.5.3.1. */
const LONGEST_ADDRESS = 320;

/** What reasons that differ in a quoted text alone have in common. */
export function reasonKey(reason: string): string {
  return reason.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

/** The refusals that owners see, latest first, in their bounds. */
export function recentRefusals(refusals: readonly MailRefusal[], now: Date): MailRefusal[] {
  const since = now.getTime() - REFUSALS_DAYS * DAY_MS;
  return refusals
    .filter(({ time }) => Date.parse(time) >= since)
    .slice(0, LISTED_REFUSALS)
    .map(({ time, reason, recipients }) => ({
      time,
      reason: withoutControlCharacters(reason).slice(0, LONGEST_REASON),
      recipients: recipients
        .slice(0, NAMED_RECIPIENTS)
        .map((address) => withoutControlCharacters(address).slice(0, LONGEST_ADDRESS)),
    }));
}
