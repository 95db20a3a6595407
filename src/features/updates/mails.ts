import Type, { type Static } from 'typebox';
import { findOwners } from '../../access/owners.ts';
import type { Transaction } from '../../database/database.ts';
import { defineJob, type JobKind, type JobType } from '../../jobs/job.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import type { Mailer, MailText } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { createSubscribedMail } from '../accounts/notifications/subscribed-mail.ts';
import { findWebsite } from '../websites/installs/website-store.ts';

const rollbackPayload = Type.Object({
  /** Jobs of earlier versions have none. */
  user_id: Type.Optional(Type.String()),
  to: Type.String(),
  first_name: Type.String(),
  install_id: Type.String(),
  install_name: Type.String(),
  reason: Type.String(),
});

/** Mails an owner that an automatic update of a website was rolled back. */
const mailRollback: JobType<typeof rollbackPayload> = {
  name: 'mail_update_rollback',
  payload: rollbackPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};

const stopPayload = Type.Object({ to: Type.String(), version: Type.String(), reason: Type.String() });

/** Mails the operator that the rollout of a release stopped. */
export const mailStoppedRollout: JobType<typeof stopPayload> = {
  name: 'mail_stopped_rollout',
  payload: stopPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};

export function updateMailKinds(platform: Pick<Platform, 'config' | 'sealer'>, mailer: Mailer): JobKind[] {
  const subscribed = createSubscribedMail(platform);
  return [
    defineJob({
      ...mailRollback,
      async run(news) {
        const mail = { to: news.to, ...rollbackMail(news, platform.config.publicUrl) };
        await mailer.send(subscribed(mail, { userId: news.user_id, categories: ['operations'] }));
      },
    }),
    defineJob({
      ...mailStoppedRollout,
      async run({ to, ...news }) {
        await mailer.send({ to, ...stoppedRolloutMail(news) });
      },
    }),
  ];
}

/** Enqueues a mail to each owner about the rollback of an automatic update. */
export async function mailOwnersOfRollback(
  { queue }: Pick<Platform, 'queue'>,
  transaction: Transaction,
  { install_id, reason }: { install_id: string; reason: string },
): Promise<void> {
  const website = await findWebsite(transaction.queries, { id: install_id });
  if (!website) return;
  for (const { user_id, email, first_name } of await findOwners(
    transaction.queries,
    website.account_id,
    'operations',
  )) {
    await queue.enqueue(transaction, mailRollback, {
      payload: { user_id, to: email, first_name, install_id, install_name: website.name, reason },
      lane: null,
      install: install_id,
    });
  }
}

function rollbackMail(
  { first_name, install_id, install_name, reason }: Static<typeof rollbackPayload>,
  publicUrl: string,
): MailText {
  return {
    subject: `An automatic update of ${install_name} was rolled back`,
    text: [
      `Hello ${first_name},`,
      '',
      reason,
      '',
      'The website is as it was before the update. What visitors wrote meanwhile, such as comments and orders, is lost.',
      'Homeport does not repeat this update until there is a newer version. See all updates:',
      '',
      `  ${publicUrl}/installs/${install_id}/wordpress`,
      '',
    ].join('\n'),
  };
}

function stoppedRolloutMail({ version, reason }: { version: string; reason: string }): MailText {
  return {
    subject: `The rollout of WordPress ${version} stopped`,
    text: [
      reason,
      '',
      'Homeport does not update further websites to this version. See why, then continue the rollout or leave it stopped:',
      '',
      withOwnCommand('  homeport rollout list'),
      withOwnCommand(`  homeport rollout resume ${version}`),
      '',
    ].join('\n'),
  };
}
