import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { DAY_MS } from '../../../lib/durations.ts';
import { LISTED_REFUSALS, type MailRefusal, REFUSALS_DAYS } from '../../contract/mail.ts';
import { recentRefusals } from '../../policy/mail/refusals.ts';
import type { HostLogs } from './host-logs.ts';

const logged = Type.Object({
  time: Type.String(),
  event: Type.String(),
  reason: Type.Union([Type.String(), Type.Null()]),
  recipients: Type.Array(Type.String()),
});

/** The events of messages that no one got: refused by the host, or by the relay. */
const EVENTS = ['refused', 'failed'];

/** The last refused messages in the mail log of an install, latest first. */
export async function readMailRefusals(
  logs: Pick<HostLogs, 'read'>,
  installId: string,
  now: Date,
): Promise<MailRefusal[]> {
  const found: Static<typeof logged>[] = [];
  for (const event of EVENTS) {
    const { lines } = await logs.read(installId, {
      kind: 'mail',
      from: new Date(now.getTime() - REFUSALS_DAYS * DAY_MS).toISOString(),
      to: null,
      search: event,
      status: null,
      cursor: null,
      direction: 'older',
      // A reason of another event may contain the word, too.
      limit: 2 * LISTED_REFUSALS,
    });
    const entries = lines.map((line) => Value.Parse(logged, JSON.parse(line)));
    found.push(...entries.filter((entry) => entry.event === event));
  }
  found.sort((one, other) => (one.time < other.time ? 1 : -1));
  return recentRefusals(
    found.map(({ time, reason, recipients }) => ({ time, reason: reason ?? '', recipients })),
    now,
  );
}
