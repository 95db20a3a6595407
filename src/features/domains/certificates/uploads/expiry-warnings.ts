import Type, { type Static } from 'typebox';
import { defineJob, type JobKind } from '../../../../jobs/job.ts';
import { timestamp } from '../../../../lib/clock.ts';
import { DAY_MS } from '../../../../lib/durations.ts';
import type { Mailer, MailText } from '../../../../mail/mailer.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { createSubscribedMail } from '../../../accounts/notifications/subscribed-mail.ts';
import { ownersOfInstall } from '../../domains/claims-store.ts';
import { recordWarned } from '../store.ts';
import { unwarnedUploads } from './store.ts';

/** Days before expiry at which owners are warned. An authority that people order from needs more time than ACME. */
const WARNED_AT = [30, 14, 7, 1];
/** Domains in one run; the next run, an hour later, takes the rest. */
const BATCH = 500;
const LONGEST_LIST = 50;

const mailPayload = Type.Object({
  /** Jobs of earlier versions have none. */
  user_id: Type.Optional(Type.String()),
  to: Type.String(),
  first_name: Type.String(),
  account: Type.String(),
  install: Type.String(),
  install_id: Type.String(),
  domains: Type.Array(Type.String()),
  not_after: Type.String(),
});

type Expiring = Static<typeof mailPayload>;

/** The jobs that warn the owners of an account once at each threshold before an uploaded certificate expires. */
export function uploadExpiryWarnings(platform: Platform, mailer: Mailer) {
  const { config, database, queue, clock } = platform;
  const subscribed = createSubscribedMail(platform);

  const mailWarning = defineJob({
    name: 'mail_upload_expiry',
    payload: mailPayload,
    maxAttempts: 12,
    timeoutMs: 60_000,
    async run({ user_id, to, ...expiring }) {
      const { publicUrl, acmeDirectory } = config;
      const authority = acmeDirectory !== null;
      const mail = { to, ...uploadExpiryMail(expiring, { now: clock.now(), publicUrl, authority }) };
      await mailer.send(subscribed(mail, { userId: user_id, categories: ['certificates'] }));
    },
  });

  const warn = defineJob({
    name: 'warn_of_upload_expiry',
    payload: Type.Object({}),
    maxAttempts: 3,
    timeoutMs: 60_000,
    async run() {
      const now = clock.now();
      const due = await unwarnedUploads(database.reader, {
        thresholds: WARNED_AT.map((days) => ({ days, endsBy: timestamp(clock, days * DAY_MS) })),
        due: now.toISOString(),
        limit: BATCH,
      });
      const uploads = Map.groupBy(due, ({ upload_id, install_id }) => `${install_id} ${upload_id}`);
      return async (transaction) => {
        for (const rows of uploads.values()) {
          const [first] = rows;
          if (first === undefined) continue;
          const { install_id, not_after } = first;
          const threshold = Math.min(...WARNED_AT.filter((days) => daysLeft(not_after, now) <= days));
          for (const row of rows) await recordWarned(transaction.queries, { ...row, threshold });
          const domains = rows.map(({ domain }) => domain);
          const owners = await ownersOfInstall(transaction.queries, install_id, 'certificates');
          for (const { email, ...owner } of owners) {
            const payload = { to: email, ...owner, install_id, domains, not_after };
            await queue.enqueue(transaction, mailWarning, { payload, lane: null });
          }
        }
      };
    },
  });

  const kinds: JobKind[] = [mailWarning, warn];
  return { kinds, warn };
}

const daysLeft = (notAfter: string, now: Date) => (Date.parse(notAfter) - now.getTime()) / DAY_MS;

/** `authority`: whether Homeport orders a certificate after the expiry. */
function uploadExpiryMail(
  { first_name, account, install, install_id, domains, not_after }: Omit<Expiring, 'user_id' | 'to'>,
  { now, publicUrl, authority }: { now: Date; publicUrl: string; authority: boolean },
): MailText {
  const days = Math.ceil(daysLeft(not_after, now));
  const when = days <= 0 ? 'has expired' : days === 1 ? 'expires within a day' : `expires in ${days} days`;
  const [first = ''] = domains;
  const others = domains.length - LONGEST_LIST;
  return {
    subject: `The certificate that you uploaded for ${first} ${when}`,
    text: [
      `Hello ${first_name},`,
      '',
      `a certificate that was uploaded for your install ${install} ${when}, on ${not_after.slice(0, 16).replace('T', ' ')} UTC.`,
      '',
      `Account:  ${account}`,
      `Install:  ${install}`,
      'Domains:',
      ...domains.slice(0, LONGEST_LIST).map((domain) => `  ${domain}`),
      ...(others > 0 ? [`  and ${others} more`] : []),
      '',
      'Renew it where you got it, and upload the new one:',
      '',
      `  ${publicUrl}/installs/${install_id}/certificates`,
      '',
      authority
        ? 'If you do nothing, Homeport orders a certificate for each domain when this one expires. It cannot do that for wildcards.'
        : 'If you do nothing, the domains get self-signed certificates when this one expires, and browsers warn visitors.',
      '',
    ].join('\n'),
  };
}
