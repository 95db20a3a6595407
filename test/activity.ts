import type { TestHomeport } from './homeport.ts';

/** The activity entries of an account, the oldest first. */
export function activityOf({ platform }: TestHomeport, accountId: string) {
  return platform.database.reader
    .selectFrom('activity')
    .select([
      'action',
      'subject_id',
      'subject_name',
      'install_id',
      'details',
      'user_id',
      'means',
      'request_id',
    ])
    .where('account_id', '=', accountId)
    .orderBy('seq')
    .execute();
}
