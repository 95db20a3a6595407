import { PLATFORM } from '../../../access/caller.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { isUnfinished } from '../status-reports/looks-store.ts';
import { lostNameMail } from './lost-name-mail.ts';
import { challengeOf } from './ownership.ts';
import { lookForProofs, tellNameLost } from './ownership-jobs.ts';
import { LOOK_UP_MS, type LookUpTexts } from './ownership-service.ts';
import { concludeLook } from './proofs.ts';
import { dueProofs, type Proof } from './proofs-store.ts';

const LANE = lookForProofs.name;
const MOST_A_MINUTE = 60;
const AT_ONCE = 4;

/** Has due proofs looked for each minute, except while an earlier minute's are not done. */
export function proofLooksSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: lookForProofs.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      if (await isUnfinished(transaction.queries, LANE)) return;
      await queue.enqueue(transaction, lookForProofs, { payload: {}, lane: LANE });
    },
  };
}

/** Looks for the TXT records of domains that are not proved yet, so that owners need not ask; and emails the owners who lose names. */
export function ownershipJobKinds(platform: Platform, mailer: Mailer, lookUpTexts: LookUpTexts): JobKind[] {
  const { config, database, clock } = platform;

  return [
    defineJob({
      ...lookForProofs,
      async run(_payload, { signal }) {
        const due = await dueProofs(database.reader, timestamp(clock), MOST_A_MINUTE);
        await mapConcurrent(due, AT_ONCE, (proof) => look(proof, signal));
      },
    }),
    defineJob({
      ...tellNameLost,
      async run({ to, ...lost }) {
        await mailer.send({ to, ...lostNameMail(lost, config.publicUrl) });
      },
    }),
  ];

  /** Each in its own transaction, so a failure leaves the other results. */
  async function look(proof: Proof, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { key } = challengeOf(proof.registrable, proof.token);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOK_UP_MS)]);
    const texts = await lookUpTexts(key, limit);
    signal.throwIfAborted();
    await database.write((transaction) => concludeLook(transaction, platform, proof, texts, PLATFORM));
  }
}
