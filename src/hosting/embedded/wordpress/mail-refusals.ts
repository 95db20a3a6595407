import { mkdir, readFile, rm } from 'node:fs/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeAtomically } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { LISTED_REFUSALS, type MailRefusal, REFUSAL_PAUSE_MS } from '../../contract/mail.ts';
import { reasonKey, recentRefusals } from '../../policy/mail/refusals.ts';
import type { Layout } from '../host-folder/layout.ts';

/** The last refused messages of each install, for its owners. They survive a restart. */
export interface MailRefusals {
  /** Each reason once a minute, and {@link LISTED_REFUSALS} reasons in all. */
  add(installId: string, refusal: Omit<MailRefusal, 'time'>): Promise<void>;
  /** Latest first. */
  read(installId: string): Promise<MailRefusal[]>;
  remove(installId: string): Promise<void>;
}

const stored = Type.Array(
  Type.Object({
    time: Type.String(),
    reason: Type.String(),
    recipients: Type.Array(Type.String()),
  }),
);

export function createMailRefusals(
  layout: Pick<Layout, 'refusals' | 'refusalsOf'>,
  clock: Clock,
): MailRefusals {
  const serially = serializeByKey();

  async function read(installId: string): Promise<MailRefusal[]> {
    const text = await ifThere(readFile(layout.refusalsOf(installId), 'utf8'));
    return text === null ? [] : recentRefusals(parse(text), clock.now());
  }

  return {
    read,
    add: (installId, refusal) =>
      serially(installId, async () => {
        const known = await read(installId);
        const now = clock.now();
        const lately = known.filter(({ time }) => now.getTime() - Date.parse(time) < REFUSAL_PAUSE_MS);
        const key = reasonKey(refusal.reason);
        if (lately.length >= LISTED_REFUSALS || lately.some(({ reason }) => reasonKey(reason) === key))
          return;
        const listed = recentRefusals([{ time: now.toISOString(), ...refusal }, ...known], now);
        await mkdir(layout.refusals, { recursive: true, mode: 0o700 });
        await writeAtomically(layout.refusalsOf(installId), JSON.stringify(listed));
      }),
    remove: (installId) => serially(installId, () => rm(layout.refusalsOf(installId), { force: true })),
  };
}

/** A file that a power cut has emptied lists nothing. */
function parse(text: string): MailRefusal[] {
  try {
    return Value.Parse(stored, JSON.parse(text));
  } catch {
    return [];
  }
}
