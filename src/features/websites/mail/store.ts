import type { Queries } from '../../../database/database.ts';

export interface MailLimits {
  /** Recipients in an hour, as the users of the install limit them. */
  mail_limit: number | null;
  /** Recipients in an hour that the operator allows in place of the setting. */
  mail_allowance: number | null;
}

export function findMailLimits(queries: Queries, installId: string): Promise<MailLimits | undefined> {
  return queries
    .selectFrom('installs')
    .select(['mail_limit', 'mail_allowance'])
    .where('id', '=', installId)
    .executeTakeFirst();
}

export async function setMailLimits(
  queries: Queries,
  installId: string,
  limits: Partial<MailLimits>,
): Promise<void> {
  await queries.updateTable('installs').set(limits).where('id', '=', installId).execute();
}
