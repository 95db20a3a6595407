import { lockPlacement } from '../../database/lock.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import type { Platform } from '../../platform/platform.ts';
import { findPlacement, productionCounts, setHost } from './placement-store.ts';
import { chooseHost } from './room.ts';
import { allHosts, installCounts } from './store.ts';

const GONE = 'The install was deleted meanwhile';

/**
 * The host of an install, chosen at the first call. One transaction counts and assigns, so no host exceeds its capacity.
 * Rejects with a {@link PermanentHostError} if the install is gone or no host suits it, with a {@link
 * HostUnreachableError} if one may suit later.
 */
export async function placeInstall(
  { database }: Pick<Platform, 'database'>,
  installId: string,
): Promise<string> {
  return database.write(async (transaction) => {
    const { queries } = transaction;
    await lockPlacement(transaction);
    const install = await findPlacement(queries, installId);
    if (!install) throw new PermanentHostError(GONE);
    if (install.host_id !== null) return install.host_id;
    const neighbours =
      install.environment === 'production' ? await productionCounts(queries, install.account_id) : new Map();
    const choice = chooseHost(await allHosts(queries), await installCounts(queries), {
      ...install,
      neighbours,
    });
    if ('refusal' in choice) {
      throw choice.permanent
        ? new PermanentHostError(choice.refusal)
        : new HostUnreachableError(choice.refusal);
    }
    // The install was deleted in between, and its deletion knows no host.
    if (!(await setHost(queries, installId, choice.host.id))) throw new PermanentHostError(GONE);
    return choice.host.id;
  });
}
