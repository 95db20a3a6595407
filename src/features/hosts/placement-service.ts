import type { Platform } from '../../platform/platform.ts';
import { parseLabels } from './labels.ts';
import {
  accountsOnHosts,
  findPlacement,
  movableInstalls,
  productionCounts,
  setLabelsOfAccount,
} from './placement-store.ts';
import { type Proposal, proposeMoves } from './rebalance.ts';
import { type Choice, chooseHost } from './room.ts';
import { allHosts, installCounts } from './store.ts';

/** Sets the labels that the hosts of an account's new installs need. Present installs stay. Returns them in order. Throws OperatorError. */
export async function placeAccount(
  { database }: Pick<Platform, 'database'>,
  accountId: string,
  texts: readonly string[],
): Promise<string[]> {
  const labels = parseLabels(texts);
  await database.write(({ queries }) => setLabelsOfAccount(queries, accountId, labels));
  return labels;
}

/** At most `limit` moves that bring the installs where placement would put them now. */
export async function proposedMoves(
  { database: { reader } }: Pick<Platform, 'database'>,
  limit: number,
): Promise<Proposal> {
  const [hosts, counts, accounts] = await Promise.all([
    allHosts(reader),
    installCounts(reader),
    accountsOnHosts(reader),
  ]);
  return proposeMoves({ hosts, counts, accounts }, (selection) => movableInstalls(reader, selection), limit);
}

/** The host to which an install would move from its own, by the rules of placement. Undefined if the install is gone or on none. */
export async function otherHostFor(
  { database: { reader } }: Pick<Platform, 'database'>,
  installId: string,
): Promise<Choice | undefined> {
  const install = await findPlacement(reader, installId);
  if (install === undefined || install.host_id === null) return undefined;
  const [hosts, counts, production] = await Promise.all([
    allHosts(reader),
    installCounts(reader),
    productionCounts(reader, install.account_id),
  ]);
  const others = hosts.filter(({ id }) => id !== install.host_id);
  const neighbours = install.environment === 'production' ? production : new Map<string, number>();
  return chooseHost(others, counts, { ...install, neighbours });
}
