import type { Config } from '../../../config/config.ts';
import type { Queries } from '../../../database/database.ts';
import type { MailState } from '../../../hosting/contract/mail.ts';
import { findMailLimits, type MailLimits } from './store.ts';

/** Recipients that the operator allows an install in an hour. */
export function allowedPerHour(
  { mail_allowance }: MailLimits,
  { installMailsPerHour }: Pick<Config, 'installMailsPerHour'>,
): number {
  return mail_allowance ?? installMailsPerHour;
}

/** Recipients that an install may send to within an hour. */
export function limitPerHour(limits: MailLimits, config: Pick<Config, 'installMailsPerHour'>): number {
  const allowed = allowedPerHour(limits, config);
  return Math.min(limits.mail_limit ?? allowed, allowed);
}

/** The mail limit in the desired state of an install. Empty if the setting applies, which hosts have, too. */
export async function mailStateOf(
  queries: Queries,
  installId: string,
  config: Pick<Config, 'installMailsPerHour'>,
): Promise<{ mail?: MailState }> {
  const limits = await findMailLimits(queries, installId);
  if (limits === undefined || (limits.mail_limit === null && limits.mail_allowance === null)) return {};
  return { mail: { perHour: limitPerHour(limits, config) } };
}
