import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Role } from '../../lib/roles.ts';
import type { TransferView } from './schema.ts';
import type { TransferRow } from './store.ts';

const storedInstalls = Type.Array(Type.Object({ id: Type.String(), name: Type.String() }));

/** The installs of a transfer. Throws if the stored list is malformed. */
export function installsOf({ installs }: Pick<TransferRow, 'installs'>): { id: string; name: string }[] {
  return Value.Parse(storedInstalls, installs);
}

/** A transfer as a user with these roles sees it. The name of an account that has not accepted stays hidden. */
export function viewOf(transfer: TransferRow, roles: ReadonlyMap<string, Role>): TransferView {
  const installs = installsOf(transfer);
  const { destination_account_id: destination } = transfer;
  const isKnown = roles.has(destination) || transfer.status === 'completed';
  return {
    id: transfer.id,
    site: transfer.site_id,
    site_name: transfer.site_name,
    installs: installs.map(({ id }) => id),
    install_names: installs.map(({ name }) => name),
    origin_account: transfer.origin_account_id,
    origin_account_name: transfer.origin_name,
    destination_account: destination,
    destination_account_name: isKnown ? transfer.destination_name : null,
    status: transfer.status,
    awaits_acceptance: transfer.awaits_acceptance,
    scheduled_time: transfer.scheduled_time,
    reason: transfer.reason,
    created_at: transfer.created_at,
    updated_at: transfer.updated_at,
  };
}
