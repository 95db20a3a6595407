import type { MailText } from '../../mail/mailer.ts';
import { OFFER_DAYS, type TransferNews } from './jobs.ts';

/** The mail to an owner about a transfer. */
export function transferMail(news: Omit<TransferNews, 'to'>, publicUrl: string): MailText {
  const { site, account, other_account: other, reason } = news;
  const { subject, sentences } = TEXTS[news.news]({ site, account, other, reason });
  return {
    subject,
    text: [
      `Hello ${news.first_name},`,
      '',
      ...sentences,
      '',
      `Site:      ${site}`,
      `Installs:  ${news.installs.length === 0 ? 'none' : news.installs.join(', ')}`,
      `Account:   ${account}`,
      '',
      `  ${publicUrl}/accounts/${news.account_id}/transfers`,
      '',
    ].join('\n'),
  };
}

interface Facts {
  site: string;
  /** The recipient's account. */
  account: string;
  other: string;
  reason: string;
}

const TEXTS: Record<TransferNews['news'], (facts: Facts) => { subject: string; sentences: string[] }> = {
  offered: ({ site, account, other }) => ({
    subject: `${other} offers the site ${site} to ${account}`,
    sentences: [
      `the account ${other} wants to transfer a site to your account ${account}.`,
      `Accept or decline the transfer in the portal. Without an answer, it is cancelled after ${OFFER_DAYS} days.`,
      'If you do not know this account, decline.',
    ],
  }),
  declined: ({ site }) => ({
    subject: `The transfer of ${site} was declined`,
    sentences: ['the other account declined the transfer of your site. The site stays in your account.'],
  }),
  expired: ({ site }) => ({
    subject: `The transfer of ${site} was not accepted`,
    sentences: ['nobody accepted the transfer of your site in time. The site stays in your account.'],
  }),
  received: ({ site, account, other }) => ({
    subject: `${site} now belongs to ${account}`,
    sentences: [
      `the site was transferred from the account ${other} to your account ${account}.`,
      'Users of the former account can no longer reach it here. WordPress users and passwords have not changed:',
      'review them, and change passwords that the former owner knows.',
    ],
  }),
  given: ({ site, other }) => ({
    subject: `${site} was transferred`,
    sentences: [
      `the site was transferred to the account ${other}. Users of your account can no longer reach it.`,
    ],
  }),
  failed: ({ site, reason }) => ({
    subject: `The transfer of ${site} failed`,
    sentences: [`the site stays in your account. ${reason}`],
  }),
};
