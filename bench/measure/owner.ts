import type { RunningHomeport } from '../../src/app/homeport.ts';

/** Adds an account with an owner. */
export async function makeOwner({
  services,
}: RunningHomeport): Promise<{ userId: string; accountId: string }> {
  const { id: accountId } = await services.accounts.create('Bench');
  const { user_id: userId } = await services.accountUsers.addByOperator(
    {
      account_id: accountId,
      email: `${accountId}@bench.example`,
      first_name: 'B',
      last_name: 'B',
      roles: 'owner',
    },
    { installNames: [], invite: false },
  );
  return { userId, accountId };
}
