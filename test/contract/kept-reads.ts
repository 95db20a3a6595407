import { operatorFor } from '../../src/access/caller.ts';
import type { Database } from '../../src/database/database.ts';
import { addSession, prepareFindSession } from '../../src/features/identity/sessions/store.ts';
import { prepareFindInstall } from '../../src/features/websites/installs/store.ts';

/** A function that reads what the server keeps about an account: its users' access to its installs, and a session of each. */
export async function keptReadsOf(database: Database, accountId: string, now: string) {
  const installs = await database.reader
    .selectFrom('installs')
    .select('id')
    .where('account_id', '=', accountId)
    .execute();
  const members = await database.reader
    .selectFrom('memberships')
    .select('user_id')
    .where('account_id', '=', accountId)
    .execute();
  const sessions = members.map(({ user_id }) => ({ user_id, token_hash: crypto.randomUUID() }));
  await database.write(async ({ queries }) => {
    for (const session of sessions) {
      await addSession(queries, {
        ...session,
        id: crypto.randomUUID(),
        address: '127.0.0.1',
        user_agent: null,
        awaits_second_factor: false,
        created_at: now,
        last_seen_at: now,
        expires_at: now,
      });
    }
  });

  return (from: Database) => {
    const [findInstall, findSession] = [prepareFindInstall(from), prepareFindSession(from)];
    return () =>
      Promise.all([
        ...members.flatMap(({ user_id }) =>
          installs.map(({ id }) => findInstall(id, operatorFor(user_id)).then((seen) => seen ?? null)),
        ),
        ...sessions.map(({ token_hash }) => findSession({ tokenHash: token_hash })),
      ]);
  };
}
