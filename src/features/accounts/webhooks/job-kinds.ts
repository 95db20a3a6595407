import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createSubscribedMail } from '../notifications/subscribed-mail.ts';
import { sendWebhookDisabled } from './jobs.ts';

export function webhookJobKinds(platform: Pick<Platform, 'config' | 'sealer'>, mailer: Mailer): JobKind[] {
  const { publicUrl } = platform.config;
  const subscribed = createSubscribedMail(platform);
  return [
    defineJob({
      ...sendWebhookDisabled,
      async run({ user_id, to, first_name, account_id, webhook_id, account, host, reason }) {
        const mail = {
          to,
          subject: `A webhook of ${account} was switched off`,
          text: [
            `Hello ${first_name},`,
            '',
            `Homeport has switched off a webhook of the account ${account}:`,
            '',
            `Receiver: ${host}`,
            `Reason:   ${reason}`,
            '',
            'It gets no more events. Repair the receiver, then switch the webhook on again:',
            '',
            `  ${publicUrl}/accounts/${account_id}/webhooks/${webhook_id}`,
            '',
            `Read the events that it missed with GET ${publicUrl}/v1/events. They are kept for 30 days.`,
            '',
          ].join('\n'),
        };
        await mailer.send(subscribed(mail, { userId: user_id, categories: ['webhooks'] }));
      },
    }),
  ];
}
