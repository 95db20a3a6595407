import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { sendWebhookDisabled } from './jobs.ts';

export function webhookJobKinds(mailer: Mailer, { publicUrl }: { publicUrl: string }): JobKind[] {
  return [
    defineJob({
      ...sendWebhookDisabled,
      async run({ to, first_name, account_id, webhook_id, account, host, reason }) {
        await mailer.send({
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
        });
      },
    }),
  ];
}
